"""What a paper is here: Paper, Figure, Table and Claim; rows and verdicts; registry, runner and report page.

The names are listed in `__init__.pyi`. Each loads its file on first use: who asks for one figure does not load papers
or pydantic.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
