"""What the paper trains: cells of the phase diagram, descents of the active region, flows of growing width."""
