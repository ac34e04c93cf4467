"""linnet's Muon is PyTorch's, to rounding where PyTorch iterates in float64, and up to bfloat16 as it is."""

import numpy as np
import pytest

import linnet as ln
from linnet.lora import Adapter, equivalent
from linnet.trainers.updates import Muon

torch = pytest.importorskip("torch")
if not hasattr(torch.optim, "Muon"):
    pytest.skip("this PyTorch has no Muon: it came with 2.9", allow_module_level=True)

SETTINGS = [
    {"momentum": 0.95, "nesterov": True, "weight_decay": 0.5, "scaling": "original"},
    {"momentum": 0.8, "nesterov": False, "weight_decay": 0.0, "scaling": "match_rms_adamw"},
]


def distances(settings, *, width, outputs, steps):
    """The distance of each layer from PyTorch's after each step, relative to the length of PyTorch's step."""
    rng = np.random.default_rng(0)
    X, Y, rate = rng.standard_normal((20, 8)), rng.standard_normal((20, outputs)), 0.02
    start = ln.inits.gaussian(key=1, in_dim=8, out_dim=outputs, width=width, stds=0.2)
    run = ln.gradient_descent(
        ln.Problem.from_data(X, Y), start, learning_rate=rate, steps=steps, update=Muon(**settings)
    )
    layers = [torch.nn.Parameter(torch.tensor(layer)) for layer in start.layers]
    options = {name: value for name, value in settings.items() if name != "scaling"}
    optimizer = torch.optim.Muon(layers, lr=rate, adjust_lr_fn=settings["scaling"], **options)
    inputs, targets, found = torch.tensor(X), torch.tensor(Y), []
    for step in range(1, steps + 1):
        optimizer.zero_grad()
        before = [layer.detach().numpy().copy() for layer in layers]
        (0.5 * ((targets - inputs @ layers[0].T @ layers[1].T) ** 2).sum() / len(X)).backward()
        optimizer.step()
        for ours, layer, old in zip(run.weights_at(step).layers, layers, before, strict=True):
            theirs = layer.detach().numpy()
            found.append(np.linalg.norm(ours - theirs) / np.linalg.norm(theirs - old))
    return found


@pytest.mark.parametrize("settings", SETTINGS, ids=["original", "match_rms_adamw"])
def test_it_is_pytorchs_algorithm_without_the_rounding_to_bfloat16(settings, monkeypatch):
    monkeypatch.setattr(torch.Tensor, "bfloat16", lambda tensor: tensor.clone())
    assert max(distances(settings, width=40, outputs=3, steps=20)) < 1e-10


@pytest.mark.parametrize("settings", SETTINGS, ids=["original", "match_rms_adamw"])
def test_a_step_of_pytorch_is_within_bfloat16(settings):
    """With gradients of full rank. Of low rank, rounding to bfloat16 becomes directions of its own: 45% of a step."""
    assert max(distances(settings, width=4, outputs=8, steps=1)) < 0.03
    assert max(distances(settings, width=40, outputs=3, steps=1)) > 0.2


@pytest.mark.parametrize(("alpha", "limit"), [(32.0, 0.0), (24.0, 1e-2)], ids=["a power of two", "another"])
def test_equivalent_settings_of_an_adapter_train_alike_in_pytorch(alpha, limit):
    """From s = 2 to s' = 4 without any difference, to s' = 3 up to bfloat16; with equal rates they part."""
    plain = Adapter(rank=8, alpha=16, optimizer="muon", learning_rate_a=0.02, weight_decay_a=0.1, eps_a=1e-7, clip=0)
    same = equivalent(plain, alpha=alpha)
    wanted = trained(plain, equivalent(plain, alpha=16.0).groups)
    largest = wanted.abs().max()
    assert (trained(same.adapter, same.groups) - wanted).abs().max() <= limit * largest
    assert (trained(same.adapter, equivalent(plain, alpha=16.0).groups) - wanted).abs().max() > 0.02 * largest


def trained(adapter, groups):
    """The product of an adapter after a few steps of torch.optim.Muon, in front of a nonlinearity."""
    torch.manual_seed(0)
    X, Y, frozen = torch.randn(50, 16), torch.randn(50, 12), torch.randn(12, 16) / 4
    A, B = (torch.nn.Parameter(part) for part in (torch.rand(8, 16) / 2 - 0.25, torch.zeros(12, 8)))
    optimizer = torch.optim.Muon([{"params": [A], **groups["A"]}, {"params": [B], **groups["B"]}])
    for _ in range(10):
        optimizer.zero_grad()
        (torch.tanh(X @ (frozen + adapter.scale * B @ A).T) - Y).square().mean().backward()
        optimizer.step()
    return (adapter.scale * B @ A).detach()
