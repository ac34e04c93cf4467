"""The command line: a file for each command, and beside them what commands share, such as `terminal` and `failures`."""
