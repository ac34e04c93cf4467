"""Streams of random numbers below a user's key (`_randomness.generator`): other numbers here would be other draws."""

SPLITS_INTO_FOLDS, PARTS_OF_LEARNING_CURVES, ROWS_OF_FILES, NOISE_OF_SEEN_ENTRIES = 7, 8, 9, 10
