"""Your own problem: what will be learned, when, how far; when to stop."""

from linnet.forecasts.forecast import Forecast, forecast
from linnet.forecasts.rates import StableRate, largest_stable_rate

__all__ = ["Forecast", "StableRate", "forecast", "largest_stable_rate"]
