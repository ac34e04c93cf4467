"""The monitor inside the loops of transformers and of Lightning."""

import re
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-torch installs it")

from torch import nn  # noqa: E402

import linnet as ln  # noqa: E402
from linnet.torch import PairMonitor  # noqa: E402
from pytorch import small  # noqa: E402


@pytest.mark.filterwarnings("default")
def test_transformers(tmp_path):
    transformers = pytest.importorskip(
        "transformers", reason="transformers is not installed: make test-torch installs it"
    )
    pytest.importorskip("accelerate", reason="accelerate is not installed: make test-torch installs it")
    model = small.adapted(small.llama(torch.float32), r=2, lora_alpha=4)
    rows = [{"input_ids": row, "labels": row} for row in small.text(16, 16, 1)[0]]
    monitor = PairMonitor(model, every=2)
    arguments = transformers.TrainingArguments(
        tmp_path,
        per_device_train_batch_size=2,
        gradient_accumulation_steps=2,
        max_steps=4,
        logging_steps=2,
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
        save_strategy="no",
    )
    trainer = transformers.Trainer(model, arguments, train_dataset=rows, callbacks=[monitor.for_transformers()])
    trainer.train()
    assert sorted(monitor.readings) == [1, 2, 4]
    logged = [entry for entry in trainer.state.log_history if any(name.startswith("pairs/") for name in entry)]
    assert logged
    assert monitor.optimizer is not None
    assert not any(getattr(p, "_post_accumulate_grad_hooks", None) for p in model.parameters())
    assert monitor.readings[4][0].singular_values[0] > 0


@pytest.mark.filterwarnings("default")
def test_lightning(tmp_path):
    lightning = pytest.importorskip("lightning", reason="lightning is not installed: make test-torch installs it")

    class Module(lightning.LightningModule):  # type: ignore[name-defined]
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(nn.Linear(6, 2), nn.Linear(2, 3))

        def training_step(self, batch, index):
            return self.net(batch).square().mean()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    torch.manual_seed(0)
    module = Module()
    monitor = PairMonitor(module, every=2)
    trainer = lightning.Trainer(
        max_epochs=1,
        accumulate_grad_batches=2,
        callbacks=[monitor.for_lightning()],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        accelerator="cpu",
        default_root_dir=tmp_path,
    )
    trainer.fit(module, torch.utils.data.DataLoader(torch.randn(16, 6), batch_size=2))
    assert sorted(monitor.readings) == [1, 2, 4]
    assert "pairs/net.0>1/share_first" in trainer.callback_metrics
    assert not any(getattr(p, "_post_accumulate_grad_hooks", None) for p in module.parameters())


PAGE = Path(__file__).parents[2] / "docs" / "watching_adapters.md"


def recipe(word):
    """The one block of code on the page that has this word in it."""
    blocks = re.findall(r"```py\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    (found,) = [block for block in blocks if word in block]
    return found


def ground():
    """What the recipes take for granted."""
    model = small.adapted(small.llama(torch.float32), r=2, lora_alpha=4)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-3)
    names = {"ln": ln, "model": model, "optimizer": optimizer, "loss_of": small.loss_of}
    return names | {
        "batches": small.text(2, 16, 10),
        "rows": [{"input_ids": row, "labels": row} for row in small.text(8, 16, 1)[0]],
    }


@pytest.mark.filterwarnings("default")
def test_the_recipe_for_tensorboard(tmp_path, monkeypatch):
    pytest.importorskip("tensorboard", reason="tensorboard is not installed: make test-torch installs it")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    monkeypatch.chdir(tmp_path)
    space = ground()
    exec(recipe("SummaryWriter"), space)
    events = EventAccumulator(str(tmp_path / "runs" / "adapters"))
    events.Reload()
    seen = events.Scalars("pairs/singular_value_max")
    assert [entry.step for entry in seen] == [1, 10]
    assert seen[-1].value == pytest.approx(space["monitor"].summary["pairs/singular_value_max"])


@pytest.mark.filterwarnings("default")
def test_the_recipe_for_weights_and_biases(tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb", reason="wandb is not installed: make test-torch installs it")
    log, logged = wandb.Run.log, []

    def watched(run, data, step):
        logged.append((step, data))
        log(run, data, step=step)

    monkeypatch.setattr(wandb.Run, "log", watched)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_SILENT", "true")
    space = ground()
    exec(recipe("wandb"), space)
    assert [step for step, _ in logged] == [1, 10]
    assert logged[-1][1] == space["monitor"].scalars
    assert list((tmp_path / "wandb").glob("offline-run-*/*.wandb"))


@pytest.mark.filterwarnings("default")
def test_the_recipe_for_a_trainer(tmp_path):
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    arguments = transformers.TrainingArguments(
        tmp_path, max_steps=10, logging_steps=10, report_to=[], use_cpu=True, disable_tqdm=True, save_strategy="no"
    )
    space = ground() | {"transformers": transformers, "arguments": arguments}
    exec(recipe("Trainer"), space)
    assert any("pairs/alignment" in entry for entry in space["trainer"].state.log_history)
    assert {adapter.clip for adapter in space["adapters"].values()} == {1.0}
