"""The grids of trained networks behind the claims."""
