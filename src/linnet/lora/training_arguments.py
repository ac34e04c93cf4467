"""Rates, decays and clipping from the arguments of `transformers.Trainer`: the object, a mapping, or its JSON."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from linnet._arguments import non_negative, positive, shown
from linnet.lora._safetensors import parse_json, read_bytes

DEFAULT_CLIP = 1.0  # `max_grad_norm` of transformers.TrainingArguments
PICKLE_NAME = "training_args.bin"
_NEEDED_FIELDS = ("learning_rate", "optim", "max_grad_norm")
# Trainer's names of PyTorch's own optimizers; others quantize their state or follow another rule and keep their names.
_FAMILIES = {"adamw_torch": "adamw", "adamw_torch_fused": "adamw", "adamw_hf": "adamw", "sgd": "sgd"}


def training_options(training: object, *, clip_only: bool = False) -> dict[str, Any]:
    """What the arguments of a `Trainer` mean for an `Adapter`; of them only the clipping where rates are known."""
    given = _training_fields(training)
    clip = given["max_grad_norm"]
    options: dict[str, Any] = {"clip": 0.0 if clip is None else non_negative("training.max_grad_norm", clip)}
    if clip_only:
        return options
    name = str(getattr(given["optim"], "value", given["optim"])).lower()
    extra = _optimizer_arguments(given.get("optim_args"))
    optimizer = _FAMILIES.get(name, name)
    if str(extra.get("nesterov", "false")).lower() in ("true", "1", "yes"):
        optimizer += " with nesterov"
    return options | {
        "optimizer": optimizer,
        "learning_rate_a": positive("training.learning_rate", given["learning_rate"]),
        "weight_decay_a": non_negative("training.weight_decay", given.get("weight_decay") or 0.0),
        "eps_a": non_negative("training.adam_epsilon", given.get("adam_epsilon", 1e-8)),
        "momentum": non_negative("training.momentum", float(extra.get("momentum", 0.0))) if optimizer == "sgd" else 0.0,
    }


def _training_fields(training: object) -> Mapping[str, Any]:
    """Return the arguments of a `Trainer` by name, from an object, a mapping or a file of JSON."""
    if isinstance(training, (str, Path)):
        training = _from_json(Path(training))
    elif not isinstance(training, Mapping) and all(hasattr(training, name) for name in _NEEDED_FIELDS):
        return vars(training)
    if not isinstance(training, Mapping) or not all(name in training for name in _NEEDED_FIELDS):
        raise ValueError(
            "`training` must be transformers' TrainingArguments, or the JSON of one, with "
            f"{', '.join(f'`{name}`' for name in _NEEDED_FIELDS)}: got {shown(training)}."
        )
    return training


def _from_json(file: Path) -> Any:
    """Read training arguments from JSON; refuse a pickle, which would run code."""
    if file.suffix == ".bin" or _begins_as_a_pickle(file):
        raise ValueError(
            f"`training` must be JSON: {file} is a pickle, which can run any program when read, and is not. Write "
            "the JSON where you trust it: `Path('training_args.json').write_text(trainer.args.to_json_string())`."
        )
    return parse_json(read_bytes(file, "`training`"), f"`training` must be readable JSON: {file}")


def _begins_as_a_pickle(file: Path) -> bool:
    """Whether the first bytes belong to a pickle, or to the archive that `torch.save` puts one into."""
    try:
        with file.open("rb") as stream:
            return stream.read(2) in (b"PK", *(bytes([0x80, protocol]) for protocol in range(2, 6)))
    except OSError:
        return False


def _optimizer_arguments(text: object) -> dict[str, str]:
    """`optim_args`, "momentum=0.9,nesterov=True", as names and values."""
    try:
        arguments = dict(part.split("=") for part in str(text).replace(" ", "").split(",")) if text else {}
        float(arguments.get("momentum", 0.0))
    except ValueError:
        raise ValueError(f"`training`: `optim_args` must be name=value with commas: got {shown(text)}.") from None
    return arguments
