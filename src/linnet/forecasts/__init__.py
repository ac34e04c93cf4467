"""Your own problem: what will be learned, when, how far; when to stop."""

from linnet.forecasts.comparison import Comparison
from linnet.forecasts.cross_validation import cross_validate
from linnet.forecasts.curves import CrossValidationCurves
from linnet.forecasts.denoising import Denoised, DenoisingPath, denoise
from linnet.forecasts.diagnosing import diagnose, diagnose_table
from linnet.forecasts.diagnosis import Diagnosis
from linnet.forecasts.folds import all_folds
from linnet.forecasts.forecasting import Forecast, forecast
from linnet.forecasts.learning_curves import LearningCurve, learning_curve
from linnet.forecasts.noise_levels import noise_level
from linnet.forecasts.rates import StableRate, largest_stable_rate, pytorch_rates
from linnet.forecasts.regimes_of_starts import StartRegimes, start_regimes
from linnet.forecasts.scale_trials import ScaleTrial
from linnet.forecasts.scaling import Scaler, scaler
from linnet.forecasts.settings import Settings
from linnet.forecasts.starts import start
from linnet.forecasts.stein import SteinStop, stein_stop
from linnet.forecasts.tables import DataTable, data_table, from_frame, read
from linnet.forecasts.threshold_curves import ThresholdCurve, threshold_curve

__all__ = [
    "Comparison",
    "CrossValidationCurves",
    "DataTable",
    "Denoised",
    "DenoisingPath",
    "Diagnosis",
    "Forecast",
    "LearningCurve",
    "ScaleTrial",
    "Scaler",
    "Settings",
    "StableRate",
    "StartRegimes",
    "SteinStop",
    "ThresholdCurve",
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
    "pytorch_rates",
    "read",
    "scaler",
    "start",
    "start_regimes",
    "stein_stop",
    "threshold_curve",
]
