"""Grids of trained networks behind the claims, and the tables that pages print of them."""
