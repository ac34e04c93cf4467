"""Settings that are declared equivalent train identically, in a nonlinear model and with optimizers written out by
hand."""

import numpy as np
import pytest

from linnet.lora import Adapter, equivalent
from linnet.lora.equivalence import IDENTITY, RULE
from lora.pairs import Model, train


def run(model, adapter, **options):
    return train(
        model,
        adapter.scale,
        (adapter.learning_rate_a, adapter.learning_rate_b),
        optimizer=adapter.optimizer,
        decays=(adapter.weight_decay_a, adapter.weight_decay_b),
        eps=(adapter.eps_a, adapter.eps_b),
        momentum=adapter.momentum,
        **options,
    )[0]


def adapter_of(optimizer, **changes):
    rate = 0.3 if optimizer == "sgd" else 2e-2
    settings = {"rank": 3, "alpha": 4.0, "optimizer": optimizer, "learning_rate_a": rate, "weight_decay_a": 0.02}
    return Adapter(**(settings | {"momentum": 0.8 if optimizer == "sgd" else 0.0, "eps_a": 1e-3} | changes))


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "adamw", "muon"])
@pytest.mark.parametrize("change", [{"alpha": 29.0}, {"alpha": 0.7}, {"scaling": "rslora"}, {"plus_ratio": 5.0}])
def test_equivalent_settings_train_identically(optimizer, change):
    model, adapter = Model(), adapter_of(optimizer, learning_rate_b=0.11 if optimizer == "sgd" else 3e-2)
    found = equivalent(adapter, **change)
    assert found.label == IDENTITY
    if "plus_ratio" in change:
        np.testing.assert_allclose(found.adapter.plus_ratio, 5.0)
    np.testing.assert_allclose(run(model, found.adapter), run(model, adapter), rtol=1e-11)


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "adamw", "muon"])
def test_folk_rules_do_not(optimizer):
    model, adapter = Model(), adapter_of(optimizer)
    wanted = run(model, adapter)
    other = adapter.with_(alpha=16.0)
    same_rate = run(model, other)
    scaled = run(
        model, other.with_(learning_rate_a=adapter.learning_rate_a / 4, learning_rate_b=adapter.learning_rate_b / 4)
    )
    for folk in (same_rate, scaled):
        assert np.abs(folk - wanted).max() > 1e-2


WRONG = [
    ("sgd", "weight_decay_b", 1),
    ("adam", "eps_b", 0),
    ("adamw", "weight_decay_b", 2),
    ("muon", "weight_decay_b", 2),
]


@pytest.mark.parametrize(("optimizer", "option", "power"), WRONG)
def test_a_wrong_power_of_the_scale_is_seen(optimizer, option, power):
    """Each entry of the table matters: with its power of c changed, the runs part."""
    model, adapter = Model(), adapter_of(optimizer)
    found = equivalent(adapter, alpha=20.0).adapter
    c = adapter.scale / found.scale
    wrong = found.with_(**{option: getattr(adapter, option) / c**power})
    assert np.abs(run(model, wrong) - run(model, adapter)).max() > 1e-5


def test_a_start_that_is_not_zero_has_to_be_scaled_along():
    model = Model()
    start = np.random.default_rng(1).normal(size=(7, 3)) / 3
    adapter = adapter_of("sgd", init="olora")
    with pytest.raises(ValueError, match="B\\(0\\) not zero"):
        equivalent(adapter, alpha=8.0)
    found = equivalent(adapter, alpha=8.0, rescale_init=True)
    wanted = run(model, adapter, start=start)
    np.testing.assert_allclose(run(model, found.adapter, start=found.start_factor * start), wanted, rtol=1e-11)
    assert np.abs(run(model, found.adapter, start=start) - wanted).max() > 1e-2


def test_clipping_makes_it_a_rule():
    model, adapter = Model(), adapter_of("sgd", clip=0.05)
    found = equivalent(adapter, alpha=16.0)
    assert found.label == RULE
    assert any("no step is clipped" in condition for condition in found.conditions)
    assert np.abs(run(model, found.adapter, clip=0.05) - run(model, adapter, clip=0.05)).max() > 1e-4
    np.testing.assert_allclose(run(model, found.adapter, clip=1e6), run(model, adapter, clip=1e6), rtol=1e-11)


def test_lora_plus_under_adam_is_alpha():
    adapter = Adapter(rank=4, alpha=8, optimizer="adam", learning_rate_a=1e-3, learning_rate_b=16e-3)
    assert equivalent(adapter, plus_ratio=1).adapter.alpha == 128
    plain = adapter.with_(optimizer="sgd")
    assert equivalent(plain, plus_ratio=1).adapter.alpha == 32


def test_groups_have_the_names_of_pytorch():
    found = equivalent(adapter_of("adamw"), alpha=8.0)
    np.testing.assert_allclose(list(found.groups["B"].values()), [1e-2, 0.04, 2e-3])
    assert found.groups["A"] == {"lr": 2e-2, "weight_decay": 0.02, "eps": 1e-3}
    assert "eps" not in equivalent(adapter_of("sgd"), alpha=8.0).groups["B"]


@pytest.mark.parametrize(
    ("change", "wanted", "match"),
    [
        ({}, {"rank": 4}, "another model"),
        ({"optimizer": "lion"}, {"alpha": 4}, "`optimizer` must be one of"),
        ({"learning_rate_a": None, "learning_rate_b": None}, {"alpha": 4}, "`learning_rate_a` is needed"),
        ({}, {}, "says what is wanted"),
        ({}, {"alpha": 3, "plus_ratio": 2}, "says what is wanted"),
        ({}, {"scaling": "root"}, "`scaling` must be one of"),
        ({}, {"alpha": -1}, "`alpha` must be positive"),
    ],
)
def test_what_has_no_equivalent_is_refused(change, wanted, match):
    with pytest.raises(ValueError, match=match):
        equivalent(adapter_of("sgd").with_(**change), **wanted)


def test_what_is_assumed_of_clipping_is_said():
    unknown, none = adapter_of("adamw"), adapter_of("adamw", clip=0)
    assert any("gradients are not clipped" in condition for condition in equivalent(unknown, alpha=8.0).conditions)
    assert not any("clipped" in condition for condition in equivalent(none, alpha=8.0).conditions)
    assert equivalent(none, alpha=8.0).label == IDENTITY
