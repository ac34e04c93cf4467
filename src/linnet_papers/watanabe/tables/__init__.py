"""The tables that a page of the documentation prints."""
