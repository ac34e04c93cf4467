"""Adapters from files, without PyTorch: the configuration, its patterns, and weights in safetensors."""

import builtins
import json
import pickle
import struct

import numpy as np
import pytest

from linnet.lora import read

CONFIG = {
    "peft_type": "LORA",
    "r": 8,
    "lora_alpha": 16,
    "target_modules": ["q_proj", "v_proj"],
    "init_lora_weights": True,
}

# What transformers writes, less what nothing here depends on.
TRAINING = {"optim": "adamw_torch_fused", "learning_rate": 3e-4, "weight_decay": 0.01, "adam_epsilon": 1e-7}
TRAINING |= {"max_grad_norm": 1.0, "optim_args": None}


def folder(tmp_path, config=None, tensors=None):
    (tmp_path / "adapter_config.json").write_text(json.dumps(CONFIG | (config or {})))
    if tensors is not None:
        (tmp_path / "adapter_model.safetensors").write_bytes(packed(tensors))
    return tmp_path


def packed(tensors, **changes):
    """A safetensors file by hand: length, header, bytes; `changes` replace fields of the first array, None takes one
    out."""
    header: dict[str, dict] = {}
    body = b""
    for name, (kind, array) in tensors.items():
        if kind == "BF16":
            data = (np.asarray(array, "<f4").view("<u4") >> 16).astype("<u2").tobytes()
        else:
            data = np.asarray(array, {"F32": "<f4", "F16": "<f2", "F64": "<f8"}[kind]).tobytes()
        fields = {"dtype": kind, "shape": list(np.shape(array)), "data_offsets": [len(body), len(body + data)]}
        fields |= {} if header else changes
        header[name] = {field: value for field, value in fields.items() if value is not None}
        body += data
    return framed(json.dumps(header | {"__metadata__": {"format": "pt"}}).encode(), body)


def framed(header, body=b""):
    return struct.pack("<Q", len(header)) + header + body


def test_a_configuration_alone(tmp_path):
    path = folder(
        tmp_path, {"rank_pattern": {"v_proj": 4}, "alpha_pattern": {"layers.1.v_proj": 99}, "use_rslora": True}
    )
    found = read(
        path / "adapter_config.json", "adamw", learning_rate=1e-4, plus_ratio=16, weight_decay=0.1, clip=1, in_dim=64
    )
    assert set(found) == {"q_proj", "v_proj"}
    q, v = found["q_proj"], found["v_proj"]
    assert (q.rank, v.rank, v.alpha, q.scaling, q.in_dim) == (8, 4, 16, "rslora", 64)
    assert (q.learning_rate_a, q.weight_decay_b, q.clip, q.optimizer) == (1e-4, 0.1, 1, "adamw")
    assert q.learning_rate_b == pytest.approx(16e-4)
    assert q.weights is None


@pytest.mark.parametrize(("init", "name"), [(False, "random"), ("pissa_niter_16", "pissa"), ("gaussian", "gaussian")])
def test_initializations_by_their_names(tmp_path, init, name):
    assert read(folder(tmp_path, {"init_lora_weights": init}))["q_proj"].init == name


@pytest.mark.parametrize(("kind", "digits"), [("F64", 1e-15), ("F32", 1e-6), ("F16", 1e-3), ("BF16", 1e-2)])
def test_weights_of_a_folder(tmp_path, kind, digits):
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(4, 6)), rng.normal(size=(5, 4))
    kernel, back = rng.normal(size=(2, 3, 3, 3)), rng.normal(size=(7, 2, 1, 1))
    prefix = "base_model.model.layers.0."
    tensors = {
        prefix + "v_proj.lora_A.weight": (kind, A),
        prefix + "v_proj.lora_B.weight": (kind, B),
        prefix + "conv.lora_A.weight": (kind, kernel),
        prefix + "conv.lora_B.weight": (kind, back),
    }
    config = {"r": 4, "rank_pattern": {"conv": 2}, "alpha_pattern": {"layers.0.v_proj": 99}}
    found = read(folder(tmp_path, config, tensors))
    assert set(found) == {"layers.0.v_proj", "layers.0.conv"}
    v = found["layers.0.v_proj"]
    assert (v.rank, v.alpha, v.in_dim, v.out_dim) == (4, 99, 6, 5)
    np.testing.assert_allclose(v.weights.product, B @ A, atol=20 * digits)
    np.testing.assert_allclose(found["layers.0.conv"].weights.first, kernel.reshape(2, -1), atol=5 * digits)


def test_what_is_not_an_adapter_is_refused(tmp_path):
    folder(tmp_path)
    with pytest.raises(ValueError, match="`plus_ratio` is a ratio"):
        read(tmp_path, "adam", plus_ratio=4)
    with pytest.raises(ValueError, match="must be a path or a PyTorch model"):
        read(3.0)
    with pytest.raises(ValueError, match="`optimizer` must be a name for a path"):
        read(tmp_path, object())


def test_the_arguments_of_a_trainer(tmp_path):
    path = folder(tmp_path)
    found = read(path, training=TRAINING, plus_ratio=2.0)["q_proj"]
    assert (found.optimizer, found.learning_rate_a, found.learning_rate_b, found.weight_decay_b, found.eps_b) == (
        "adamw",
        3e-4,
        6e-4,
        0.01,
        1e-7,
    )
    assert found.clip == 1.0
    file = tmp_path / "training_args.json"
    file.write_text(json.dumps(TRAINING | {"optim": "sgd", "optim_args": "momentum=0.9", "max_grad_norm": 0}))
    found = read(path, training=file)["q_proj"]
    assert (found.optimizer, found.momentum, found.clip) == ("sgd", 0.9, 0.0)
    assert read(path, training=TRAINING | {"optim": "adamw_8bit"})["q_proj"].optimizer == "adamw_8bit"


class Bomb:
    """Unpickled, it would leave a trace."""

    def __reduce__(self):
        return (exec, ("import builtins; builtins.exploded = True",))


@pytest.mark.parametrize("name", ["training_args.bin", "renamed.json"])
def test_a_pickle_is_never_read(tmp_path, name):
    (tmp_path / name).write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(ValueError, match=r"is a pickle.*to_json_string"):
        read(folder(tmp_path), training=tmp_path / name)
    assert not hasattr(builtins, "exploded")


@pytest.mark.parametrize(
    ("training", "others", "match"),
    [
        ({"learning_rate": 1.0}, {}, "must be transformers' TrainingArguments"),
        (3, {}, "must be transformers' TrainingArguments"),
        (TRAINING | {"optim_args": "momentum"}, {}, "`optim_args` must be name=value"),
        (TRAINING | {"max_grad_norm": -1}, {}, "`training.max_grad_norm`"),
        (TRAINING, {"optimizer": "sgd"}, "give one or the other"),
        (TRAINING, {"weight_decay": 0.1}, "give one or the other"),
        ("nothing.json", {}, "must be readable JSON"),
    ],
)
def test_what_are_no_arguments_of_a_trainer(tmp_path, training, others, match):
    with pytest.raises(ValueError, match=match):
        read(folder(tmp_path), training=training, **others)
