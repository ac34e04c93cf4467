"""Regular expressions of a stranger's adapter end, and mean what peft means by them."""

import json
import re
import time

import pytest

import linnet as ln
from linnet.lora import _patterns

NAMES = ["model.layers.0.q_proj", "model.layers.1.v_proj", "q_proj", "xq_proj"]


@pytest.mark.parametrize("pattern", ["q_proj", r"layers\.1\.v_proj", ".*v_proj", "layers.[01].(q|v)_proj", "model"])
def test_they_match_as_in_peft(pattern):
    wanted = {name: 8 for name in NAMES if re.match(rf"(.*\.)?({pattern})$", name)}
    assert _patterns.values_by_pattern({pattern: 8, "nothing": 3}, NAMES, "it") == wanted


def test_the_first_of_several_counts():
    assert _patterns.values_by_pattern({"v.*": 1, ".*proj": 2}, NAMES[:2], "it") == {NAMES[0]: 2, NAMES[1]: 1}


@pytest.mark.parametrize("field", ["rank_pattern", "alpha_pattern"])
@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", "(a|aa)" * 40])
def test_hostile_ones_end(tmp_path, monkeypatch, field, pattern):
    """The first ran for 14 minutes in 0.3.0, until it was killed."""
    monkeypatch.setattr(_patterns, "TIMEOUT_SECONDS", 0.5)
    settings = {"peft_type": "LORA", "r": 4, "lora_alpha": 8, "target_modules": ["a" * 45 + "!"], field: {pattern: 8}}
    (tmp_path / "adapter_config.json").write_text(json.dumps(settings))
    began = time.monotonic()
    with pytest.raises(ValueError, match=f"`{field}` of .* takes more than 0.5 s to compare"):
        ln.lora.read(tmp_path)
    assert time.monotonic() - began < 30


def test_settings_are_not_read_without_end(tmp_path):
    file = tmp_path / "adapter_config.json"
    with file.open("wb") as opened:
        opened.truncate(2**30)  # a hole
    with pytest.raises(ValueError, match=r"must be a file of settings: .* has 1024 MiB"):
        ln.lora.read(tmp_path)


def test_weights_larger_than_memory_are_refused(tmp_path):
    (tmp_path / "adapter_config.json").write_text('{"r": 4, "lora_alpha": 8}')
    with (tmp_path / "adapter_model.safetensors").open("wb") as opened:
        opened.truncate(2**42)
    with pytest.raises(ValueError, match=r"would take .* GiB"):
        ln.lora.read(tmp_path)
