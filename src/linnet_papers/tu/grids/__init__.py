"""Grids of trained networks that several claims share, and what is read of them."""
