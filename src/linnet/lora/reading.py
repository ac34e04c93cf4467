"""Adapters from where they are: a peft model with its optimizer, a saved folder, a configuration file."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import NoneType
from typing import Any, NoReturn

import numpy as np

from linnet._arguments import count, non_negative, positive, shown
from linnet.inits.weights import Weights
from linnet.lora._patterns import values_by_pattern
from linnet.lora._safetensors import parse_json, read_bytes, read_tensors
from linnet.lora.adapter import Adapter
from linnet.lora.training_arguments import training_options

CONFIG, TENSORS = "adapter_config.json", "adapter_model.safetensors"


def read(
    source: object,
    optimizer: object = None,
    *,
    learning_rate: float | None = None,
    plus_ratio: float | None = None,
    weight_decay: float = 0.0,
    momentum: float = 0.0,
    eps: float = 1e-8,
    clip: float | None = None,
    training: object = None,
    in_dim: int | None = None,
    out_dim: int | None = None,
) -> dict[str, Adapter]:
    r"""Read the adapters of a model or of a saved configuration, by the names of their modules.

    To check a single setting by hand, make an `Adapter` directly.

    **Arguments:**

    - `source`: a peft model; or a path to an `adapter_config.json` or to the folder that holds one. From a folder with
      `adapter_model.safetensors` the weights are read too. Paths need no PyTorch.
    - `optimizer`: the model's optimizer, from whose groups rates and decays are read; or a name, `"sgd"`, `"adam"`,
      `"adamw"`, whose settings are the arguments that follow
    - `learning_rate`: learning rate of A
    - `plus_ratio`: ratio $\eta_B/\eta_A$ of the two learning rates
    - `weight_decay`, `momentum`, `eps`: settings of the optimizer
    - `clip`: the largest global norm of the gradients, 0 if they are not clipped; no optimizer knows it
    - `training`: arguments of a `transformers.Trainer`, from which all of these are read (only `clip` if an optimizer
      is given): the object, a mapping, or a path to its JSON (`args.to_json_string()`). A `training_args.bin` is a
      pickle and is never read.
    - `in_dim`, `out_dim`: size of the frozen matrices, which a configuration without weights does not contain

    **Returns** `Adapter`s by the name of their module.

    **Example:**

        >>> import json, tempfile
        >>> from pathlib import Path
        >>> from linnet.lora import read
        >>> settings = {"peft_type": "LORA", "r": 8, "lora_alpha": 16, "target_modules": ["q_proj"]}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "adapter_config.json"
        ...     _ = file.write_text(json.dumps(settings))
        ...     adapters = read(file, "adamw", learning_rate=2e-4)
        >>> {name: adapter.scale for name, adapter in adapters.items()}
        {'q_proj': 2.0}
    """
    by_name = optimizer is None or isinstance(optimizer, str)
    settings = {"weight_decay_a": non_negative("weight_decay", weight_decay), "momentum": momentum}
    settings["eps_a"] = non_negative("eps", eps)
    if training is not None:
        if isinstance(optimizer, str) or (weight_decay, momentum, eps, clip, learning_rate) != (0, 0, 1e-8, None, None):
            raise ValueError(
                "`optimizer` by name, rates, decays, `eps` and `clip` are read from `training`: give one or the other."
            )
        options = training_options(training, clip_only=not by_name)
        learning_rate = options.get("learning_rate_a")
    else:
        options = {"clip": clip} | (settings | {"optimizer": optimizer} if by_name else {})
    if not by_name and (learning_rate is not None or plus_ratio is not None):
        raise ValueError("`learning_rate` and `plus_ratio` are read from the optimizer: give them only with its name.")
    if learning_rate is not None:
        options["learning_rate_a"] = positive("learning_rate", learning_rate)
        ratio = 1.0 if plus_ratio is None else positive("plus_ratio", plus_ratio)
        options["learning_rate_b"] = options["learning_rate_a"] * ratio
        if not 0 < options["learning_rate_b"] < np.inf:
            raise ValueError(f"`plus_ratio` must leave a rate for B: {ratio:.3g} times {learning_rate} is none.")
    elif plus_ratio is not None:
        raise ValueError("`plus_ratio` is a ratio to a `learning_rate`: give that too.")
    if isinstance(source, (str, Path)):
        if optimizer is not None and not isinstance(optimizer, str):
            raise ValueError(f"`optimizer` must be a name for a path: got {type(optimizer).__name__}.")
        return _from_path(Path(source), options, in_dim, out_dim)
    if not hasattr(source, "named_modules"):
        raise ValueError(f"`source` must be a path or a PyTorch model: got {type(source).__name__}.")
    return _from_model(source, optimizer if not isinstance(optimizer, str) else None, options)


def _from_path(path: Path, options: dict[str, Any], in_dim: int | None, out_dim: int | None) -> dict[str, Adapter]:
    """Read the adapters of a saved configuration, with their weights where the folder has them."""
    folder, file = (path, path / CONFIG) if path.is_dir() else (path.parent, path)
    if not file.is_file():
        raise ValueError(f"`source` must be an {CONFIG} or a folder with one: there is no {file}.")
    config, tensors = configuration(file), folder / TENSORS
    if path.is_dir() and tensors.exists():
        if not tensors.is_file():
            raise ValueError(f"`source` must hold its weights in a file: {tensors} is none.")
        factors = _factors_by_module(read_tensors(tensors), tensors)
        settings = _settings_by_module(config, file, factors)
        return {
            name: _build_adapter(file, name, settings[name] | {"weights": Weights(first, second)}, options)
            for name, (first, second) in factors.items()
        }
    targets = config.get("target_modules") or ["(every target)"]
    names = [targets] if isinstance(targets, str) else sorted(targets)
    sizes = {"in_dim": in_dim, "out_dim": out_dim}
    settings = _settings_by_module(config, file, names)
    return {name: _build_adapter(file, name, settings[name] | sizes, options) for name in names}


def _build_adapter(file: Path, name: str, settings: dict[str, Any], options: dict[str, Any]) -> Adapter:
    """Build an adapter; a refusal names the module and the folder."""
    try:
        return Adapter(**settings, **options)
    except ValueError as reason:
        raise ValueError(f"{name} of {file.parent}: {reason}") from None


def configuration(file: Path) -> dict[str, Any]:
    """The settings of an `adapter_config.json`, each of a kind that makes sense."""
    content = read_bytes(file, "`source`")
    config = parse_json(content, f"`source` must be readable JSON: {file}")
    if not isinstance(config, dict) or "r" not in config or "lora_alpha" not in config:
        raise ValueError(
            f"`source` must be the configuration of a LoRA adapter with `r` and `lora_alpha`: {file} is not."
        )
    if str(config.get("peft_type") or "LORA").upper() != "LORA":
        raise ValueError(f"`source` must be a LoRA adapter: {file} is of type {shown(config['peft_type'])}.")

    def refuse(name: str, wanted: str) -> NoReturn:
        raise ValueError(f"`{name}` of {file} must be {wanted}: got {shown(config[name])}.")

    patterns = {name: config.get(name) or {} for name in ("rank_pattern", "alpha_pattern")}
    for name, by_pattern in patterns.items():
        if not isinstance(by_pattern, dict) or not all(map(_is_pattern, by_pattern)):
            refuse(name, "numbers by patterns of names")
    for name, values in {"r": patterns["rank_pattern"], "lora_alpha": patterns["alpha_pattern"]}.items():
        for value in (config[name], *values.values()):
            if isinstance(value, bool):
                refuse(name, "a number")
            (count if name == "r" else positive)(f"{name} in {file}", value)
    for name in ("use_rslora", "use_dora"):
        if not isinstance(config.get(name), (bool, NoneType)):
            refuse(name, "true or false")
    targets = config.get("target_modules")
    each = targets if isinstance(targets, list) else [targets or ""]
    if not all(isinstance(target, str) for target in each):
        refuse("target_modules", "names")
    return config


def _is_pattern(text: str) -> bool:
    """Return whether a text is a regular expression."""
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError):
        return False
    return True


def _settings_by_module(config: Mapping[str, Any], file: Path, names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Rank, alpha and the rest for the modules of these names: peft lets patterns of names override the first two."""
    names = list(names)
    ranks, alphas = (
        values_by_pattern(config.get(name), names, f"`{name}` of {file}") for name in ("rank_pattern", "alpha_pattern")
    )
    return {
        name: {
            "rank": ranks.get(name, config["r"]),
            "alpha": alphas.get(name, config["lora_alpha"]),
            "scaling": "rslora" if config.get("use_rslora") else "standard",
            "init": config.get("init_lora_weights", True),
            "dora": bool(config.get("use_dora", False)),
        }
        for name in names
    }


