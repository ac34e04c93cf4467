import itertools

import jax.numpy as jnp
import numpy as np
import pytest

from linnet.trainers import _flow_rounds as flow_rounds
from linnet.trainers import _loop as loop
from linnet.trainers import _pauses as pauses


@pytest.mark.parametrize("most", [1, 30, 10**6])
@pytest.mark.parametrize(
    "wanted", [[0], [0, 7], [0, 1, 100], range(200), [0, *np.unique(np.geomspace(1, 5000, 90, dtype=int))]]
)
def test_every_state_asked_for_is_kept_and_no_call_is_long(wanted, most):
    wanted = np.array(wanted)
    calls = list(loop._chunks_of_steps(wanted, most))
    kept = [step for until, keep in calls for step in until[keep]]
    assert kept == wanted.tolist() and calls[0][0][0] == 0
    ends = [until[-1] for until, _ in calls]
    assert all(0 < after - before <= max(most, 1) for before, after in itertools.pairwise(ends))


def test_a_run_without_an_end_is_not_listed_beforehand():
    calls = itertools.islice(loop._chunks_of_steps(np.array([0, 2**62]), 1000), 4)
    assert [int(until[-1]) for until, _ in calls] == [0, 1000, 2000, 3000]


def test_large_networks_pause_more_often():
    small, large = jnp.ones((4, 4)), jnp.ones((600, 300))
    assert pauses.steps_per_call(small, 1e3) > 100_000
    assert pauses.steps_per_call(large, 1e12) == 1
    assert flow_rounds._steps_per_round(small, small) == flow_rounds.ROUND_STEPS[0]
    assert flow_rounds._steps_per_round(large, large.T) == flow_rounds.ROUND_STEPS[-1]
