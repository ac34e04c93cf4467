"""What the paper trains: single runs, and the cells of its sweeps. Nothing here comes from a theory."""
