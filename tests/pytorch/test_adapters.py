"""Adapters read from peft models, and equivalent settings trained by PyTorch's own optimizers in a transformer."""

import copy

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-torch installs it")
peft = pytest.importorskip("peft", reason="peft is not installed: make test-torch installs it")

from torch import nn  # noqa: E402

import linnet as ln  # noqa: E402
from pytorch import small  # noqa: E402

OPTIMIZERS = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW}


@pytest.fixture(scope="module")
def base():
    return small.llama()


def trained(base, adapter, batches, **settings):
    model = small.adapted(
        base, seed=1, r=adapter.rank, lora_alpha=adapter.alpha, use_rslora=adapter.scaling == "rslora", **settings
    )
    optimizer = OPTIMIZERS[adapter.optimizer](ln.torch.parameter_groups(model, adapter))
    return np.array(small.losses(model, optimizer, batches))


CASES = [
    ("sgd", {"alpha": 30.0}, {}),
    ("adamw", {"plus_ratio": 1.0}, {"lora_dropout": 0.1}),
    ("adam", {"alpha": 30.0}, {"use_dora": True}),
]


@pytest.mark.parametrize(("optimizer", "change", "settings"), CASES)
def test_equivalent_settings_train_identically_in_a_transformer(base, optimizer, change, settings):
    rate = 0.15 if optimizer == "sgd" else 3e-3
    adapter = ln.lora.Adapter(
        rank=4,
        alpha=5.0,
        optimizer=optimizer,
        learning_rate_a=rate,
        learning_rate_b=8 * rate if optimizer == "adamw" else rate,
        momentum=0.9 if optimizer == "sgd" else 0.0,
        weight_decay_a=1e-2,
    )
    other = ln.lora.equivalent(adapter, **change).adapter
    batches = small.text(8, 32, 30)
    wanted = trained(base, adapter, batches, **settings)
    np.testing.assert_allclose(trained(base, other, batches, **settings), wanted, atol=1e-6)
    folk = adapter.with_(alpha=other.alpha)  # the same rates
    assert np.abs(trained(base, folk, batches, **settings) - wanted).max() > 0.05


def test_reading_a_model_with_its_optimizer(base):
    model = small.adapted(base, r=4, lora_alpha=8, use_rslora=True, init_lora_weights="gaussian", lora_bias=False)
    from peft.optimizers import create_loraplus_optimizer

    optimizer = create_loraplus_optimizer(
        model, torch.optim.AdamW, lr=1e-3, loraplus_lr_ratio=16, loraplus_weight_decay=0.1
    )
    found = ln.lora.read(model, optimizer, clip=1.0)
    assert len(found) == 6
    adapter = found["model.layers.1.mlp.down_proj"]
    assert (adapter.rank, adapter.scale, adapter.in_dim, adapter.out_dim, adapter.init) == (4, 4.0, 64, 32, "gaussian")
    assert (adapter.optimizer, adapter.learning_rate_a, adapter.weight_decay_b, adapter.clip) == (
        "adamw",
        1e-3,
        0.1,
        1.0,
    )
    assert adapter.plus_ratio == pytest.approx(16)
    layer = model.base_model.model.model.layers[1].mlp.down_proj
    np.testing.assert_array_equal(adapter.weights.first, layer.lora_A["default"].weight.detach().numpy())
    assert not adapter.weights.second.any()
    said = {finding.rule for finding in ln.lora.lint(found)}
    assert {"plus_ratio", "clipping", "scale", "initialization", "adam"} <= said
    plain = ln.lora.read(model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5))[
        "model.layers.1.mlp.down_proj"
    ]
    assert (plain.optimizer, plain.momentum) == ("sgd", 0.5)


