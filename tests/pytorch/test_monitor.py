"""The monitor against dense computation, against linnet's theory, and under the conditions people train in."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-torch installs it")
pytest.importorskip("peft", reason="peft is not installed: make test-torch installs it")

from torch import nn  # noqa: E402

import linnet as ln  # noqa: E402
from linnet._arguments import positive  # noqa: E402
from linnet.torch import PairMonitor, find_pairs  # noqa: E402
from pytorch import small  # noqa: E402


def dense(pair, before, start, gradients, ratio):
    """What a reading should be, from full matrices and nothing else."""

    def matrices(first, second):
        return pair.rows_of_first(first).double().numpy(), pair.rows_of_second(second).double().numpy().T

    A, B = matrices(pair.first.detach(), pair.second.detach())
    A1, B1 = matrices(*before)
    A0, B0 = matrices(*start)
    GA, GB = matrices(*gradients)
    by_first, by_second = np.linalg.norm(B1 @ (A - A1)), np.linalg.norm((B - B1) @ A1)
    s, values = pair.scale, np.zeros(A.shape[0])
    found = np.linalg.svd(s * B @ A, compute_uv=False)[: A.shape[0]]
    values[: len(found)] = found
    shares = values / values.sum()
    shares = shares[shares > 0]
    moved, asked = B @ A - B0 @ A0, -(ratio * GB @ A0 + B0 @ GA)
    return {
        "share_first": by_first / (by_first + by_second),
        "imbalance": np.linalg.eigvalsh(s * np.sqrt(ratio) * A @ A.T - s / np.sqrt(ratio) * B.T @ B)[::-1],
        "singular_values": values,
        "effective_rank": np.exp(-(shares * np.log(shares)).sum()),
        "alignment": (moved * asked).sum() / np.linalg.norm(moved) / np.linalg.norm(asked),
    }


def close(found, wanted, digits):
    for name, value in wanted.items():
        size = np.abs(value).max() if name in ("imbalance", "singular_values") else 1.0
        np.testing.assert_allclose(getattr(found, name), value, atol=digits * size, rtol=digits, err_msg=name)


def watched(model, optimizer, closure, steps, every=4, **options):
    """Runs `closure` for some steps and compares each reading with the dense one."""
    names = {id(p): p for p in model.parameters()}
    start = {key: p.detach().clone() for key, p in names.items()}
    gradients, seen = {}, []
    with PairMonitor(model, every=every, optimizer=optimizer, **options) as monitor:
        for step in range(steps):
            before = {key: p.detach().clone() for key, p in names.items()}
            optimizer.zero_grad()
            closure(step)
            if step == 0:
                gradients = {key: torch.zeros_like(p) if p.grad is None else p.grad.clone() for key, p in names.items()}
            optimizer.step()
            if monitor.step():
                for pair, read in zip(monitor.pairs, monitor.readings[monitor.steps], strict=True):
                    keys = id(pair.first), id(pair.second)
                    parts = [[copies[key] for key in keys] for copies in (before, start, gradients)]
                    seen.append((read, dense(pair, *parts, monitor._rate_ratio(pair, monitor._current_rates()))))
    return monitor, seen


@pytest.mark.parametrize(("dtype", "digits"), [("float32", 1e-5), ("bfloat16", 1e-2)])
def test_adapters_of_a_transformer_equal_dense_computation(dtype, digits):
    model = small.adapted(small.llama(getattr(torch, dtype)), r=4, lora_alpha=8)
    trained = [p for p in model.parameters() if p.requires_grad]
    groups = [{"params": trained[0::2], "lr": 3e-3}, {"params": trained[1::2], "lr": 12e-3}]
    optimizer = torch.optim.AdamW(groups)
    batches = small.text(4, 24, 9)
    monitor, seen = watched(
        model, optimizer, lambda i: model(input_ids=batches[i], labels=batches[i]).loss.backward(), 9
    )
    assert len(monitor.pairs) == 6
    assert sorted(monitor.readings) == [1, 4, 8]
    assert not monitor.unseen
    for found, wanted in seen:
        close(found, wanted, digits)
    assert 0 < seen[-1][0].share_first < 1
    assert seen[0][0].share_first == 0  # B is zero before the first step: A moves nothing
    assert {pair.kind for pair in monitor.pairs} == {"lora"}


def test_heads_and_consecutive_layers_equal_dense_computation():
    torch.manual_seed(0)
    model = nn.Sequential(
        small.Attention(), nn.Linear(12, 5), nn.Dropout(0.0), nn.Linear(5, 3), nn.ReLU(), nn.Linear(3, 3)
    )
    fused = nn.MultiheadAttention(12, 3, batch_first=True)
    model.append(nn.ModuleDict({"unused": fused}))
    x, y = torch.randn(6, 4, 12), torch.randn(6, 4, 3)

    def closure(step):
        after = fused(x, x, x)[0]
        (((model[:-1](x) - y) ** 2).mean() + (after**2).mean()).backward()

    monitor, seen = watched(model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), closure, 8)
    kinds = [pair.kind for pair in monitor.pairs]
    assert [pair.name for pair in monitor.pairs if pair.kind == "linear"] == ["0.o_proj>1", "1>3"]
    assert kinds.count("value-output") == kinds.count("query-key") == 2 + 3
    for found, wanted in seen:
        close(found, wanted, 1e-5)


def test_the_wrong_share_would_be_seen():
    """Control: the share with the factors' own changes, |dA| and |dB|, is another number."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(12, 5), nn.Linear(5, 3))
    x = torch.randn(20, 12)
    _, seen = watched(
        model, torch.optim.SGD(model.parameters(), lr=0.1), lambda _: (model(x) ** 2).mean().backward(), 4
    )
    found, wanted = seen[-1]
    assert abs(found.share_first - wanted["share_first"]) < 1e-6
    assert abs((1 - found.share_first) - wanted["share_first"]) > 0.05


