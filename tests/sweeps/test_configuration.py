"""What a sweep's description may say, and how it is refused."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from linnet import sweeps


def test_python_and_toml_describe_the_same_sweep(tmp_path):
    file = tmp_path / "grid.toml"
    file.write_text(
        """
        name = "grid"
        function = "sample_cells:draws"
        seeds = 3
        seed = 7
        record = ["value"]
        block = 16
        dtype = "none"
        [axes]
        x = [1, 2, 4]
        scale = { start = 0.01, stop = 1.0, count = 3, spacing = "log" }
        [fixed]
        pause = 0.0
        """
    )
    written = sweeps.Sweep(
        name="grid",
        function="sample_cells:draws",
        axes={"x": np.array([1, 2, 4]), "scale": sweeps.Range(start=0.01, stop=1.0, count=3, spacing="log")},
        seeds=np.int64(3),
        seed=7,
        record=("value",),
        block=16,
        dtype=None,
        fixed={"pause": np.float64(0.0)},
    )
    assert sweeps.load(file, code=["sample_cells"]).plain() == written.plain()
    assert written.axes["scale"] == pytest.approx([0.01, 0.1, 1.0], rel=1e-15)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"blok": 3}, r"`blok` is not a field; did you mean block\? Known are name, function, "),
        ({"seeds": "three"}, r"`seeds`: input should be a valid integer: got 'three'"),
        ({"seeds": 0}, r"`seeds`: .*greater than or equal to 1: got 0"),
        ({"seed": -1}, r"`seed`: .*got -1"),
        ({"record": "value"}, r"`record`: input should be a valid list: got 'value'"),
        ({"dtype": "float16"}, r"`dtype`: .*'float64' or 'float32'.*got 'float16'"),
        ({"function": "draws"}, r"`function`: must name a function of a module as 'module:function': got 'draws'"),
        ({"function": lambda points, seeds: {}}, r"`function`: must name a function of a module"),
        ({"axes": {"x": {"start": 0, "stpo": 1, "count": 2}}}, r"`axes.x.stpo` is not a field; did you mean stop\?"),
        ({"axes": {"x": {"start": 0, "stop": 1, "count": 2, "spacing": "log"}}}, r"axes.x.*must be positive"),
        ({"axes": {"x": []}}, r"axis `x` must hold numbers only, or strings only, and at least one"),
        ({"axes": {"x": [1, "a"]}}, r"axis `x` must hold numbers only"),
        ({"axes": {"x": [1, 2.0, 1.0]}}, r"axis `x` holds 1.0 twice"),
        ({"axes": {"x": [1.0, float("nan")]}}, r"axis `x` must be finite"),
        ({"axes": {"seed": [1]}}, r"axis `seed` must be a Python name other than seed, cell_status, failures"),
        ({"axes": {"my axis": [1]}}, r"axis `my axis` must be a Python name"),
        ({"axes": {}, "seeds": 1}, r"needs at least one axis in `axes`, or `seeds` above 1"),
        ({"fixed": {"x": 1}}, r"`x` is an axis: it cannot be in `fixed`"),
        (
            {"fixed": {"log": {"deep": object()}}},
            r"`fixed.log.deep` must be numbers, strings, lists or tables: got object",
        ),
        ({"unbatched_axes": ["z"]}, r"`unbatched_axes` names `z`, which is not an axis\. The axes are x, y"),
        ({"name": "a/b"}, r"`name`: .*got 'a/b'"),
    ],
)
def test_a_wrong_field_is_named(make, changes, message):
    with pytest.raises(sweeps.ConfigurationError, match=message):
        make(**changes)


def test_the_guide_shows_the_example_as_it_is():
    root = Path(__file__).parents[2]
    block = re.search(r"```toml\n(.*?)```", (root / "docs" / "sweeps.md").read_text(), re.DOTALL)
    assert block is not None
    assert block[1] == (root / "examples" / "sweep.toml").read_text()


def test_a_missing_field_and_a_broken_file_are_told(tmp_path):
    file = tmp_path / "grid.toml"
    with pytest.raises(sweeps.ConfigurationError, match=r"cannot read the configuration .*grid.toml: No such file"):
        sweeps.load(file)
    file.write_text('name = "grid"\n[axes]\nx = [1]\n')
    with pytest.raises(sweeps.ConfigurationError, match=r"grid.toml: `function` is missing"):
        sweeps.load(file)
    file.write_text("name = \n")
    with pytest.raises(sweeps.ConfigurationError, match=r"grid.toml is not valid TOML: .*line 1"):
        sweeps.load(file)


def test_a_function_is_looked_for_before_anything_is_computed(make):
    with pytest.raises(sweeps.ConfigurationError, match="cannot import the module of `nowhere:f`"):
        sweeps.run(make(function="nowhere:f"))
    with pytest.raises(sweeps.ConfigurationError, match="module `sample_cells` has no function `drawz`"):
        sweeps.run(make(function="sample_cells:drawz"))
    with pytest.raises(sweeps.CellFunctionError, match=r"cannot be called as function.*'paus'"):
        sweeps.run(make(fixed={"paus": 1.0}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"axes": {"x": {"start": 0.0, "stop": 1.0, "count": 10**9}}}, r"`axes.x.count`: input should be less than"),
        ({"axes": {"x": [1.0]}, "seeds": 10**10}, "`seeds`: input should be less than or equal to 1000000"),
        (
            {"axes": {n: {"start": 0.0, "stop": 1.0, "count": 10**5} for n in "xy"}},
            r"has 10,000,000,000 cells: at most",
        ),
    ],
)
def test_grids_that_no_memory_holds_are_refused(changes, message):
    with pytest.raises(sweeps.ConfigurationError, match=message):
        sweeps.Sweep(name="huge", function="sample_cells:draws", **changes)
