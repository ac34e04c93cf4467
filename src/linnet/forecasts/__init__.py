"""Your own problem: what will be learned, when, how far; when to stop."""

from linnet.forecasts.denoising import Denoised, DenoisingPath, denoise
from linnet.forecasts.diagnosis import Diagnosis, diagnose, diagnose_table
from linnet.forecasts.folds import Curves, all_folds, cross_validate
from linnet.forecasts.forecasting import ClosedForm, Forecast, forecast
from linnet.forecasts.noise_levels import noise_level
from linnet.forecasts.rates import StableRate, largest_stable_rate
from linnet.forecasts.samples import LearningCurve, learning_curve
from linnet.forecasts.scaling import Scaler, scaler
from linnet.forecasts.starts import start
from linnet.forecasts.stein import SteinStop, stein_stop
from linnet.forecasts.tables import DataTable, data_table, from_frame, read

__all__ = [
    "ClosedForm",
    "Curves",
    "DataTable",
    "Denoised",
    "DenoisingPath",
    "Diagnosis",
    "Forecast",
    "LearningCurve",
    "Scaler",
    "StableRate",
    "SteinStop",
    "all_folds",
    "cross_validate",
    "data_table",
    "denoise",
    "diagnose",
    "diagnose_table",
    "forecast",
    "from_frame",
    "largest_stable_rate",
    "learning_curve",
    "noise_level",
    "read",
    "scaler",
    "start",
    "stein_stop",
]
