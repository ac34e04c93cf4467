"""scikit-learn's interface: early-stopped linear networks, and low-rank denoising."""

from linnet.estimators.denoiser import LowRankDenoiser
from linnet.estimators.regressor import LinearNetworkRegressor

__all__ = ["LinearNetworkRegressor", "LowRankDenoiser"]