def _factors_by_module(tensors: Mapping[str, np.ndarray], file: Path) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """A and B by module: convolutions as matrices on patches, embeddings as matrices on one-hot vectors."""
    pairs = {}
    factors = [key for key in tensors if "lora_A" in key or "lora_embedding_A" in key]
    partners = {key: key.replace("lora_A", "lora_B").replace("lora_embedding_A", "lora_embedding_B") for key in factors}
    alone = {key for key in tensors if "lora_B" in key or "lora_embedding_B" in key} - set(partners.values())
    if alone or not factors:
        what = f"{min(alone)} has no A" if alone else "it has none"
        raise ValueError(f"`source` must hold pairs of `lora_A` and `lora_B`: of {file}, {what}.")
    for key, partner in partners.items():
        if partner not in tensors:
            raise ValueError(f"`source` must hold both factors: {key} has no {partner}.")
        name = re.split(r"\.lora_(?:embedding_)?A", key)[0].removeprefix("base_model.model.")
        first, second = tensors[key], tensors[partner]
        if first.ndim < 2 or second.ndim < 2 or not first.size or not second.size:
            raise ValueError(f"`source` must hold matrices: {key} of {file} has {first.shape}, B {second.shape}.")
        if len(first) != math.prod(second.shape[1:]):
            raise ValueError(f"`source` must hold factors of one rank: {key} has {first.shape}, B {second.shape}.")
        pairs[name] = (first.reshape(len(first), -1), second.reshape(len(second), -1))
    return pairs


