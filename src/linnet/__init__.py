"""How linear networks learn: exact training at any width, closed forms, and the distance between the two.

The names are listed in `__init__.pyi`. Each loads its module on first use, so `import linnet` costs nothing and a
command pays for what it needs.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__.remove("torch")  # `from linnet import *` must not hide PyTorch
__version__ = "0.4.0"
