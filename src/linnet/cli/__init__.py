"""The command line: a file for each command, and next to them what commands share, such as `terminal` and
`failures`."""
