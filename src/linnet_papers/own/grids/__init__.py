"""Grids of trained networks that claims share."""
