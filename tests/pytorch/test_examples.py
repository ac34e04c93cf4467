"""The examples with PyTorch run, at small sizes, and show what they say."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed: make test-torch installs it")
pytest.importorskip("peft", reason="peft is not installed: make test-torch installs it")

FOLDER = Path(__file__).parents[2] / "examples"


def loaded(name):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_watched_adapter(tmp_path, capsys):
    monitor = loaded("watched_adapter").main(pretraining=5, steps=12, picture=tmp_path / "picture.png")
    assert len(monitor.pairs) == 6
    assert "share of the update that A carries: 0.00 ->" in capsys.readouterr().out
    assert (tmp_path / "picture.png").stat().st_size > 10_000


def test_equivalent_adapters(tmp_path):
    curves = list(loaded("equivalent_adapters").main(steps=15, picture=tmp_path / "picture.png").values())
    np.testing.assert_allclose(curves[1], curves[0], atol=1e-4)
    assert all(np.abs(curve - curves[0]).max() > 0.1 for curve in curves[2:])


def test_a_bottleneck_forecast(tmp_path):
    told, losses = loaded("bottleneck_forecast").main(steps=60, picture=tmp_path / "picture.png")
    np.testing.assert_allclose(told.loss, losses, rtol=1e-8)
