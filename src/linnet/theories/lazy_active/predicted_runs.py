"""One cell of the phase diagram at any times, without training."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from linnet._arguments import count, partly_representable, positive, refuse_infinite
from linnet._randomness import Key, words
from linnet.problems.problem import Problem
from linnet.theories.lazy_active._drawn_cells import DrawnStarts
from linnet.theories.lazy_active._wide_cells import drawn_cells, wide_errors
from linnet.theories.lazy_active.predicted_diagrams import spectrum_of
from linnet.theories.lazy_active.spectral_flows import clock_of, mode_values
from linnet.theories.lazy_active.task_spectra import TaskSpectrum, in_units


@dataclass(frozen=True)
class PredictedRun:
    r"""Result of `predicted_run`: losses, stable rank and modes over time.

    **Attributes:**

    - `times`: times (learning rate times number of steps), (time,)
    - `loss`: training loss $|A - Y|_F^2/2$, (time,); `test_loss`: $|A - A^*|_F^2/2$, (time,), NaN without a signal
    - `stable_rank`: stable rank $|A|_F^2/|A|_{op}^2$, (time,)
    - `values`: strengths $u_i^\top A v_i$ in the singular basis of the target, (time, mode)
    - `drawn`: whether the values are means over random initializations; if not, they follow the formula of wide
      networks

    **Example:**

        >>> import numpy as np
        >>> import linnet as ln
        >>> from linnet.theories.lazy_active import predicted_run
        >>> task = ln.problems.low_rank_plus_noise(50, rank=3, key=0)
        >>> run = predicted_run(task, 1e-4, 10_000, np.linspace(0, 0.3, 60))
        >>> bool(run.test_loss.min() < 0.3 * run.test_loss[-1])  # stopped in time, the noise is not learned
        True
    """

    times: Float[np.ndarray, " time"]
    loss: Float[np.ndarray, " time"]
    test_loss: Float[np.ndarray, " time"]
    stable_rank: Float[np.ndarray, " time"]
    values: Float[np.ndarray, "time mode"]
    drawn: bool

    def __repr__(self) -> str:
        return f"PredictedRun({self.times.size} times, {self.values.shape[1]} modes)"


@partly_representable
def predicted_run(
    problem: Problem | TaskSpectrum, variance: float, width: int, times: object, *, draws: int = 16, key: Key = 0
) -> PredictedRun:
    r"""Return losses, stable rank and modes over time for one width and one initial variance, without training.

    For the minimum test loss of many widths and variances, `predicted_diagram` is faster.

    **Arguments:**

    - `problem`: learning problem with whitened inputs (`Problem.from_target`, `problems.low_rank_plus_noise`), or a
      `TaskSpectrum`
    - `variance`: variance $\sigma^2 > 0$ of the entries of both layers; `width`: $w \ge 1$
    - `times`: times (learning rate times number of steps), strictly increasing, (time,); the last may be infinite
    - `draws`, `key`: number and seed of the initializations that are averaged if the network is not wide

    **Returns** a `PredictedRun`.

    **Valid, and reference:** as for `predicted_diagram`. The run of a narrow network is computed until the noise is
    learned, and later times repeat that state.

    **Example:**

        >>> from linnet.theories.lazy_active import predicted_run
        >>> from linnet.problems import low_rank_plus_noise
        >>> task = low_rank_plus_noise(50, rank=3, key=0)
        >>> run = predicted_run(task, 1e-4, 10_000, [0.0, 0.1, float("inf")])
        >>> bool(run.test_loss[1] < run.test_loss[0]), bool(run.loss[2] < 1e-9)
        (True, True)
    """
    spectrum, clock, key = spectrum_of(problem), clock_of(times), words(key)
    size, units, draws = positive("variance", variance), float(count("width", width)), count("draws", draws)
    g = np.array([size * units])
    errors = wide_errors(spectrum, g, np.array([units]), clock[None])
    share = float(np.min(errors.own / errors.test)) if spectrum.has_truth else 0.0
    drawn = bool(drawn_cells(spectrum, np.array(units), g[0], np.array(share)))
    if not drawn:
        values = mode_values(spectrum.values, float(g[0]), clock)
        parts = [part[0] for part in (errors.train, errors.test, errors.power, errors.largest)]
    else:
        unit, scaled = spectrum.unit, in_units(spectrum, spectrum.unit)
        starts = DrawnStarts(scaled, units, [[*key, *spectrum.draw_words, int(units), i] for i in range(draws)])
        runs, modes = starts.run(size / unit, clock * unit)
        parts = [getattr(runs, name).mean(axis=0) for name in ("train", "test", "power", "largest")]
        parts[:2] = [unit * unit * part for part in parts[:2]]
        values = unit * modes.mean(axis=0)
    rank = np.where(parts[3] > 0, parts[2] / parts[3], 0.0)
    refuse_infinite(g, parts[0], rank, values, parts[1] if spectrum.has_truth else 0.0)
    return PredictedRun(clock, parts[0] / 2, parts[1] / 2, rank, values, drawn)
