"""What we train: cells of the plane, deep networks, flows to their minimum test error. No theory is used here."""
