"""Feature learning from a small signed start (Huang et al.): two stages neuron by neuron, and their assumptions."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
