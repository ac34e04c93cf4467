"""The study of adapters (benchmarks/studies/adapter_study.py) at a small size: it measures what it says."""

import dataclasses
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-torch installs it")
pytest.importorskip("peft", reason="peft is not installed: make test-torch installs it")
pytest.importorskip("transformers", reason="transformers is not installed: make test-torch installs it")

FILE = Path(__file__).parents[2] / "benchmarks" / "studies" / "adapter_study.py"


@pytest.fixture(scope="module")
def study():
    spec = importlib.util.spec_from_file_location("adapter_study", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules["adapter_study"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["adapter_study"]


@pytest.fixture(scope="module")
def told(study):
    """Every start, and the rank rules, after a short pre-training."""
    torch.manual_seed(0)
    size = dataclasses.replace(study.QUICK, pretraining=30, steps=12, speed=0.03, held_out=8, factors=(0, 12))
    return study.study(size, "cpu", 1)


def test_sgd_keeps_the_imbalance_and_adam_does_not(told):
    for row in told["concluded"]["starts"]:
        if row["optimizer"] == "sgd":
            assert row["moved"] < 2e-3
            if row["start"] in ("default", "gaussian"):
                assert 0.5 * row["share"] < row["predicted_share"] < 2 * row["share"]
        assert row["active"] == (1.0 if row["start"] == "pissa" else 0.0)
    moved = {(row["optimizer"], row["start"]): row["moved"] for row in told["concluded"]["starts"]}
    assert all(moved["adamw", start] > 5 * moved["sgd", start] for start in ("default", "gaussian", "pissa"))


def test_one_mode_rate_is_one_speed(told):
    """By the theory's clock; at equal rates the two starts would be apart by the ratio of their imbalances."""
    rows = {row["start"]: row for row in told["concluded"]["starts"] if row["optimizer"] == "sgd"}
    assert rows["default"]["rate"] / rows["gaussian"]["rate"] > 3
    assert rows["default"]["half_step"] == pytest.approx(rows["gaussian"]["half_step"], rel=0.3)


def test_rates_that_are_too_large_are_not_counted(told):
    assert {row["largest"] for row in told["concluded"]["rates"]} == {0}


def test_the_picture_is_drawn_from_the_file(study, told, tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    study.draw(told, tmp_path / "study.png")
    assert (tmp_path / "study.png").stat().st_size > 10_000
    assert np.isfinite([row["distance"] for row in told["concluded"]["ranks"]]).all()
