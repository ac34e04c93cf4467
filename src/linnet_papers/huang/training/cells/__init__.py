"""The cells of the sweeps: each trains one network and keeps numbers, never a theory's."""
