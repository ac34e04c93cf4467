"""The pages of the explorer, in the order of the navigation."""

from linnet.explorer.page import Page
from linnet.explorer.pages.claims import PAGE as CLAIMS
from linnet.explorer.pages.depth import PAGE as DEPTH
from linnet.explorer.pages.feature_learning import PAGE as FEATURE_LEARNING
from linnet.explorer.pages.phase_diagram import PAGE as PHASE_DIAGRAM
from linnet.explorer.pages.spectral_bias import PAGE as SPECTRAL_BIAS
from linnet.explorer.pages.train import PAGE as TRAIN
from linnet.explorer.pages.two_phases import PAGE as TWO_PHASES
from linnet.explorer.pages.your_data import PAGE as YOUR_DATA

PAGES: tuple[Page, ...] = (TRAIN, PHASE_DIAGRAM, DEPTH, TWO_PHASES, SPECTRAL_BIAS, FEATURE_LEARNING, CLAIMS, YOUR_DATA)
