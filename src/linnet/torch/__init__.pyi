from .forecasting import ModelForecast as ModelForecast
from .forecasting import forecast as forecast
from .groups import parameter_groups as parameter_groups
from .layers import weights_of_layers as weights_of_layers
from .monitor import PairMonitor as PairMonitor
from .pairs import Pair as Pair
from .pairs import find_pairs as find_pairs

__all__ = [
    "ModelForecast",
    "Pair",
    "PairMonitor",
    "find_pairs",
    "forecast",
    "parameter_groups",
    "weights_of_layers",
]