def _from_model(model: Any, optimizer: Any, options: dict[str, Any]) -> dict[str, Adapter]:
    """Read the adapters of a peft model, with their rates where there is an optimizer."""
    groups = _groups_by_parameter(optimizer)
    configs = getattr(model, "peft_config", {})
    adapters: dict[str, Adapter] = {}
    for name, module in model.named_modules():
        for adapter, first, second in lora_factors(module):
            config = configs.get(adapter) if isinstance(configs, Mapping) else None
            settings = _module_settings(module, adapter, config) | options
            if optimizer is not None:
                settings |= _rates_of_factors(optimizer, groups.get(id(first)), groups.get(id(second)))
            trained = [p.requires_grad and (optimizer is None or id(p) in groups) for p in (first, second)]
            if trained.count(True) == 1:
                settings["frozen"] = "b" if trained[0] else "a"
            adapters[label_of(name, adapter)] = Adapter(
                **settings, weights=Weights(as_matrix(first), as_matrix(second))
            )
    if not adapters:
        raise ValueError("`source` must hold LoRA adapters: none of its modules has `lora_A` and `lora_B`.")
    return adapters


def label_of(name: str, adapter: str) -> str:
    """Name of an adapter: the name of its module in the adapted model, and its own name if it has one."""
    label = name.removeprefix("base_model.model.")
    return label if adapter == "default" else f"{label}:{adapter}"


