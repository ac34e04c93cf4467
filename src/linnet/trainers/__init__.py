"""What is simulated: descent, flow, label noise, mini-batches, the noise SDE, ReLU networks."""

from linnet.trainers import stopping
from linnet.trainers.descent import gradient_descent
from linnet.trainers.flow import gradient_flow

__all__ = ["gradient_descent", "gradient_flow", "stopping"]
