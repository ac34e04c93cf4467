"""Tables of linnet's own results."""
