from . import (
    diagrams as diagrams,
)
from . import (
    stopping as stopping,
)
from . import (
    updates as updates,
)
from .descent import gradient_descent as gradient_descent
from .diagrams import gaussian_diagram as gaussian_diagram
from .flow import gradient_flow as gradient_flow
from .label_noise import label_noise_descent as label_noise_descent
from .relu import relu_descent as relu_descent
from .schedules import Schedule as Schedule
from .sde import decreasing as decreasing
from .sde import noise_sde as noise_sde
from .stability import stable_learning_rate as stable_learning_rate
from .stochastic import stochastic_descent as stochastic_descent

__all__ = [
    "Schedule",
    "decreasing",
    "diagrams",
    "gaussian_diagram",
    "gradient_descent",
    "gradient_flow",
    "label_noise_descent",
    "noise_sde",
    "relu_descent",
    "stable_learning_rate",
    "stochastic_descent",
    "stopping",
    "updates",
]
