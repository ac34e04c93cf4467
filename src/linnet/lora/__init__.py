"""LoRA adapters: what their settings mean exactly, which of them are the same, what to know before training."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
