"""Another rank: what is matched, held against draws of A, and trained adapters at another rank."""

import json

import numpy as np
import pytest

from command_line import called
from linnet import Weights
from linnet.lora import Adapter, matched_alpha, read, resize_folder, resized
from linnet.lora._safetensors import read_tensors
from lora.test_reading import folder

DIM = 400


def drawn(init, rank, rng):
    """A as peft draws it."""
    if init == "gaussian":
        return rng.normal(size=(rank, DIM)) / rank
    return rng.uniform(-1, 1, size=(rank, DIM)) / np.sqrt(DIM)


def first_step(init, adapter, optimizer):
    """How far the first step of B moves the product, over draws: for a gradient u v^T, along v."""
    rng, moved = np.random.default_rng(0), []
    for _ in range(300):
        A, v = drawn(init, adapter.rank, rng), rng.normal(size=DIM)
        v /= np.linalg.norm(v)
        slope = adapter.scale * A @ v  # of each row of B
        step = slope if optimizer == "sgd" else np.sign(slope)
        moved.append(adapter.scale * step @ A @ v)
    return np.mean(moved)


@pytest.mark.parametrize("init", ["default", "gaussian"])
@pytest.mark.parametrize(("optimizer", "what"), [("sgd", "kernel"), ("adamw", "adam")])
@pytest.mark.parametrize("scaling", ["standard", "rslora"])
def test_the_first_steps_are_matched(init, optimizer, what, scaling):
    small = Adapter(rank=8, alpha=16, init=init, scaling=scaling)
    large = small.with_(rank=64, alpha=matched_alpha(small, 64, what))
    steps = [first_step(init, adapter, optimizer) for adapter in (small, large)]
    assert steps[1] == pytest.approx(steps[0], rel=0.1)
    wrong = small.with_(rank=64, alpha=matched_alpha(small, 64, "adam" if what == "kernel" else "kernel"))
    assert abs(np.log(first_step(init, wrong, optimizer) / steps[0])) > 0.9


@pytest.mark.parametrize("init", ["default", "gaussian"])
def test_the_clock_and_the_threshold_are_matched(init):
    small = Adapter(rank=8, alpha=16, in_dim=DIM, init=init, optimizer="sgd", learning_rate_a=0.1)
    for what, read_off in (("time_per_step", lambda a: a.time_per_step), ("threshold", lambda a: a.threshold.mean())):
        large = small.with_(rank=64, alpha=matched_alpha(small, 64, what))
        assert read_off(large) == pytest.approx(read_off(small))
        assert read_off(small.with_(rank=64)) != pytest.approx(read_off(small))


def trained(rank=6, seed=0, scaling="standard"):
    rng = np.random.default_rng(seed)
    weights = Weights(rng.normal(size=(rank, 12)), rng.normal(size=(9, rank)))
    return Adapter(rank=rank, alpha=5.0, scaling=scaling, optimizer="adamw", learning_rate_a=1e-3, weights=weights)


@pytest.mark.parametrize("scaling", ["standard", "rslora"])
def test_compressed_it_is_the_nearest_product(scaling):
    adapter = trained(scaling=scaling)
    full = adapter.scale * adapter.weights.product
    u, values, v = np.linalg.svd(full)
    found = resized(adapter, 2)
    assert found.adapter.scale == pytest.approx(adapter.scale)
    new = found.adapter.scale * found.adapter.weights.product
    np.testing.assert_allclose(new, u[:, :2] * values[:2] @ v[:2], atol=1e-12)
    np.testing.assert_allclose(found.error, np.linalg.norm(full - new))
    np.testing.assert_allclose(found.kept, (values[:2] ** 2).sum() / (values**2).sum())
    np.testing.assert_allclose(found.adapter.weights.imbalance, 0, atol=1e-12)
    assert any("optimizer starts anew" in condition for condition in found.conditions)
    with_alpha = resized(adapter, 2, alpha=40.0).adapter
    np.testing.assert_allclose(with_alpha.scale * with_alpha.weights.product, new, atol=1e-12)


