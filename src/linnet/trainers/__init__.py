"""Training: descent, flow, label noise, mini-batches, the noise SDE, ReLU networks.

The names are listed in `__init__.pyi`. Each loads its file on first use: training by descent does not import ReLU
networks or whole diagrams.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