def lora_factors(module: object) -> list[tuple[str, Any, Any]]:
    """(adapter's name, A, B) of a module of peft, as parameters; empty for any other module."""
    if not hasattr(module, "scaling") or not isinstance(getattr(module, "scaling", None), Mapping):
        return []
    factors = []
    for a_name, b_name in (("lora_A", "lora_B"), ("lora_embedding_A", "lora_embedding_B")):
        firsts, seconds = getattr(module, a_name, {}), getattr(module, b_name, {})
        for adapter in firsts.keys():  # noqa: SIM118 (peft's containers iterate over nothing else)
            first, second = firsts[adapter], seconds[adapter]
            factors.append((adapter, getattr(first, "weight", first), getattr(second, "weight", second)))
    return factors


def as_matrix(parameter: Any) -> np.ndarray:
    """A parameter as a float64 matrix (its first axis against all others), wherever it lives."""
    array = parameter.detach().double().cpu().numpy()
    return array.reshape(array.shape[0], -1)


def _module_settings(module: Any, adapter: str, config: Any) -> dict[str, Any]:
    """Return rank, alpha, scaling, start and DoRA of one adapter of a module."""
    rank, alpha, scale = module.r[adapter], module.lora_alpha[adapter], module.scaling[adapter]
    scaling = "rslora" if getattr(config, "use_rslora", False) else "standard"
    divisor = rank if scaling == "standard" else np.sqrt(rank)
    if not np.isclose(alpha / divisor, scale, rtol=1e-12):  # someone set the scale itself
        alpha = scale * divisor
    return {
        "rank": rank,
        "alpha": alpha,
        "scaling": scaling,
        "init": getattr(config, "init_lora_weights", True),
        "dora": bool(getattr(module, "use_dora", {}).get(adapter, False)),
    }


def _groups_by_parameter(optimizer: object) -> dict[int, dict[str, Any]]:
    """Return the parameter group of each parameter, by its `id`."""
    if optimizer is None:
        return {}
    if not hasattr(optimizer, "param_groups"):
        raise ValueError(f"`optimizer` must be a name or a PyTorch optimizer: got {type(optimizer).__name__}.")
    return {id(parameter): group for group in optimizer.param_groups for parameter in group["params"]}


def _rates_of_factors(optimizer: object, first: dict[str, Any] | None, second: dict[str, Any] | None) -> dict[str, Any]:
    """Rates of A and B from their groups; a factor that the optimizer does not have counts with the other's."""
    a, b = first or second, second or first
    if a is None or b is None:
        raise ValueError("`optimizer` must hold the adapters' parameters: it has neither A nor B of one of them.")
    if not all(isinstance(group.get("lr"), (int, float)) or hasattr(group.get("lr"), "item") for group in (a, b)):
        raise ValueError(f"`optimizer` must have learning rates: {type(optimizer).__name__} makes its own.")
    return {
        "optimizer": family(optimizer, a, b),
        "learning_rate_a": float(a["lr"]),
        "learning_rate_b": float(b["lr"]),
        "weight_decay_a": float(a.get("weight_decay", 0.0)),
        "weight_decay_b": float(b.get("weight_decay", 0.0)),
        "eps_a": float(a.get("eps", 0.0)),
        "eps_b": float(b.get("eps", 0.0)),
        "momentum": float(a.get("momentum", 0.0)),
    }


def family(optimizer: object, a: Mapping[str, Any], b: Mapping[str, Any]) -> str:
    """ "sgd", "adam", "adamw" or "muon"; another name where A and B differ in more than rate, decay and epsilon."""
    while not type(optimizer).__name__.lower().startswith(("sgd", "adam", "muon")) and hasattr(optimizer, "optimizer"):
        optimizer = optimizer.optimizer  # wrapped, as accelerate does
    name = type(optimizer).__name__.lower()
    if name == "adam" and a.get("decoupled_weight_decay"):
        name = "adamw"
    for option in ("momentum", "dampening", "nesterov", "betas", "amsgrad", "ns_steps", "adjust_lr_fn"):
        if a.get(option) != b.get(option):
            return f"{name} with another {option} for b"
    return name
