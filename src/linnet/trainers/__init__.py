"""What is simulated: descent, flow, label noise, mini-batches, the noise SDE, ReLU networks."""

from linnet.trainers import stopping
from linnet.trainers.descent import gradient_descent
from linnet.trainers.flow import gradient_flow
from linnet.trainers.interpolation import interpolating_network
from linnet.trainers.label_noise import label_noise_descent
from linnet.trainers.noise_sde import decreasing, noise_sde
from linnet.trainers.paired_descent import paired_descent
from linnet.trainers.relu import relu_descent
from linnet.trainers.stability import stable_learning_rate
from linnet.trainers.stochastic import stochastic_descent

__all__ = [
    "decreasing",
    "gradient_descent",
    "gradient_flow",
    "interpolating_network",
    "label_noise_descent",
    "noise_sde",
    "paired_descent",
    "relu_descent",
    "stable_learning_rate",
    "stochastic_descent",
    "stopping",
]
