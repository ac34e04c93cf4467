"""What the pages draw, one file for each page; every function takes the dataset and the state and returns a figure."""
