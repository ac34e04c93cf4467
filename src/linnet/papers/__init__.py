"""One folder per paper: all that is that paper's and not a theory. Each has a `PAPER`; `ORDER` is that of the pages."""

ORDER = ("watanabe", "varre", "huang", "tu", "linnet")
