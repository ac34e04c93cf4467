"""The tables of the paper: grids of trained networks, and the columns they are read by."""
