"""The commands that linnet_papers brings to the command line, by the entry points `linnet.commands`."""
