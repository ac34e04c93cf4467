"""Cells, their seeds and their blocks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linnet import sweeps
from linnet.sweeps.grid import Grid, cell_seeds


def seeds_by_coordinates(sweep: sweeps.Sweep) -> dict[str, int]:
    grid = Grid.of(sweep)
    found = {}
    for block in range(grid.blocks):
        _, seeds, size = grid.arguments(block)
        for position in range(size):
            place = sorted(grid.place(block, position).replace(".0", "").split(", "))  # 1.0 is 1
            found[", ".join(place)] = int(seeds[position])
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
    first = seeds_by_coordinates(make(seeds=1)).values()
    several = seeds_by_coordinates(make(seeds=5)).items()
    assert set(first) == {seed for place, seed in several if "seed=0" in place}


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
    covered = np.zeros(grid.shape, int)
    for number in range(grid.blocks):
        covered[grid.region(number)] += 1
    assert (covered == 1).all() and covered.size == math.prod(lengths)
    assert math.prod(grid.tile) <= block
    for number in range(grid.blocks):
        points, seeds, size = grid.arguments(number)
        assert size == math.prod(grid.box(number))
        assert {len(values) for values in points.values()} == {len(seeds)} == {math.prod(grid.tile)}
        assert all(len(set(points[name].tolist())) == 1 for name in apart)


def test_padding_repeats_the_last_cell_and_a_part_of_a_block_keeps_its_length(make):
    grid = Grid.of(make(seeds=1, axes={"x": [0, 1, 2, 3, 4]}, block=3))
    points, _, size = grid.arguments(1)
    assert (size, points["x"].tolist()) == (2, [3, 4, 4])
    points, seeds, size = grid.arguments(0, positions=(1,))
    assert (size, points["x"].tolist()) == (1, [1, 1, 1])
    assert seeds[0] == grid.arguments(0)[1][1]


@pytest.mark.parametrize("axes", [{"x": 20000}, {"x": 141, "y": 141}, {"x": 50, "y": 20, "z": 20}])
def test_the_default_blocks_keep_the_number_of_files_low(axes):
    sweep = sweeps.Sweep(
        name="g", function="m:f", axes={name: list(range(n)) for name, n in axes.items()}, record=["a", "b"]
    )
    grid = Grid.of(sweep)
    assert grid.blocks < 1000
    assert grid.cells >= 19000
