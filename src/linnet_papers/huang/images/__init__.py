"""Real image sets, from local files in their published formats or from installed packages; nothing is downloaded."""

from linnet_papers.huang.images.collection import Images
from linnet_papers.huang.images.loading import load_images

__all__ = ["Images", "load_images"]
