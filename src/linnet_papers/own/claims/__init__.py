"""Claims of linnet's own results."""