def test_a_linear_model_shows_what_the_theory_says():
    """From the orthogonal start singular values of the product are closed forms; the imbalance stays 2 gamma I."""
    rng = np.random.default_rng(0)
    target = (
        np.linalg.qr(rng.normal(size=(5, 5)))[0]
        @ np.diag([4, 2, 1, 0.5, 0.25])
        @ np.linalg.qr(rng.normal(size=(5, 5)))[0]
    )
    gamma, rate, steps = 0.5, 1e-3, 400
    start = ln.inits.balanced(np.zeros((5, 5)), imbalance=2 * gamma)
    model = nn.Sequential(nn.Linear(5, 5, bias=False), nn.Linear(5, 5, bias=False)).double()
    with torch.no_grad():
        model[0].weight.copy_(torch.tensor(start.first))
        model[1].weight.copy_(torch.tensor(start.second))
    y = torch.tensor(target)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    with PairMonitor(model, every=100, optimizer=optimizer) as monitor:
        for _ in range(steps):
            optimizer.zero_grad()
            (0.5 * ((model[1].weight @ model[0].weight - y) ** 2).sum()).backward()
            optimizer.step()
            monitor.step()
    data = monitor.to_dataset().isel(pair=0)
    theory = ln.theories.lazy_active.self_consistent(target, np.zeros((5, 5)), gamma, data.step.values * rate)
    wanted = np.linalg.svd(theory, compute_uv=False)
    np.testing.assert_allclose(data.singular_values.values, wanted, rtol=0.01)
    np.testing.assert_allclose(data.imbalance.values, 2 * gamma, rtol=5e-3)  # a step of finite size moves it a little
    assert data.alignment.values[0] == pytest.approx(1.0)
    theory_rank = [ln.observables.effective_rank(matrix) for matrix in theory]
    np.testing.assert_allclose(data.effective_rank.values, theory_rank, rtol=0.01)


def test_autocast_and_accumulation_and_frozen_and_tied_parameters():
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(8, 4, bias=False), nn.Linear(4, 8, bias=False), nn.Tanh(), nn.Linear(8, 4), nn.Linear(4, 8)
    )
    model[3].weight = model[0].weight  # tied
    model[1].weight.requires_grad_(False)  # frozen
    x = torch.randn(16, 8)

    def closure(step):
        for part in x.chunk(4):  # accumulation
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = (model(part) - part).square().mean() / 4
            loss.backward()

    trained = [p for p in model.parameters() if p.requires_grad]
    monitor, seen = watched(model, torch.optim.Adam(trained, lr=1e-2), closure, 8)
    assert len(monitor.pairs) == 2
    for found, wanted in seen:
        close(found, wanted, 1e-5)
    assert seen[-2][0].share_first == 1.0  # the second factor of the first pair is frozen


