"""Findings, and the command that prints them."""

import json

import numpy as np
import pytest

import linnet as ln
from command_line import called
from linnet.lora import Adapter, lint, read

PLAIN = {"rank": 8, "alpha": 16, "in_dim": 4096, "out_dim": 4096, "optimizer": "adamw", "learning_rate_a": 2e-4}


def rules(found):
    return {finding.rule: finding for finding in found}


@pytest.mark.parametrize(
    ("changes", "rule", "severity", "number", "words"),
    [
        ({"init": "gaussian"}, "initialization", "warning", 192, "192 times the default's imbalance"),
        ({"learning_rate_b": 32e-4}, "plus_ratio", "note", 16, "is alpha x 16"),
        ({"learning_rate_b": 32e-4, "optimizer": "sgd"}, "plus_ratio", "note", 4, "is alpha x 4"),
        ({"clip": 1.0}, "clipping", "warning", 1, "only while no step is clipped"),
        ({"clip": None}, "clipping", "note", 1, "no clipping is assumed"),
        ({"weight_decay_a": 0.1}, "weight_decay", "note", 0.05, "0.05 on sB"),
        ({"rank": 8192}, "rank", "warning", 2, "exceeds"),
        ({"init": "orthogonal", "rank": 7}, "rank", "error", 7, "even rank"),
        ({"init": "olora"}, "start", "note", 1, "B(0) not zero"),
        ({"frozen": "a"}, "frozen", "note", 8, "A is frozen: only B learns"),
        ({"optimizer": "lion"}, "optimizer", "warning", np.nan, "'lion'"),
        ({}, "adam", "note", 2 / 3, "does not conserve"),
        ({}, "scale", "note", 2, "learning rate of B by s = 2"),
        ({"optimizer": "sgd"}, "scale", "note", 4, "learning rate of B by s² = 4"),
    ],
)
def test_each_rule_finds_what_it_is_for(changes, rule, severity, number, words):
    found = rules(lint(Adapter(**(PLAIN | changes))))[rule]
    assert found.severity == severity
    assert words in found.sentence
    np.testing.assert_allclose(found.number, number)
    assert found.reference
    assert str(found).startswith(severity)


def test_the_plain_default_has_only_notes():
    assert {finding.severity for finding in lint(Adapter(**PLAIN))} == {"note"}
    assert set(rules(lint(Adapter(**PLAIN)))) == {"scale", "adam", "clipping"}
    assert set(rules(lint(Adapter(**PLAIN, clip=0)))) == {"scale", "adam"}


def test_the_rate_of_sgd_is_compared_with_the_stable_one():
    adapter = Adapter(**(PLAIN | {"optimizer": "sgd"}))
    limit = adapter.stable_learning_rate(10.0)
    for rate, severity in ((1.1 * limit, "error"), (0.7 * limit, "warning"), (0.1 * limit, None)):
        found = rules(lint(adapter.with_(learning_rate_a=rate, learning_rate_b=rate), curvature=10.0))
        assert ("stability" in found) == (severity is not None)
        if severity:
            assert found["stability"].severity == severity


def test_the_same_finding_of_many_modules_is_one():
    found = lint({"q": Adapter(**PLAIN), "v": Adapter(**PLAIN), "k": Adapter(**(PLAIN | {"alpha": 32}))})
    scales = [finding.where for finding in found if finding.rule == "scale"]
    assert scales == [("q", "v"), ("k",)]
    with pytest.raises(ValueError, match="must be an `Adapter`"):
        lint(dict.fromkeys("qv", 3))


def test_the_command(tmp_path, capsys):
    config = {"r": 8, "lora_alpha": 16, "target_modules": ["q_proj", "v_proj"], "init_lora_weights": "gaussian"}
    (tmp_path / "adapter_config.json").write_text(json.dumps(config))
    options = "--optimizer adamw --lr 2e-4 --in-dim 4096 --lora-plus-ratio 16 --alpha 64"
    status, out, _ = called(capsys, "lora", tmp_path, *options.split())
    assert status == 0
    for words in (
        "192 times the default's imbalance",
        "LoRA+ ratio 16 under Adam is alpha x 16",
        "B with lr 0.0008",
        "(identity)",
    ):
        assert words in out
    status, out, _ = called(capsys, "lora", tmp_path, "--optimizer", "sgd", "--lr", 0.1)
    assert status == 0
    assert "imbalance unknown" in out
    assert "give the input dimension" in out
    status, _, err = called(capsys, "lora", tmp_path / "nothing")
    assert status == 1
    assert err.count("\n") == 1
    assert "there is no" in err


