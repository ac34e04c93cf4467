"""What linnet adds to the four papers, held to the same rules: the phase diagram as a formula, and when to stop."""