def test_a_step_that_a_gradient_scaler_skips():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 2), nn.Linear(2, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with PairMonitor(model, every=1) as monitor:
        for factor in (float("inf"), 1.0, 1.0):
            optimizer.zero_grad()
            (factor * model(torch.ones(3, 4)).square().sum()).backward()
            if np.isfinite(factor):
                optimizer.step()
            monitor.step()
    first, second, third = (monitor.readings[step][0] for step in (1, 2, 3))
    assert np.isnan(first.alignment)
    assert np.isnan(first.share_first)
    assert second.alignment > 0.99
    assert third.alignment > 0.9


def hooks(model):
    return [p for p in model.parameters() if getattr(p, "_post_accumulate_grad_hooks", None)]


def test_hooks_are_gone_after_the_context_and_after_the_first_step():
    model = nn.Sequential(nn.Linear(4, 2), nn.Linear(2, 4))
    with PairMonitor(model) as monitor:
        assert len(hooks(model)) == 2
        model(torch.ones(1, 4)).sum().backward()
        monitor.step()
        assert not hooks(model)
    with pytest.raises(ValueError, match="positive"), PairMonitor(model):
        torch.optim.SGD(model.parameters(), lr=positive("rate", -1))
    assert not hooks(model)
    with pytest.raises(RuntimeError, match="not watching"):
        monitor.step()


def test_what_it_cannot_see_is_named():
    wide = nn.Sequential(nn.Linear(4, 600), nn.Linear(600, 4), nn.Tanh(), nn.Linear(4, 3), nn.Linear(3, 2))
    monitor = PairMonitor(wide)
    assert [pair.name for pair in monitor.pairs] == ["3>4"]
    assert "`max_width` 512" in monitor.unseen["0>1"]
    with torch.device("meta"):
        empty = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2))
    with pytest.raises(ValueError, match="meta device"):
        PairMonitor(empty)
    sharded = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2), nn.Linear(2, 2))
    sharded[0].weight.placements = "shard"  # as DTensor has it
    found, unseen = find_pairs(sharded)
    assert [pair.name for pair in found] == ["1>2"]
    assert "sharded" in unseen["0>1"]
    nameless = small.Attention()
    del nameless.head_dim, nameless.num_heads
    with pytest.raises(ValueError, match="size of its heads is not known"):
        PairMonitor(nameless)


def test_pairs_by_name():
    blocks = [nn.ModuleDict({"down": nn.Linear(6, 2), "up": nn.Linear(2, 6)}) for _ in range(3)]
    model = nn.ModuleDict({"layers": nn.ModuleList(blocks)})
    found, _ = find_pairs(model, [("layers.*.down", "layers.*.up")])
    assert [pair.name for pair in found] == [f"layers.{i}.down>layers.{i}.up" for i in range(3)]
    assert found[2].second is blocks[2]["up"].weight
    for pairs, match in (
        ([("layers.*.over", "layers.*.up")], "names no linear layer"),
        ([("layers.0.down", "layers.0.down")], "layers that fit"),
        (["layers.0.down"], "list of"),
        ("all", "must be 'auto'"),
    ):
        with pytest.raises(ValueError, match=match):
            find_pairs(model, pairs)
    with pytest.raises(ValueError, match="`heads` must have keys"):
        find_pairs(model, heads={"keys": []})
    with pytest.raises(ValueError, match="found none"):
        PairMonitor(nn.Linear(2, 2))
    with pytest.raises(ValueError, match="`every` must be at least 1"):
        PairMonitor(nn.Sequential(nn.Linear(4, 2), nn.Linear(2, 4)), every=0)


def test_grouped_heads_share_their_values():
    found, _ = find_pairs(small.llama(torch.float32))
    values = [pair for pair in found if pair.kind == "value-output" and ".layers.0." in pair.name]
    assert len(values) == 4
    first = [pair.rows_of_first(pair.first) for pair in values]
    assert torch.equal(first[0], first[1]) and torch.equal(first[2], first[3]) and not torch.equal(first[1], first[2])


def test_scalars_dataset_and_picture(tmp_path):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 3), nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 2), nn.Linear(2, 6))
    monitor = PairMonitor(model, every=2)
    assert monitor.scalars == monitor.summary == {}
    assert "not read yet" in repr(monitor)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with monitor:
        for _ in range(4):
            optimizer.zero_grad()
            model(torch.randn(5, 6)).square().mean().backward()
            optimizer.step()
            monitor.step()
    assert set(monitor.scalars) >= {"pairs/0>1/share_first", "pairs/3>4/effective_rank"}
    assert len(monitor.summary) == 6 and monitor.summary.items() <= monitor.scalars.items()
    last = monitor.readings[4]
    assert monitor.summary["pairs/effective_rank"] == np.mean([read.effective_rank for read in last])  # of two
    assert monitor.summary["pairs/imbalance_min"] == min(read.imbalance[-1] for read in last)
    assert repr(monitor).startswith("PairMonitor(2 linear; every=2; read 3 times until step 4; share_first 0.")
    assert "without an optimizer's rates" in repr(monitor)
    assert all(isinstance(value, float) for value in monitor.scalars.values())
    data = monitor.to_dataset()
    assert dict(data.sizes) == {"step": 3, "pair": 2, "mode": 3}
    assert np.isnan(data.singular_values.sel(pair="3>4", mode=3)).all()
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    monitor.plot().savefig(tmp_path / "watched.png")
    assert (tmp_path / "watched.png").stat().st_size > 10_000


