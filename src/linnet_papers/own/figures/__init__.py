"""Figures of linnet's own results."""
