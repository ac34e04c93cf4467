"""Your own problem: what will be learned, when, how far; when to stop."""

from linnet.forecasts.denoise import Denoised, DenoisingPath, denoise
from linnet.forecasts.forecast import Forecast, forecast
from linnet.forecasts.noise_level import noise_level
from linnet.forecasts.rates import StableRate, largest_stable_rate

__all__ = [
    "Denoised",
    "DenoisingPath",
    "Forecast",
    "StableRate",
    "denoise",
    "forecast",
    "largest_stable_rate",
    "noise_level",
]
