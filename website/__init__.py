"""The documentation site: `python -m website` assembles the pages, runs the tutorials, builds and checks it."""
