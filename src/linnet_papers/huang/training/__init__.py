"""What the paper trains: single runs, the cells of its sweeps, and networks on pictures."""
