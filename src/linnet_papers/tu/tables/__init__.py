"""Grids of trained networks behind the claims."""
