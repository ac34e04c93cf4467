"""Parts of pages that do more than compute and draw: they take a file, or run a process."""
