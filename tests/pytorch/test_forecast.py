"""Forecasts of linear models against the runs that PyTorch makes, and what is refused."""

import copy
from collections import OrderedDict

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-torch installs it")

from torch import nn  # noqa: E402

import linnet as ln  # noqa: E402
from linnet.torch import forecast  # noqa: E402
from linnet.torch._affine_descent import Data, products  # noqa: E402


def table(name, rows=None):
    """A real table, inputs and targets of unit variance, as tensors."""
    datasets = pytest.importorskip("sklearn.datasets", reason="scikit-learn is not installed")
    X, y = (part[:rows] for part in getattr(datasets, f"load_{name}")(return_X_y=True))
    if name == "digits":
        X, y = X / 16 - 0.3, np.eye(10)[y]
    else:
        X, y = X / X.std(axis=0) + 0.2, (y[:, None] - 100) / y.std()
    return torch.tensor(X), torch.tensor(y)


def bottleneck(in_dim, out_dim, width, bias=True, seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(in_dim, width, bias=bias), nn.Linear(width, out_dim, bias=bias)).double()


def trained(model, X, Y, optimizer, steps, loss=None):
    """PyTorch's own run: the loss at every step, the last included."""
    loss, found = loss or nn.MSELoss(), []
    for _ in range(steps + 1):
        optimizer.zero_grad()
        value = loss(model(X), Y)
        found.append(value.item())
        value.backward()
        optimizer.step()
    return np.array(found)


@pytest.mark.parametrize(
    ("name", "width", "bias", "rate", "options"),
    [
        ("digits", 10, True, 0.05, {}),
        ("digits", 300, False, 0.05, {"momentum": 0.9, "weight_decay": 1e-2}),
        ("digits", 4000, True, 0.01, {"momentum": 0.5}),
        ("diabetes", 10, True, 0.02, {"momentum": 0.9, "weight_decay": 1e-2}),
        ("diabetes", 20_000, False, 2e-4, {}),
    ],
)
def test_the_forecast_is_pytorchs_own_run(name, width, bias, rate, options):
    X, Y = table(name, rows=200)
    model = bottleneck(X.shape[1], Y.shape[1], width, bias)
    steps = 12 if width > 1000 else 100
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, **options)
    before = copy.deepcopy(model.state_dict())
    told = forecast(model, X, Y, optimizer, steps)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    run = trained(model, X, Y, optimizer, steps)
    assert run[-1] < 0.99 * run[0]
    np.testing.assert_allclose(told.loss, run, rtol=1e-8)


def test_groups_with_rates_and_decays_of_their_own():
    X, Y = table("diabetes")
    model = bottleneck(X.shape[1], 1, 7)
    groups = [
        {"params": [model[0].weight], "lr": 0.01, "weight_decay": 0.1},
        {"params": [model[0].bias], "lr": 0.03},
        {"params": [model[1].weight], "lr": 0.02, "weight_decay": 0.3},
        {"params": [model[1].bias], "lr": 0.005, "weight_decay": 0.01},
    ]
    optimizer = torch.optim.SGD(groups, lr=0.01, momentum=0.3)
    told = forecast(model, X, Y, optimizer, 60)
    np.testing.assert_allclose(told.loss, trained(model, X, Y, optimizer, 60), rtol=1e-8)


@pytest.mark.parametrize(("width", "ratio"), [(6, 1.0), (2, 5.0)])
def test_it_agrees_with_linnets_forecast(width, ratio):
    """Which has one rate: two of them become one if the layers are rescaled."""
    X, Y = table("diabetes")
    model = bottleneck(X.shape[1], 1, width, bias=False)
    rates = [{"params": [model[0].weight], "lr": 0.01}, {"params": [model[1].weight], "lr": 0.01 * ratio}]
    told = forecast(model, X, Y, torch.optim.SGD(rates, momentum=0.5), 80, validation=(X[:100], Y[:100]))
    first, second = (layer.weight.detach().double().numpy() for layer in model)
    problem = ln.Problem.from_data(X.numpy(), Y.numpy())
    unit, root = 2 / Y.shape[1], ratio**0.25
    start = ln.Weights(root * first, second / root)
    options = {"learning_rate": unit * 0.01 * root**2, "steps": 80, "save_every": 1, "momentum": 0.5}
    other = ln.forecast(problem, start, **options)
    np.testing.assert_allclose(told.loss, unit * other.loss, rtol=1e-10)
    np.testing.assert_allclose(told.strengths, other.regimes.strengths, rtol=1e-10)
    np.testing.assert_allclose(told.shares, other.shares, atol=1e-9)


