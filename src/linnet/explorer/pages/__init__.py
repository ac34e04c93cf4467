"""The pages of the explorer, in the order of the navigation."""

from linnet.explorer.page import Page
from linnet.explorer.pages.train import PAGE as TRAIN

PAGES: tuple[Page, ...] = (TRAIN,)
