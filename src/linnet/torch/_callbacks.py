"""A monitor inside other people's training loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linnet import _extras as extras

if TYPE_CHECKING:
    from linnet.torch.monitor import PairMonitor


def transformers_callback(monitor: PairMonitor) -> Any:
    """A `transformers.TrainerCallback`: opens the monitor when training begins, steps it after each optimizer step,
    adds its scalars to the logs, and closes it at the end.

    Reporters (to a server, a file) that precede it in the trainer's list have sent their logs by then. To be in
    them, put it first: `trainer.callback_handler.callbacks.insert(0, monitor.for_transformers())`.
    """
    base: Any = extras.need("transformers", "this callback").TrainerCallback

    class PairCallback(base):
        def on_train_begin(
            self, args: object, state: object, control: object, optimizer: object = None, **others: object
        ) -> None:
            if monitor.optimizer is None and optimizer is not None:
                monitor.optimizer = optimizer
            monitor.__enter__()

        def on_step_end(self, args: object, state: object, control: object, **others: object) -> None:
            monitor.step()

        def on_log(
            self, args: Any, state: Any, control: Any, logs: dict[str, float] | None = None, **others: Any
        ) -> None:
            if logs is not None:
                logs.update(monitor.scalars)
            if state.log_history:  # the trainer's own copy, taken before callbacks are asked
                state.log_history[-1].update(monitor.scalars)

        def on_train_end(self, args: object, state: object, control: object, **others: object) -> None:
            monitor.__exit__(None, None, None)

    return PairCallback()


def lightning_callback(monitor: PairMonitor) -> Any:
    """A `lightning.Callback` that does the same; batches without an optimizer step (accumulation) are no steps."""
    base: Any = extras.need("lightning.pytorch", "this callback").Callback

    class PairCallback(base):
        seen = 0

        def on_train_start(self, trainer: Any, pl_module: Any) -> None:
            if monitor.optimizer is None and len(trainer.optimizers) == 1:
                monitor.optimizer = trainer.optimizers[0]
            self.seen = trainer.global_step
            monitor.__enter__()

        def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
            if trainer.global_step > self.seen:
                self.seen = trainer.global_step
                if monitor.step():
                    numbers = {name: value for name, value in monitor.scalars.items() if value == value}
                    pl_module.log_dict(numbers)

        def on_train_end(self, trainer: object, pl_module: object) -> None:
            monitor.__exit__(None, None, None)

        def on_exception(self, trainer: object, pl_module: object, exception: BaseException) -> None:
            monitor.__exit__(None, None, None)

    return PairCallback()