def test_an_adapter_on_frozen_features():
    peft = pytest.importorskip("peft", reason="peft is not installed: make test-torch installs it")
    X, Y = table("digits", rows=300)
    torch.manual_seed(0)
    parts = {"body": nn.Linear(64, 30), "bend": nn.Tanh(), "head": nn.Linear(30, 10)}
    model = nn.Sequential(OrderedDict(parts)).double()
    config = peft.LoraConfig(r=3, lora_alpha=12, target_modules=["head"], init_lora_weights="gaussian")
    adapted = peft.get_peft_model(model, config).double()
    rates = {"learning_rate_a": 0.02, "learning_rate_b": 0.05, "momentum": 0.8}
    adapter = ln.lora.Adapter(rank=3, alpha=12, optimizer="sgd", **rates)
    groups = ln.torch.parameter_groups(adapted, adapter)
    optimizer = torch.optim.SGD(groups)
    told = forecast(adapted, X, Y, optimizer, 60)
    run = trained(adapted, X, Y, optimizer, 60)
    np.testing.assert_allclose(told.loss, run, rtol=1e-8)
    assert run[-1] < 0.9 * run[0]


def test_two_layers_after_frozen_features_and_as_a_module_of_ones_own():
    class Own(nn.Module):
        def __init__(self):
            super().__init__()
            self.up = nn.Linear(5, 10)  # registered before it is used
            self.down = nn.Linear(20, 5)
            self.body = nn.Sequential(nn.Linear(64, 20), nn.ReLU()).requires_grad_(False)

        def forward(self, x):
            return self.up(self.down(self.body(x)))

    X, Y = table("digits", rows=300)
    torch.manual_seed(0)
    model = Own().double()
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
    told = forecast(model, X, Y, optimizer, 40, loss=nn.MSELoss())
    np.testing.assert_allclose(told.loss, trained(model, X, Y, optimizer, 40), rtol=1e-8)


