"""Tu, Aranguri and Jacot: Mixed Dynamics In Linear Networks: Unifying the Lazy and Active Regimes."""
