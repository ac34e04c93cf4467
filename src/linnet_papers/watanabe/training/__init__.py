"""What the paper trains: small networks through both phases (Figures 1 to 3), and on few samples (Figure 5)."""
