"""The command line called in this process."""

from command_line import linnet, refused  # noqa: F401 fixtures
