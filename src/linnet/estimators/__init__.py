"""scikit-learn's interface: early-stopped linear networks, and low-rank denoising."""

from linnet import _extras as extras

try:
    from linnet.estimators.denoiser import LowRankDenoiser
    from linnet.estimators.regressor import LinearNetworkRegressor
except ModuleNotFoundError as reason:
    if reason.name != "sklearn":
        raise
    raise ModuleNotFoundError(extras.line("sklearn", "linnet.estimators"), name="sklearn") from None

__all__ = ["LinearNetworkRegressor", "LowRankDenoiser"]
