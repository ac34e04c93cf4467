"""Cells, their seeds and their blocks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linnet import sweeps
from linnet.sweeps.grid import Grid, PendingBlock, cell_seeds


def seeds_by_coordinates(sweep: sweeps.Sweep) -> dict[frozenset, int]:
    grid = Grid.of(sweep)
    found = {}
    for job in grid.jobs():
        cells = grid.arguments(job)
        for number, seed in zip(grid.numbers(job.block), cells.seeds):
            found[frozenset(grid.coordinates(int(number)).items())] = int(seed)
    return found


def test_the_seed_of_a_cell_depends_on_its_coordinates_alone(make):
    whole = seeds_by_coordinates(make(seeds=3))
    assert len(set(whole.values())) == len(whole) == 45
    others = [
        make(seeds=3, block=1),
        make(seeds=3, block=100),
        make(seeds=3, unbatched_axes=["y"]),
        make(seeds=3, axes={"y": [2.5, 0.5], "x": [3, 1]}),  # other order of axes, other order and number of values
        make(seeds=3, axes={"x": [1.0, 2.0, 2.25], "y": [0.5, 7.0]}),  # 1.0 is 1
        make(seeds=2),
        make(seeds=3, fixed={"pause": 0.0}, record=["value"]),
    ]
    for other in others:
        shared = {place: seed for place, seed in seeds_by_coordinates(other).items() if place in whole}
        assert shared
        assert shared == {place: whole[place] for place in shared}


def test_one_seed_is_the_first_of_several(make):
    first = {place | {("seed", 0)}: seed for place, seed in seeds_by_coordinates(make(seeds=1)).items()}
    assert first.items() <= seeds_by_coordinates(make(seeds=5)).items()


def test_seeds_follow_the_base_seed_the_names_and_the_values():
    one = np.zeros(1, int)
    base = cell_seeds(0, {"x": np.array([1.0])}, one)[0]
    variants = [
        cell_seeds(1, {"x": np.array([1.0])}, one)[0],
        cell_seeds(0, {"y": np.array([1.0])}, one)[0],
        cell_seeds(0, {"x": np.array([np.nextafter(1.0, 2.0)])}, one)[0],
        cell_seeds(0, {"x": np.array([1.0])}, one + 1)[0],
        cell_seeds(0, {"x": np.array(["1"])}, one)[0],
        cell_seeds(0, {"x": np.array([True])}, one)[0],
    ]
    assert len({int(base), *map(int, variants)}) == 7
    assert cell_seeds(0, {"x": np.array([0.0])}, one) == cell_seeds(0, {"x": np.array([-0.0])}, one)
    assert cell_seeds(0, {"x": np.array([2**53 + 1])}, one) != cell_seeds(0, {"x": np.array([2**53])}, one)


def test_the_seeds_of_stored_results_never_change():
    # A store begun with one version must be resumable with the next: these numbers are part of the format.
    seeds = cell_seeds(3, {"width": np.array([8, 16]), "scale": np.array([0.1, 0.1])}, np.array([0, 2]))
    assert seeds.tolist() == [615533670149105132, 2051769968468478053]


@settings(max_examples=60)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), st.integers(1, 40), st.data())
def test_blocks_cover_the_grid_once_and_are_not_too_large(lengths, block, data):
    axes = {f"a{i}": list(range(length)) for i, length in enumerate(lengths)}
    apart = data.draw(st.lists(st.sampled_from(sorted(axes)), unique=True))
    sweep = sweeps.Sweep(name="grid", function="sample_cells:draws", axes=axes, block=block, unbatched_axes=apart)
    grid = Grid.of(sweep)
    numbers = np.concatenate([grid.numbers(job.block) for job in grid.jobs()])
    assert sorted(numbers.tolist()) == list(range(math.prod(lengths)))
    assert math.prod(grid.tile) <= block
    for job in grid.jobs():
        cells = grid.arguments(job)
        assert {len(values) for values in cells.points.values()} == {len(cells.seeds)} == {math.prod(grid.tile)}
        assert all(len(set(cells.points[name].tolist())) == 1 for name in apart)


def test_padding_repeats_the_last_cell_and_a_part_of_a_block_keeps_its_length(make):
    grid = Grid.of(make(seeds=1, axes={"x": [0, 1, 2, 3, 4]}, block=3))
    last = grid.arguments(grid.jobs()[-1])
    assert (last.size, last.points["x"].tolist()) == (2, [3, 4, 4])
    part = grid.arguments(PendingBlock(grid.block(0), positions=(1,)))
    assert (part.size, part.points["x"].tolist()) == (1, [1, 1, 1])
    assert part.seeds[0] == grid.arguments(grid.jobs()[0]).seeds[1]


@pytest.mark.parametrize("axes", [{"x": 20000}, {"x": 141, "y": 141}, {"x": 50, "y": 20, "z": 20}])
def test_the_default_blocks_keep_the_number_of_files_low(axes):
    sweep = sweeps.Sweep(
        name="g", function="m:f", axes={name: list(range(n)) for name, n in axes.items()}, record=["a", "b"]
    )
    grid = Grid.of(sweep)
    assert grid.blocks * 3 < 3000
    assert grid.cells >= 19000