def test_a_saved_adapter_reads_as_its_model_does(base, tmp_path):
    model = small.adapted(base, r=4, lora_alpha=8, rank_pattern={"q_proj": 2}, init_lora_weights=False)
    model.save_pretrained(tmp_path)
    from_disk, from_memory = ln.lora.read(tmp_path), ln.lora.read(model)
    assert set(from_disk) == set(from_memory)
    for name, adapter in from_memory.items():
        assert (from_disk[name].rank, from_disk[name].scale, from_disk[name].init) == (
            adapter.rank,
            adapter.scale,
            "random",
        )
        np.testing.assert_array_equal(from_disk[name].weights.product, adapter.weights.product)
        np.testing.assert_allclose(from_disk[name].imbalance, adapter.imbalance)


@pytest.mark.parametrize("init", [True, "gaussian", False, "orthogonal", "pissa"])
def test_peft_draws_by_the_laws(init):
    """Against the library itself: sizes at which single draws are near their means."""
    torch.manual_seed(0)
    sizes = (300, 200) if init == "pissa" else (3000, 2000)  # one that needs an SVD, and no size to be balanced
    model = nn.Sequential(nn.Linear(*sizes, bias=False))
    config = peft.LoraConfig(r=4, lora_alpha=8, target_modules=["0"], init_lora_weights=init)
    drawn = next(iter(ln.lora.read(peft.get_peft_model(model, config)).values()))
    law = drawn.with_(weights=None)
    np.testing.assert_allclose(drawn.imbalance, law.imbalance, rtol=0.15, atol=1e-4 * (init == "pissa"))


def test_a_frozen_factor_and_wrapped_optimizers(base):
    model = small.adapted(base, r=2, lora_alpha=4)
    for name, parameter in model.named_parameters():
        if "lora_A" in name:
            parameter.requires_grad_(False)
    trained_only = [p for p in model.parameters() if p.requires_grad]
    inner = torch.optim.Adam(trained_only, lr=1e-3)

    class Wrapper:
        optimizer, param_groups = inner, inner.param_groups

    found = ln.lora.read(model, Wrapper())
    adapter = next(iter(found.values()))
    assert (adapter.frozen, adapter.optimizer, adapter.learning_rate_a) == ("a", "adam", 1e-3)
    assert "frozen" in {finding.rule for finding in ln.lora.lint(found)}


def test_groups_that_differ_in_more_are_not_called_equivalent(base):
    model = small.adapted(base, r=2, lora_alpha=4)
    first = [p for n, p in model.named_parameters() if "lora_A" in n]
    second = [p for n, p in model.named_parameters() if "lora_B" in n]
    optimizer = torch.optim.Adam([{"params": first}, {"params": second, "betas": (0.5, 0.9)}], lr=1e-3)
    adapter = next(iter(ln.lora.read(model, optimizer).values()))
    assert adapter.optimizer == "adam with another betas for b"
    with pytest.raises(ValueError, match="`optimizer` must be one of"):
        ln.lora.equivalent(adapter, alpha=1.0)


def test_what_cannot_be_read_is_refused(base):
    with pytest.raises(ValueError, match="must hold LoRA adapters"):
        ln.lora.read(base)
    model = small.adapted(base, r=2, lora_alpha=4)
    with pytest.raises(ValueError, match="`optimizer` must hold the adapters' parameters"):
        ln.lora.read(model, torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1))
    with pytest.raises(ValueError, match="read from the optimizer"):
        ln.lora.read(model, torch.optim.SGD(model.parameters(), lr=1), learning_rate=1.0)
    with pytest.raises(ValueError, match="a name or a PyTorch optimizer"):
        ln.lora.read(model, 3)
    with pytest.raises(ValueError, match="`adapter` must have learning rates"):
        ln.torch.parameter_groups(model, ln.lora.Adapter(rank=2, alpha=4))
    with pytest.raises(ValueError, match="`model` must hold LoRA adapters"):
        ln.torch.parameter_groups(base, ln.lora.Adapter(rank=2, alpha=4, learning_rate_a=1.0))


