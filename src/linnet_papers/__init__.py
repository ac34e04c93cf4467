"""Four papers and our own results, reproduced and verified with linnet: a folder for each, with its `paper.PAPER`.

`reproduction` is the machinery that they share with the papers of other packages, `commands` is what they bring to
the command line. `ORDER` is the order of the pages.
"""

ORDER = ("watanabe", "varre", "huang", "tu", "own")
SHARED_BY_PAPERS = (  # what they compute with beside what lies in their own folders: it is in the fingerprint of each
    "reproduction/cells",
    "reproduction/datasets",
    "reproduction/fits",
    "tu/plane",
    "tu/published",
)
