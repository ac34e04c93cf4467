"""Wrong calls of the PyTorch part keep the rules of tests/fuzz; `make fuzz` makes all of them where PyTorch is
there."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed: make test-torch installs it")
pytest.importorskip("peft", reason="peft is not installed: make test-torch installs it")

from fuzz.calling import broken, called
from fuzz.cases import cases, listed, missing

CALLS = 300


def test_everything_of_pytorch_has_a_valid_example():
    assert missing() == []
    assert {"torch.forecast", "torch.PairMonitor", "torch.find_pairs"} <= {example.name for example in listed()}


def test_wrong_calls_keep_the_rules():
    ours = [example for example in listed() if example.name.startswith("torch.") and "for_" not in example.name]
    everything = [case for example in ours for case in cases(example, twice=5)]
    random = np.random.default_rng(0)
    chosen = [everything[i] for i in sorted(random.choice(len(everything), size=CALLS, replace=False))]
    assert broken(map(called, chosen)) == []
