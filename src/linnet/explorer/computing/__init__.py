"""What the explorer's pages compute: plain functions of the controls' values that return datasets."""
