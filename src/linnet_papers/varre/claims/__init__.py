"""What the paper claims, measured."""
