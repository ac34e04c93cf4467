"""The pages of the explorer, in the order of the navigation; the first is computed first when the server starts."""

from linnet_papers.explorer.page import Page
from linnet_papers.explorer.pages import (
    depth,
    feature_learning,
    phase_diagram,
    spectral_bias,
    train,
    two_phases,
    your_data,
)

_IN_ORDER = (train, phase_diagram, depth, two_phases, spectral_bias, feature_learning, your_data)
PAGES: tuple[Page, ...] = tuple(module.PAGE for module in _IN_ORDER)
