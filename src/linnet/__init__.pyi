from . import (
    draw as draw,
)
from . import (
    estimators as estimators,
)
from . import (
    forecasts as forecasts,
)
from . import (
    inits as inits,
)
from . import (
    lora as lora,
)
from . import (
    observables as observables,
)
from . import (
    precision as precision,
)
from . import (
    predictions as predictions,
)
from . import (
    problems as problems,
)
from . import (
    reductions as reductions,
)
from . import (
    style as style,
)
from . import (
    sweeps as sweeps,
)
from . import (
    theories as theories,
)
from . import (
    torch as torch,
)
from . import (
    trainers as trainers,
)
from . import (
    trajectories as trajectories,
)
from .citations import citation as citation
from .forecasts.denoising import Denoised as Denoised
from .forecasts.denoising import denoise as denoise
from .forecasts.diagnosing import diagnose as diagnose
from .forecasts.diagnosis import Diagnosis as Diagnosis
from .forecasts.forecasting import Forecast as Forecast
from .forecasts.forecasting import forecast as forecast
from .inits.weights import Weights as Weights
from .predictions.diagrams import PhaseDiagram as PhaseDiagram
from .predictions.diagrams import phase_diagram as phase_diagram
from .predictions.predicting import predict as predict
from .predictions.prediction import NoFormulaError as NoFormulaError
from .predictions.prediction import Prediction as Prediction
from .problems.problem import Problem as Problem
from .reductions.reduction import Reduction as Reduction
from .reductions.reduction import reduce as reduce
from .trainers.descent import gradient_descent as gradient_descent
from .trainers.flow import gradient_flow as gradient_flow
from .trainers.label_noise import label_noise_descent as label_noise_descent
from .trainers.relu import relu_descent as relu_descent
from .trainers.sde import noise_sde as noise_sde
from .trainers.stability import stable_learning_rate as stable_learning_rate
from .trainers.stochastic import stochastic_descent as stochastic_descent
from .trajectories.status import DivergedError as DivergedError
from .trajectories.status import Status as Status
from .trajectories.trajectory import Trajectory as Trajectory

__all__ = [
    "Denoised",
    "Diagnosis",
    "DivergedError",
    "Forecast",
    "NoFormulaError",
    "PhaseDiagram",
    "Prediction",
    "Problem",
    "Reduction",
    "Status",
    "Trajectory",
    "Weights",
    "citation",
    "denoise",
    "diagnose",
    "draw",
    "estimators",
    "forecast",
    "forecasts",
    "gradient_descent",
    "gradient_flow",
    "inits",
    "label_noise_descent",
    "lora",
    "noise_sde",
    "observables",
    "phase_diagram",
    "precision",
    "predict",
    "predictions",
    "problems",
    "reduce",
    "reductions",
    "relu_descent",
    "stable_learning_rate",
    "stochastic_descent",
    "style",
    "sweeps",
    "theories",
    "trainers",
    "trajectories",
]

__version__: str
