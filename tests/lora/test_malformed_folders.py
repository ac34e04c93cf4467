"""Adapter folders as they should not be: each ends in one line that says what is wrong, or in the right numbers."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command_line import called
from linnet.lora import read
from lora.test_reading import framed, packed

CONFIG: dict[str, Any] = {"peft_type": "LORA", "r": 2, "lora_alpha": 8, "target_modules": ["q_proj"]}
A, B = np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]]), np.array([[1.0, 0.5]])
FIRST, SECOND = "base_model.model.q_proj.lora_A.weight", "base_model.model.q_proj.lora_B.weight"
PAIR = {FIRST: ("F64", A), SECOND: ("F64", B)}


def without(name: str) -> str:
    return json.dumps({key: value for key, value in CONFIG.items() if key != name})


# What the file holds, and what is said of it.
CONFIGS: dict[str, tuple[str | bytes | None, str]] = {
    "missing": (None, "there is no"),
    "empty": ("", "is not JSON"),
    "cut off": (json.dumps(CONFIG)[:-9], "is not JSON"),
    "not text": (b"\xff\xfe\x00", "is not JSON"),
    "zeros": (b"\0" * 200, "is not JSON"),
    "a list": ("[1]", "with `r` and `lora_alpha`"),
    "a number": ("3", "with `r` and `lora_alpha`"),
    "nested without end": ("[" * 100_000, "is not JSON"),
    "a number of 5000 digits": ("9" * 5000, "is not JSON"),
    "no rank": (without("r"), "with `r` and `lora_alpha`"),
    "no alpha": (without("lora_alpha"), "with `r` and `lora_alpha`"),
}
FIELDS: dict[str, tuple[str, Any, str]] = {
    "rank null": ("r", None, "`r in .*` must be a whole number"),
    "rank 0": ("r", 0, "`r in .*` must be at least 1"),
    "rank negative": ("r", -2, "`r in .*` must be at least 1"),
    "rank not whole": ("r", 2.5, "`r in .*` must be a whole number"),
    "rank a word": ("r", "2", "`r in .*` must be a whole number"),
    "rank true": ("r", True, "`r` of .* must be a number"),
    "rank NaN": ("r", float("nan"), "`r in .*` must be a whole number"),
    "rank infinite": ("r", float("inf"), "`r in .*` must be a whole number"),
    "rank a list": ("r", [2], "`r in .*` must be a whole number"),
    "rank of 400 digits": ("r", 10**400, "`r in .*` must be at most"),
    "rank of other weights": ("r", 3, "`weights` must be one pair of rank 3"),
    "alpha null": ("lora_alpha", None, "`lora_alpha in .*` must be a number"),
    "alpha 0": ("lora_alpha", 0, "`lora_alpha in .*` must be positive"),
    "alpha a word": ("lora_alpha", "8", "`lora_alpha in .*` must be a number"),
    "alpha NaN": ("lora_alpha", float("nan"), "`lora_alpha in .*` must be finite"),
    "alpha false": ("lora_alpha", False, "`lora_alpha` of .* must be a number"),
    "targets a number": ("target_modules", 3, "`target_modules` of .* must be names"),
    "targets of numbers": ("target_modules", [1, "q_proj"], "`target_modules` of .* must be names"),
    "targets in lists": ("target_modules", [["q_proj"]], "`target_modules` of .* must be names"),
    "targets by key": ("target_modules", {"q_proj": 1}, "`target_modules` of .* must be names"),
    "patterns in a list": ("rank_pattern", ["q_proj"], "`rank_pattern` of .* must be numbers by patterns"),
    "patterns a number": ("alpha_pattern", 3, "`alpha_pattern` of .* must be numbers by patterns"),
    "no pattern": ("rank_pattern", {"(": 2}, "`rank_pattern` of .* must be numbers by patterns"),
    "pattern with a word": ("rank_pattern", {"q_proj": "x"}, "`r in .*` must be a whole number"),
    "pattern with 0": ("alpha_pattern", {"q_proj": 0}, "`lora_alpha in .*` must be positive"),
    "start unknown": ("init_lora_weights", "warm", "`init` must be one of"),
    "start a number": ("init_lora_weights", 7, "`init` must be one of"),
    "rslora a word": ("use_rslora", "no", "`use_rslora` of .* must be true or false"),
    "rslora 0": ("use_rslora", 0, "`use_rslora` of .* must be true or false"),
    "dora a list": ("use_dora", [], "`use_dora` of .* must be true or false"),
    "another kind": ("peft_type", "IA3", "is of type 'IA3'"),
    "kind a number": ("peft_type", 3, "is of type 3"),
}
TENSORS: dict[str, tuple[bytes | None, str]] = {
    "a folder": (None, "must hold its weights in a file"),
    "empty": (b"", "must be a safetensors file"),
    "header of 2^63 bytes": (struct.pack("<Q", 2**63) + b"{}", "must be a safetensors file"),
    "header not JSON": (framed(b"{]"), "must be a safetensors file"),
    "header nested without end": (framed(b"[" * 100_000), "must be a safetensors file"),
    "no arrays": (framed(b"{}"), "it has none"),
    "other arrays": (packed({"weight": ("F64", A)}), "it has none"),
    "type unknown": (packed(PAIR, dtype="F8_E4M3"), "must be a safetensors file"),
    "type of another width": (packed(PAIR, dtype="F32"), "must be a safetensors file"),
    "shape beyond counting": (packed(PAIR, shape=[2**32, 2**32], data_offsets=[0, 0]), "must be a safetensors file"),
    "offsets of the other array": (packed(PAIR, data_offsets=[16, 64]), "must be a safetensors file"),
    "cut off": (packed(PAIR)[:-8], "must be a safetensors file"),
    "more at its end": (packed(PAIR) + b"12345678", "must be a safetensors file"),
    "A alone": (packed({FIRST: ("F64", A)}), "has no .*lora_B"),
    "B alone": (packed({**PAIR, "v_proj.lora_B.weight": ("F64", B)}), "v_proj.lora_B.weight has no A"),
    "factors of two ranks": (packed({**PAIR, SECOND: ("F64", np.ones((1, 3)))}), "must hold factors of one rank"),
    "a number for a matrix": (packed({**PAIR, FIRST: ("F64", np.array(1.0))}), "must hold matrices"),
    "a vector for a matrix": (packed({**PAIR, FIRST: ("F64", A[0])}), "must hold matrices"),
    "rank 0": (packed({FIRST: ("F64", np.ones((0, 3))), SECOND: ("F64", np.ones((1, 0)))}), "must hold matrices"),
    "NaN": (packed({**PAIR, FIRST: ("F64", A * np.nan)}), "must be finite"),
    "infinite": (packed({**PAIR, SECOND: ("F64", B * np.inf)}), "must be finite"),
}


@pytest.fixture
def refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    """The folder is refused by `read` in these words, and by `linnet lora` in one line."""

    def check(words: str) -> None:
        with pytest.raises(ValueError, match=words):
            read(tmp_path)
        status, out, err = called(capsys, "lora", tmp_path)
        assert status == 1 and err.startswith("linnet: ") and err.count("\n") == 1 and not out

    return check


@pytest.mark.parametrize("kind", CONFIGS)
def test_a_malformed_configuration_is_refused(tmp_path: Path, refused: Callable[[str], None], kind: str) -> None:
    content, words = CONFIGS[kind]
    if content is not None:
        (tmp_path / "adapter_config.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    refused(words)


def test_a_folder_for_a_configuration_is_refused(tmp_path: Path, refused: Callable[[str], None]) -> None:
    (tmp_path / "adapter_config.json").mkdir()
    refused("there is no")


@pytest.mark.parametrize("kind", FIELDS)
def test_a_malformed_setting_is_refused(tmp_path: Path, refused: Callable[[str], None], kind: str) -> None:
    name, value, words = FIELDS[kind]
    (tmp_path / "adapter_config.json").write_text(json.dumps({**CONFIG, name: value}))
    (tmp_path / "adapter_model.safetensors").write_bytes(packed(PAIR))
    refused(words)


@pytest.mark.parametrize("kind", TENSORS)
def test_malformed_weights_are_refused(tmp_path: Path, refused: Callable[[str], None], kind: str) -> None:
    (tmp_path / "adapter_config.json").write_text(json.dumps(CONFIG))
    content, words = TENSORS[kind]
    file = tmp_path / "adapter_model.safetensors"
    if content is None:
        file.mkdir()
    else:
        file.write_bytes(content)
    refused(words)


@pytest.mark.parametrize(
    "changes",
    [{}, {"target_modules": ["no_such_module"]}, {"target_modules": "all-linear"}, {"future_option": [1]}, {"r": 2.0}],
)
def test_what_does_not_matter_changes_no_number(tmp_path: Path, changes: dict[str, Any]) -> None:
    (tmp_path / "adapter_config.json").write_text(json.dumps({**CONFIG, **changes}))
    (tmp_path / "adapter_model.safetensors").write_bytes(
        packed({**PAIR, "q_proj.lora_magnitude_vector": ("F64", np.ones(1))})
    )
    adapter = read(tmp_path)["q_proj"]
    assert (adapter.rank, adapter.scale, adapter.in_dim, adapter.out_dim) == (2, 4.0, 3, 1)
    assert adapter.weights is not None
    np.testing.assert_array_equal(adapter.weights.product, B @ A)


@pytest.mark.parametrize(
    ("name", "value"),
    [("learning_rate", "fast"), ("learning_rate", None), ("learning_rate", float("nan")), ("max_grad_norm", "x")]
    + [("optim_args", "momentum=x"), ("optim_args", 3), ("weight_decay", [1]), ("adam_epsilon", None)],
)
def test_malformed_arguments_of_a_trainer_are_refused(tmp_path: Path, name: str, value: Any) -> None:
    (tmp_path / "adapter_config.json").write_text(json.dumps(CONFIG))
    given = {"optim": "sgd", "learning_rate": 1e-3, "max_grad_norm": 1.0, name: value}
    (tmp_path / "training.json").write_text(json.dumps(given))
    with pytest.raises(ValueError, match=rf"`(training\.)?{name}` must be"):
        read(tmp_path, training=tmp_path / "training.json")
