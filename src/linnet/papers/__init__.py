"""One folder per paper: all that is that paper's and not a theory. Each has a `PAPER`; this is the order they are told
in."""

ORDER = ("watanabe", "varre", "huang", "tu", "linnet")