def test_linnet_says_what_to_install_only_where_it_is_missing():
    assert ln.torch.PairMonitor is PairMonitor
    with pytest.raises(AttributeError, match=r"No linnet\.torch attribute nonsense"):
        _ = getattr(ln.torch, "nonsense")  # noqa: B009  (the name is not there)


def test_parameters_may_be_given_other_memory():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 3, bias=False), nn.Linear(3, 4, bias=False)).double()
    with ln.torch.PairMonitor(model, every=1) as monitor:
        monitor.step()
        model[0].weight.data = 2 * model[0].weight.data  # other memory, other numbers
        monitor.step()
    for step, factor in ((1, 0.5), (2, 1.0)):
        product = factor * (model[1].weight @ model[0].weight).detach().numpy()
        expected = np.linalg.svd(product, compute_uv=False)[:3]
        np.testing.assert_allclose(monitor.readings[step][0].singular_values, expected, rtol=1e-10)


class Written(nn.Module):
    """A `forward` of one's own: the first two are a pair, the others are not."""

    def __init__(self):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(8, 3))
        self.decode, self.gate, self.twice, self.out = (nn.Linear(n, m) for n, m in ((3, 8), (8, 8), (8, 8), (8, 2)))
        self.kept = None

    def forward(self, x, mask=None):
        y = self.decode(nn.functional.dropout(self.encode(x), 0.1, self.training))
        self.kept = y
        if mask is not None:
            y = y * mask
        hidden = self.gate(torch.relu(y))
        return self.out(self.twice(self.twice(hidden)) + hidden)


class Branching(nn.Module):
    """A `forward` that asks for values, around parts that do not; the layers in a row in it cannot be traced."""

    def __init__(self):
        super().__init__()
        self.inner, self.one, self.other = Written(), nn.Linear(2, 2), nn.Linear(2, 2)

    def forward(self, x):
        y = self.other(self.one(self.inner(x)))
        return y if y.sum() > 0 else -y


def test_a_forward_of_ones_own_is_traced():
    model = Written()
    assert [pair.name for pair in find_pairs(model)[0]] == ["encode.0>decode"]
    assert model.kept is None  # a copy was traced
    assert [pair.name for pair in find_pairs(Branching())[0]] == ["inner.encode.0>inner.decode"]
    outer = nn.Sequential(Branching(), nn.Linear(2, 2), nn.Linear(2, 2))
    assert [pair.name for pair in find_pairs(outer)[0]] == ["1>2", "0.inner.encode.0>0.inner.decode"]

    class Residual(nn.Sequential):
        def forward(self, x):
            return self[1](torch.tanh(self[0](x)))

    with pytest.raises(ValueError, match="found none") as raised:
        PairMonitor(Residual(nn.Linear(4, 2), nn.Linear(2, 4)))  # a Sequential by name only
    assert "name them" not in str(raised.value)
    with pytest.raises(ValueError, match="between 0 and 1 the model has tanh"):
        PairMonitor(Residual(nn.Linear(4, 2), nn.Linear(2, 4)), [("0", "1")])


def test_an_optimizer_of_another_model_is_refused():
    model, other = Written(), Written()
    with pytest.raises(ValueError, match=r"holds no parameter of 1 of 1, such as 'encode\.0>decode'"):
        PairMonitor(model, optimizer=torch.optim.SGD(other.parameters(), lr=0.1))
    monitor = PairMonitor(model, optimizer=torch.optim.SGD(model.decode.parameters(), lr=0.1))
    with pytest.raises(ValueError, match="`optimizer` must train the pairs"):
        monitor.optimizer = torch.optim.SGD(model.out.parameters(), lr=0.1)
    with pytest.raises(ValueError, match="`optimizer` must be a PyTorch optimizer"):
        monitor.optimizer = 0.1


def test_hooks_between_two_layers_are_not_passed_over():
    """A hook may apply a nonlinearity, of which the traced model knows nothing."""
    after, before = (nn.Sequential(nn.Linear(5, 3), nn.Linear(3, 4)) for _ in range(2))
    after[0].register_forward_hook(lambda layer, inputs, output: output.relu())
    before[1].register_forward_pre_hook(lambda layer, inputs: (inputs[0].relu(),))
    for model in (after, before):
        pairs, unseen = find_pairs(model)
        assert not pairs and "hook" in unseen["0>1"]
        assert [pair.name for pair in find_pairs(model, [("0", "1")])[0]] == ["0>1"]  # as the user says