def test_grown_it_is_the_same_and_can_learn():
    adapter = trained()
    found = resized(adapter, 11)
    new = found.adapter.weights
    np.testing.assert_allclose(found.adapter.scale * new.product, adapter.scale * adapter.weights.product, atol=1e-12)
    assert found.error == 0 and found.kept == 1
    assert (np.linalg.norm(new.first, axis=1) > 0.1).all()  # with a row and its column zero nothing would move
    assert not new.second[:, 6:].any()
    assert any("5 of 11 directions are new" in condition for condition in found.conditions)
    untrained = adapter.with_(weights=Weights(adapter.weights.first, 0 * adapter.weights.second))
    assert resized(untrained, 3).adapter.weights.first.any()


def test_what_has_no_other_rank_is_refused():
    for adapter, match in (
        (Adapter(rank=2, alpha=2), "must have its weights"),
        (trained().with_(dora=True), "without DoRA"),
        (3, "`adapter` must"),
    ):
        with pytest.raises(ValueError, match=match):
            resized(adapter, 4)
    with pytest.raises(ValueError, match="`what` must be one of"):
        matched_alpha(Adapter(rank=2, alpha=2), 4, "speed")
    with pytest.raises(ValueError, match="must start with B at zero"):
        matched_alpha(Adapter(rank=2, alpha=2, init="pissa"), 4)


def saved(tmp_path):
    rng = np.random.default_rng(0)
    tensors = {}
    for name, rank in (("q_proj", 8), ("v_proj", 4)):
        for letter, shape in (("A", (rank, 12)), ("B", (10, rank))):
            tensors[f"base_model.model.m.{name}.lora_{letter}.weight"] = ("F32", rng.normal(size=shape))
    (tmp_path / "old").mkdir()
    return folder(tmp_path / "old", {"rank_pattern": {"v_proj": 4}}, tensors)


def test_a_folder_at_another_rank(tmp_path, capsys):
    source, out = saved(tmp_path), tmp_path / "new"
    made = resize_folder(source, 5, out)
    before, after = read(source), read(out)
    assert json.loads((out / "adapter_config.json").read_text())["rank_pattern"] == {}
    for name, found in after.items():
        assert (found.rank, found.scale) == (5, 2.0)
        old = before[name].scale * before[name].weights.product
        gap = np.linalg.norm(found.scale * found.weights.product - old)
        assert gap == pytest.approx(made[name].error, abs=1e-4)
    assert made["m.v_proj"].error == 0 < made["m.q_proj"].error  # one of rank 4 is grown
    assert set(read_tensors(out / "adapter_model.safetensors")) == set(
        read_tensors(source / "adapter_model.safetensors")
    )
    with pytest.raises(ValueError, match="`out` must not exist yet"):
        resize_folder(source, 5, out)
    with pytest.raises(ValueError, match="`source` must be a folder with"):
        resize_folder(tmp_path, 5, tmp_path / "other")
    status, out, _ = called(capsys, "lora", source, "--rank", 4, "--out", tmp_path / "four")
    said = " ".join(out.split())
    assert status == 0 and "keeps 100.0000%" in said and "the optimizer starts anew" in said
    assert called(capsys, "lora", source, "--rank", 4).status == 2


@pytest.mark.parametrize("rank", [np.int32(2), np.array(2), 2.0])
def test_a_rank_in_another_form_is_the_same_rank(rank, tmp_path):
    resize_folder(saved(tmp_path), rank, tmp_path / "new")
    assert json.loads((tmp_path / "new" / "adapter_config.json").read_text())["r"] == 2


@pytest.mark.parametrize(
    ("rank", "alpha", "line"),
    [(10**19, None, "`rank`"), (300_000_000, None, "GiB"), (2, 1e-150, "`alpha` must be"), (2, 5e-324, "`alpha` must")],
)
def test_a_size_beyond_the_machine_or_its_numbers_is_refused(rank, alpha, line, tmp_path):
    with pytest.raises(ValueError, match=line):
        resize_folder(saved(tmp_path), rank, tmp_path / "new", alpha=alpha)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("what", [["kernel"], None, "rank"])
def test_what_is_matched_is_one_of_four_names(what):
    with pytest.raises(ValueError, match="`what` must be one of"):
        matched_alpha(Adapter(rank=16, alpha=32), 8, what)


def test_an_adapter_that_could_not_be_written_whole_is_not_there(tmp_path, monkeypatch):
    source = saved(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("linnet.lora.resizing.write_whole", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            resize_folder(source, 2, tmp_path / "new")
    assert not (tmp_path / "new").exists()
    resize_folder(source, 2, tmp_path / "new")