def test_weights_of_two_layers():
    torch.manual_seed(0)
    first, second = nn.Linear(5, 3), nn.Linear(3, 2).to(torch.bfloat16)
    found = ln.torch.weights_of_layers(first, second)
    assert found.first.dtype == np.float64
    np.testing.assert_array_equal(found.product, second.weight.detach().double() @ first.weight.detach().double())
    for wrong, match in (
        (3.0, "must be a linear layer"),
        (nn.Conv2d(1, 1, 1), "must be a matrix"),
        (torch.ones(2, 2).long(), "real"),
    ):
        with pytest.raises(ValueError, match=match):
            ln.torch.weights_of_layers(wrong, second)


def test_the_arguments_of_a_real_trainer(base, tmp_path):
    transformers = pytest.importorskip("transformers")
    arguments = transformers.TrainingArguments(tmp_path, use_cpu=True, learning_rate=1e-3, report_to=[])
    (tmp_path / "training.json").write_text(arguments.to_json_string())
    model = small.adapted(base, r=2, lora_alpha=4)
    for training in (arguments, arguments.to_dict(), tmp_path / "training.json"):
        adapter = next(iter(ln.lora.read(model, training=training).values()))
        assert (adapter.optimizer, adapter.learning_rate_b, adapter.clip, adapter.eps_a) == ("adamw", 1e-3, 1.0, 1e-8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    adapter = next(iter(ln.lora.read(model, optimizer, training=arguments).values()))
    assert (adapter.optimizer, adapter.learning_rate_a, adapter.clip) == ("sgd", 0.5, 1.0)


def test_groups_of_a_model_that_mixes_ranks(base):
    model = small.adapted(base, r=4, lora_alpha=8, rank_pattern={"q_proj": 2}, alpha_pattern={"down_proj": 16})
    adapter = ln.lora.Adapter(rank=4, alpha=8, optimizer="adamw", learning_rate_a=1e-3, weight_decay_a=0.1)
    with pytest.raises(ValueError, match=r"must fit every adapter.*rank 2 and s = 4.*3 more differ.*ln.lora.read"):
        ln.torch.parameter_groups(model, adapter)
    read = ln.lora.read(model, "adamw", learning_rate=1e-3, weight_decay=0.1)
    same = {name: ln.lora.equivalent(found, alpha=found.rank * 1.0).adapter for name, found in read.items()}
    with pytest.raises(ValueError, match=r"must fit every adapter of the model, those named"):
        ln.torch.parameter_groups(model, same)  # of another alpha than the model's
    groups = ln.torch.parameter_groups(model, read)
    assert [len(group["params"]) for group in groups] == [6, 6]  # one rate for all: as many groups as settings
    two = {name: found.with_(learning_rate_b=1e-3 * found.scale) for name, found in read.items()}
    rates = {(group["lr"], len(group["params"])) for group in ln.torch.parameter_groups(model, two)}
    assert rates == {(1e-3, 6), (2e-3, 2), (4e-3, 4)}
    with pytest.raises(ValueError, match=r"it lacks 'model\.layers\.0"):
        ln.torch.parameter_groups(model, {})


def test_a_resized_folder_is_what_peft_loads(base, tmp_path):
    model = small.adapted(base, r=4, lora_alpha=8, init_lora_weights=False)
    model.save_pretrained(tmp_path / "old")
    ln.lora.resize_folder(tmp_path / "old", 7, tmp_path / "grown")
    ln.lora.resize_folder(tmp_path / "grown", 4, tmp_path / "back")
    ln.lora.resize_folder(tmp_path / "old", 1, tmp_path / "one")
    batch = small.text(2, 16, 1)[0]
    wanted = small.loss_of(model, batch).item()
    found = {}
    for name in ("grown", "back", "one"):
        copied = peft.PeftModel.from_pretrained(copy.deepcopy(base), tmp_path / name).double()
        found[name] = small.loss_of(copied, batch).item()
    assert found["grown"] == pytest.approx(wanted, abs=1e-5)
    assert found["back"] == pytest.approx(wanted, abs=1e-5)
    assert abs(found["one"] - wanted) > 1e-3  # control: the loss sees what is lost
