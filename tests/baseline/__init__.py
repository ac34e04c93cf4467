"""What version 0.3.0 (revision 93ee76dc) measured, and the comparison of a checkout with it (`make baseline`)."""