def test_a_change_of_alpha_is_answered_in_one_line_with_the_groups(capsys):
    status, out, _ = called(
        capsys,
        "lora",
        "--from",
        "alpha=64,r=32,lr=1e-5",
        "--to",
        "alpha=32",
        "--optimizer",
        "adamw",
        "--weight-decay",
        0.1,
    )
    assert (
        status == 0
        and "multiply B's rate by 2, its weight decay by 0.5, its eps by 0.5. Keep all settings of A."
        in " ".join(out.split())
    )
    assert '"params": b, "lr": 2e-05, "weight_decay": 0.05, "eps": 5e-09' in out
    assert '"params": a, "lr": 1e-05, "weight_decay": 0.1, "eps": 1e-08' in out
    for optimizer, alpha, fits in (("sgd", 64, "kernel"), ("adamw", 16, "of Adam")):
        status, out, _ = called(
            capsys, "lora", "--from", "alpha=16,r=16,lr=1e-4", "--to", "alpha=512,r=256", "--optimizer", optimizer
        )
        said = [" ".join(line.split()) for line in out.splitlines()]
        assert status == 0 and "different models" in out
        assert any(line.startswith("alpha 64 the initial kernel") for line in said)
        assert any(
            line.startswith("alpha 256 the time per step and the threshold of SGD") and "16 times as large" in line
            for line in said
        )
        marked = [line for line in said if line.endswith(f"<- for {optimizer}")]
        assert len(marked) == 1 and marked[0].startswith(f"alpha {alpha} ") and fits in marked[0]
        times = 64 if optimizer == "sgd" else 32
        assert any(line.startswith(f"alpha 512 makes the first steps {times} times as large") for line in said)
    for wrong in ("r=16", "", "r=2.5"):
        assert called(capsys, "lora", "--from", "alpha=16,r=16,lr=1e-4", "--to", wrong)[0] == 2
    status, _, err = called(capsys, "lora", "--from", "alpha=16", "--to", "alpha=16")
    assert status == 2 and "--from takes alpha=...,lr=...,r=..." in err


def test_a_trained_adapter_is_answered_as_it_began(tmp_path, capsys):
    from lora.test_reading import folder

    ones = np.ones
    tensors = {"m.q_proj.lora_A.weight": ("F32", ones((8, 6))), "m.q_proj.lora_B.weight": ("F32", ones((5, 8)))}
    path = folder(tmp_path, None, tensors)
    _, out, _ = called(capsys, "lora", path, "--alpha", 64)
    said = " ".join(out.split("The same training")[1].split())
    assert "(identity)" in said and "none" not in said
    (saved,) = read(path).values()
    factor = saved.scale / (64 / saved.rank)
    assert f"if B is multiplied by {factor:.6g}, to continue training from these weights" in said


def test_an_initialization_with_b_not_zero_asks_for_its_option(tmp_path, capsys):
    config = {"r": 8, "lora_alpha": 16, "target_modules": ["q_proj"], "init_lora_weights": "olora"}
    (tmp_path / "adapter_config.json").write_text(json.dumps(config))
    _, out, _ = called(capsys, "lora", tmp_path, "--alpha", 64)
    assert "say it with `--rescale-init`" in " ".join(out.split())
    _, out, _ = called(capsys, "lora", tmp_path, "--alpha", 64, "--rescale-init")
    assert "(identity)" in out and "B(0) is multiplied by 0.25" in " ".join(out.split())


def test_an_adapter_merged_with_the_wrong_scale_is_noticed():
    rng = np.random.default_rng(0)
    weights = ln.Weights(rng.standard_normal((4, 6)), rng.standard_normal((5, 4)))
    merged = {"rank": 4, "alpha": 4, "scaling": "rslora", "weights": weights}
    (found,) = (one for one in lint(Adapter(**merged)) if one.rule == "merged")
    assert found.severity == "warning" and found.number == 2.0 and "2 times too large" in found.sentence
    start = ln.Weights(weights.first, np.zeros((5, 4)))
    for changes in ({"alpha": 8}, {"scaling": "standard"}, {"weights": start}, {"weights": None}):
        assert not [one for one in lint(Adapter(**merged | changes)) if one.rule == "merged"]


def test_the_command_reads_the_arguments_of_a_trainer(tmp_path, capsys):
    from lora.test_reading import TRAINING, folder

    file = tmp_path / "training_args.json"
    file.write_text(json.dumps(TRAINING))
    (tmp_path / "training_args.bin").write_bytes(b"PK")
    path = folder(tmp_path)
    _, out, _ = called(capsys, "lora", path, "--alpha", 64, "--training-args", file)
    assert "adamw, learning rate 0.0003 of A" in out and "clipped at the global norm 1.0" in out
    assert "(scaling rule, not identity)" in out and "(identity)" not in out
    _, out, _ = called(capsys, "lora", path, "--alpha", 64)
    said = " ".join(out.split())
    assert "clipping unknown, so none is assumed" in said and "training_args.bin was not read" in said
    assert "(identity)" in said and "if gradients are not clipped, which the settings do not contain" in said
    status, _, err = called(capsys, "lora", path, "--training-args", file, "--lr", 1e-3)
    assert status == 2 and "leave those out" in err
    status, _, err = called(capsys, "lora", path, "--training-args", tmp_path / "training_args.bin")
    assert status == 1 and "is a pickle" in err


def test_muon_is_known_and_gets_no_verdict(capsys):
    """Its rates are converted; whether the adapter learns lazily or actively is not said."""
    _, out, _ = called(capsys, "lora", "--from", "alpha=64,r=32,lr=1e-3", "--to", "alpha=32", "--optimizer", "muon")
    out = " ".join(out.split())
    assert "under Muon (identity): multiply B's rate by 2, its eps by 0.5" in out
    assert 'torch.optim.Muon([{"params": a, "lr": 0.001, "weight_decay": 0, "eps": 1e-07}' in out
    found = {finding.rule: finding.sentence for finding in lint(Adapter(**PLAIN | {"optimizer": "muon"}))}
    assert "Muon does not conserve the imbalance" in found["muon"] and "optimizer" not in found