def test_a_sum_of_squares_and_many_positions():
    torch.manual_seed(0)
    X, Y = torch.randn(8, 5, 6).double(), torch.randn(8, 5, 2).double()
    model = bottleneck(6, 2, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    told = forecast(model, X, Y, optimizer, 30, loss=nn.MSELoss(reduction="sum"))
    np.testing.assert_allclose(told.loss, trained(model, X, Y, optimizer, 30, nn.MSELoss(reduction="sum")), rtol=1e-8)


@pytest.mark.parametrize(("bias", "momentum"), [(True, 0.0), (False, 0.9)])
def test_the_stable_rate_is_where_pytorch_diverges(bias, momentum):
    X, Y = table("diabetes")
    model = bottleneck(X.shape[1], 1, 12, bias)
    told = forecast(model, X, Y, torch.optim.SGD(model.parameters(), lr=1e-3, momentum=momentum), 150)
    rate = told.largest_stable_rate

    def diverges(factor):
        other = copy.deepcopy(model)
        run = trained(other, X, Y, torch.optim.SGD(other.parameters(), lr=factor * rate, momentum=momentum), 150)
        return not np.nanmax(run) < 1e8 * run[0] or np.isnan(run).any()

    assert diverges(1.05)
    assert not diverges(0.95)
    with pytest.raises(ln.DivergedError, match="largest that does not is"):
        forecast(model, X, Y, torch.optim.SGD(model.parameters(), lr=1.1 * rate, momentum=momentum), 150)


def test_modes_and_the_best_step():
    """Strong modes are learned first, and the best step is that of the held-out run."""
    rng = np.random.default_rng(0)
    X = torch.tensor(rng.normal(size=(60, 12)))
    truth = np.zeros((3, 12))
    truth[[0, 1, 2], [0, 1, 2]] = 4, 2, 1
    Y = X @ torch.tensor(truth.T) + 2 * torch.tensor(rng.normal(size=(60, 3)))
    held = torch.tensor(rng.normal(size=(500, 12)))
    model = bottleneck(12, 3, 30, bias=True)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(0.1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    told = forecast(model, X, Y, optimizer, 400, validation=(held, held @ torch.tensor(truth.T)))
    assert (np.diff(told.half_steps) > 0).all()
    assert 0 < told.best_step < 400
    data = told.to_dataset()
    assert set(data) == {"loss", "shares", "strengths", "half_steps", "validation_loss"}
    errors = []
    for _ in range(401):
        with torch.no_grad():
            errors.append(nn.functional.mse_loss(model(held), held @ torch.tensor(truth.T)).item())
        optimizer.zero_grad()
        nn.functional.mse_loss(model(X), Y).backward()
        optimizer.step()
    np.testing.assert_allclose(told.validation_loss, errors, rtol=1e-8)
    assert told.best_step == int(np.argmin(errors))


def test_the_recursion_without_its_bias_is_seen():
    """Control: leaving the output bias out of the recursion gives another run."""
    X, Y = table("diabetes")
    model = bottleneck(X.shape[1], 1, 7)
    told = forecast(model, X, Y, torch.optim.SGD(model.parameters(), lr=0.01), 20)
    run = told.run
    weights = {name: value for name, value in run.weights.items() if name != "second_bias"}
    wrong = [run.data.loss(A) for A in products(weights, run.data, run.rates, run.decays, momentum=0.0, steps=20)]
    assert np.abs(np.array(wrong) / told.loss - 1).max() > 1e-2


def test_the_loss_keeps_its_digits_where_it_is_small():
    rng = np.random.default_rng(0)
    X, truth = rng.normal(size=(50, 4)), rng.normal(size=(3, 4))
    data = Data.of(X, 1e4 * X @ truth.T, 1.0)
    near = 1e4 * truth + 1e-6 * rng.normal(size=(3, 4))
    np.testing.assert_allclose(data.loss(near), ((X @ (near - 1e4 * truth).T) ** 2).sum(), rtol=1e-3)


def assert_refused(match, model=None, optimizer=None, X=None, Y=None, **options):
    model = bottleneck(4, 2, 3) if model is None else model.double()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1) if optimizer is None else optimizer(model.parameters())
    X, Y = torch.ones(5, 4).double() if X is None else X, torch.ones(5, 2).double() if Y is None else Y
    with pytest.raises(ValueError, match=match):
        forecast(model, X, Y, optimizer, 3, **options)


def chain(*between, after=()):
    return nn.Sequential(nn.Linear(4, 3), *between, nn.Linear(3, 2), *after)


def test_what_is_not_linear_is_named():
    torch.manual_seed(0)
    assert_refused("between Linear '0' and Linear '2' there is ReLU '1'", chain(nn.ReLU()))
    assert_refused("after Linear '1' there is Softmax '2'", chain(after=(nn.Softmax(-1),)))
    assert_refused("Dropout '1' drops at random", chain(nn.Dropout(0.5)))
    assert_refused("BatchNorm1d '1' normalizes by it", chain(nn.BatchNorm1d(3)))
    assert_refused(r"it also trains 1\.weight, 1\.bias \(of LayerNorm\)", chain(nn.LayerNorm(3)))
    assert_refused("two trained linear layers, a two-layer linear network: got 1", nn.Linear(4, 2))
    assert_refused("got 3", nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 3), nn.Linear(3, 2)))
    assert_refused(
        "all of them are frozen", chain().requires_grad_(False), optimizer=lambda p: torch.optim.SGD(p, lr=1)
    )

    class Function(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two = nn.Linear(4, 3), nn.Linear(3, 2)

        def forward(self, x):
            return self.two(torch.tanh(self.one(x)))

    assert_refused("a function in its `forward`", Function())


def test_what_cannot_be_forecast_is_said():
    assert_refused("got Adam, whose steps are not linear", optimizer=lambda p: torch.optim.Adam(p))
    assert_refused("without nesterov", optimizer=lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True))
    assert_refused("without dampening", optimizer=lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.1))
    assert_refused("it lacks the parameter of the second", optimizer=lambda p: torch.optim.SGD(list(p)[:2], lr=0.1))
    assert_refused("got CrossEntropyLoss", loss=nn.CrossEntropyLoss())
    assert_refused("got l1_loss", loss=nn.functional.l1_loss)
    assert_refused("by 'mean' or 'sum'", loss=nn.MSELoss(reduction="none"))
    assert_refused("`Y` must have targets of the shape", Y=torch.ones(5, 3))
    assert_refused("`X` must be a tensor", X=np.ones((5, 4)))
    assert_refused("`validation` must be a pair", validation=torch.ones(2, 4))
    model = bottleneck(4, 2, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
    trained(model, torch.ones(5, 4).double(), torch.ones(5, 2).double(), optimizer, 1)
    assert_refused("already carries momentum", model, optimizer=lambda _: optimizer)


class Part(nn.Module):
    """Two layers, and what a subclass does between them."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = nn.Linear(4, 6).double(), nn.Linear(6, 2).double()

    def between(self, x):
        return self.first(x)

    def forward(self, x):
        return self.second(self.between(x))


class Detached(Part):
    def between(self, x):
        return self.first(x).detach()


class WithoutGradient(Part):
    def between(self, x):
        with torch.no_grad():
            return self.first(x)


class NoisyInputs(Part):
    def between(self, x):
        return self.first(x + 0.1 * torch.randn_like(x))


class TenfoldBackward(torch.autograd.Function):  # type: ignore[name-defined]
    @staticmethod
    def forward(context, x):
        return x.clone()

    @staticmethod
    def backward(context, gradient):
        return 10 * gradient


class OwnBackward(Part):
    def between(self, x):
        return TenfoldBackward.apply(self.first(x))


class ThriceTheLoss(nn.MSELoss):
    def forward(self, outputs, targets):
        return 3 * super().forward(outputs, targets)


class SignSteps(torch.optim.SGD):  # type: ignore[name-defined]
    def step(self, closure=None):
        for parameter in self.param_groups[0]["params"]:
            parameter.data -= 0.001 * parameter.grad.sign()


class Normalized(nn.Linear):
    def forward(self, x):
        return nn.functional.linear(x, self.weight / self.weight.norm())


def hooked(change):
    model = Part()
    change(model)
    return model


def normalized():
    model = Part()
    model.first = Normalized(4, 6, bias=False).double()
    return model


UNLIKE_TWO_LAYERS = {
    "detached": Detached,
    "no_grad": WithoutGradient,
    "noise": NoisyInputs,
    "backward": OwnBackward,
    "forward of a layer": normalized,
    "tensor hook": lambda: hooked(lambda model: model.first.weight.register_hook(lambda g: g / 2)),
    "forward hook": lambda: hooked(lambda model: model.first.register_forward_hook(lambda m, i, o: 2 * o)),
    "backward hook": lambda: hooked(
        lambda model: model.second.register_full_backward_hook(lambda m, gi, go: tuple(2 * g for g in gi))
    ),
}


@pytest.mark.parametrize("name", UNLIKE_TWO_LAYERS)
def test_a_model_that_trains_otherwise_than_it_computes_is_refused(name):
    model, X = UNLIKE_TWO_LAYERS[name](), torch.randn(12, 4, dtype=torch.float64)
    before = torch.get_rng_state()
    with pytest.raises(ValueError, match=r"gradient|hooks"):
        forecast(model, X, X[:, :2], torch.optim.SGD(model.parameters(), lr=0.01), steps=3)
    assert torch.equal(torch.get_rng_state(), before)


def test_steps_and_losses_of_ones_own_are_refused():
    model, X = Part(), torch.randn(12, 4, dtype=torch.float64)
    with pytest.raises(ValueError, match="its own `step`"):
        forecast(model, X, X[:, :2], SignSteps(model.parameters(), lr=0.01), steps=3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with pytest.raises(ValueError, match="loss of your own"):
        forecast(model, X, X[:, :2], optimizer, steps=3, loss=ThriceTheLoss())
    assert forecast(model, X, X[:, :2], optimizer, steps=3).loss.shape == (4,)  # the control
    optimizer.register_step_pre_hook(lambda *_: None)
    with pytest.raises(ValueError, match="hooks on its steps"):
        forecast(model, X, X[:, :2], optimizer, steps=3)
    with pytest.raises(ValueError, match=r"\(12, 2\): got \(12,\)"):
        forecast(model, X, X[:, 0], torch.optim.SGD(model.parameters(), lr=0.01), steps=3)
