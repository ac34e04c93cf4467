"""Models that are not what they look like: tied, parametrized or interrupted layers."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-torch installs it")

from torch import nn  # noqa: E402
from torch.nn.utils import parametrizations, prune  # noqa: E402

from linnet.torch import PairMonitor, find_pairs, forecast  # noqa: E402


def two_layers(d=4):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(d, d, bias=False), nn.Linear(d, d, bias=False)).double()


def tied():
    model = two_layers()
    model[1].weight = model[0].weight
    return model


def transposed():
    model = two_layers()
    model[1].weight = nn.Parameter(model[0].weight.data.T)
    return model


@pytest.mark.parametrize("make", [tied, transposed])
def test_a_forecast_of_tied_weights_is_refused(make):
    """It was that of another model: a loss of 2.382 where PyTorch has 3.197."""
    model, X = make(), torch.randn(20, 4, dtype=torch.float64)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with pytest.raises(ValueError, match=r"two separate weights: 0.weight and 1.weight are tied"):
        forecast(model, X, X, optimizer, steps=3)


PARAMETRIZED = {
    "weight_norm": parametrizations.weight_norm,
    "spectral_norm": parametrizations.spectral_norm,
    "orthogonal": parametrizations.orthogonal,
    "prune": lambda layer: prune.random_unstructured(layer, "weight", amount=0.5),
    "old weight_norm": lambda layer: nn.utils.weight_norm(layer),
    "old spectral_norm": lambda layer: nn.utils.spectral_norm(layer),
}


@pytest.mark.filterwarnings("ignore:.*weight_norm.*:FutureWarning")
@pytest.mark.parametrize("kind", PARAMETRIZED)
def test_computed_weights_are_named_and_not_read(kind):
    """They were read as they had been at the beginning, or ended in an error of PyTorch's."""
    model = two_layers()
    PARAMETRIZED[kind](model[0])
    pairs, unseen = find_pairs(model)
    assert not pairs and "computed from other parameters" in unseen["0>1"]
    for options in ({}, {"pairs": [("0", "1")]}, {"pairs": [("0", "1")], "alignment": False}):
        with pytest.raises(ValueError, match="0>1: its weight is computed from other parameters") as raised:
            PairMonitor(model, **options)
        assert "name them" not in str(raised.value)
    X = torch.randn(20, 4, dtype=torch.float64)
    with pytest.raises(ValueError, match="must train its weights themselves"):
        forecast(model, X, X, torch.optim.SGD(model.parameters(), lr=0.1), steps=3)


class Functional(nn.Module):
    def __init__(self, between):
        super().__init__()
        self.enc, self.dec, self.between = nn.Linear(6, 3), nn.Linear(3, 6), between

    def forward(self, x):
        return self.dec(self.between(self.enc(x)))


@pytest.mark.parametrize(
    ("model", "names", "between"),
    [
        (nn.Sequential(nn.Linear(6, 3), nn.ReLU(), nn.Linear(3, 6)), ("0", "2"), "ReLU"),
        (nn.Sequential(nn.Linear(6, 3), nn.LayerNorm(3), nn.Linear(3, 6)), ("0", "2"), "LayerNorm"),
        (Functional(torch.relu), ("enc", "dec"), "relu"),
        (Functional(lambda x: nn.functional.gelu(x)), ("enc", "dec"), "gelu"),
        (Functional(lambda x: x.tanh()), ("enc", "dec"), "tanh"),
    ],
)
def test_a_pair_across_a_nonlinearity_is_neither_advised_nor_read(model, names, between):
    with pytest.raises(ValueError, match="found none") as raised:
        PairMonitor(model)
    assert "pairs=" not in str(raised.value)
    with pytest.raises(ValueError, match=f"between {names[0]} and {names[1]} the model has {between}"):
        PairMonitor(model, pairs=[names])


class Branching(nn.Module):
    """A forward that cannot be traced: there a pair can only be named."""

    def __init__(self):
        super().__init__()
        self.enc, self.dec = nn.Linear(6, 3), nn.Linear(3, 6)

    def forward(self, x):
        return self.dec(self.enc(x)) if x.sum() > 0 else x


def test_what_cannot_be_traced_can_be_named():
    with pytest.raises(ValueError, match=r"name them: pairs=\[\('enc', 'dec'\)\]"):
        PairMonitor(Branching())
    assert PairMonitor(Branching(), pairs=[("enc", "dec")]).pairs[0].name == "enc>dec"


def test_an_optimizer_without_rates_is_named():
    import linnet as ln

    class Factor(nn.Module):
        def __init__(self):
            super().__init__()
            self.scaling, self.r, self.lora_alpha = {"default": 2.0}, {"default": 2}, {"default": 4}
            self.lora_A = nn.ModuleDict({"default": nn.Linear(4, 2, bias=False)})
            self.lora_B = nn.ModuleDict({"default": nn.Linear(2, 4, bias=False)})

    model = nn.Sequential(Factor())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.param_groups[0]["lr"] = None
    with pytest.raises(ValueError, match="must have learning rates: SGD makes its own"):
        ln.lora.read(model, optimizer)
    optimizer.param_groups[0]["lr"] = 0.5
    assert np.isclose(next(iter(ln.lora.read(model, optimizer).values())).learning_rate_a, 0.5)


@pytest.mark.parametrize("name", ["relu", "dropout"])
def test_a_forecast_names_the_function_that_is_in_its_way(name):
    """ "a function in its `forward`" it said, and not which."""
    model = Functional(lambda x: getattr(nn.functional, name)(x)).double()
    X = torch.randn(20, 6, dtype=torch.float64)
    with pytest.raises(ValueError, match=rf"a function in its `forward` \(it calls {name}\), which changes the values"):
        forecast(model, X, X, torch.optim.SGD(model.parameters(), lr=0.1), steps=3)
