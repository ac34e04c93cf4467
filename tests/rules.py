"""A stopping rule of a user's own module, which other processes can import."""

import sys
from dataclasses import dataclass

from linnet.trainers.stopping import LossBelow


@dataclass(frozen=True)
class Dividing(LossBelow):
    """It speaks of every step, and fails when `last` of them have been taken."""

    last: int = 3

    def update(self, state, step, loss, test_loss):
        sys.stdout.write(f"step {step}\n")
        sys.stdout.flush()
        if step >= self.last:
            raise ZeroDivisionError(f"at step {step}")
        return super().update(state, step, loss, test_loss)
