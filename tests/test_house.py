"""The house itself: imports flow one way, importing costs little and changes nothing."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "linnet"
ORDER = {
    "memory": 0, "files": 0, "papers": 0, "precision": 0, "randomness": 0, "arguments": 0, "progress": 0,
    "problems": 1, "inits": 1, "reductions": 2, "trajectories": 3, "trainers": 4, "theories": 4, "observables": 5,
    "sweeps": 6, "experiments": 7, "claims": 7, "lora": 7, "torch": 7, "cli": 8,
}  # fmt: skip


def imports(path):
    """Every linnet folder that a file imports, at its top or inside its functions."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "linnet" and len(parts) > 1 and parts[1] in ORDER:
                yield parts[1]


@pytest.mark.parametrize("folder", [name for name in ORDER if (SOURCE / name).is_dir()])
def test_imports_flow_one_way(folder):
    wrong = []
    for path in (SOURCE / folder).glob("**/*.py"):
        for imported in imports(path):
            if imported != folder and ORDER[imported] >= ORDER[folder]:
                wrong.append(f"{path.name} imports {imported}")
    assert not wrong


def test_theories_share_no_code_with_what_they_are_checked_against():
    for path in (SOURCE / "theories").glob("*.py"):
        assert not {"trainers", "reductions", "trajectories"} & set(imports(path)), path.name
    for path in (SOURCE / "trainers").glob("*.py"):
        assert "theories" not in set(imports(path)), path.name


def test_the_import_rule_can_fail(tmp_path):
    (tmp_path / "bad.py").write_text("def f():\n    from linnet.trainers.flow import gradient_flow\n")
    assert list(imports(tmp_path / "bad.py")) == ["trainers"]


def fresh(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_importing_is_light():
    heavy = ["matplotlib", "dask", "distributed", "zarr", "diffrax", "sklearn", "torch"]
    code = "import sys, linnet as ln; ln.problems; ln.inits; ln.trainers; ln.trajectories; ln.observables; ln.Problem; "
    assert fresh(code + f"print([name for name in {heavy} if name in sys.modules])") == "[]"
    assert fresh("import sys, linnet; print('jax' in sys.modules)") == "False"


USE = """
import jax, jax.numpy as jnp, numpy as np
if {x64} is not None: jax.config.update("jax_enable_x64", {x64})
before = dict(jax.config.values)
import linnet as ln
problem = ln.Problem.matrix(np.eye(3, dtype=np.float32))
start = ln.inits.gaussian(0, in_dim=3, out_dim=3, width=8, first_std=0.1, second_std=0.1)
runs = [ln.gradient_descent(problem, start, learning_rate=0.1, steps=5), ln.gradient_flow(problem, start, times=[1.0])]
for run in runs:
    for array in (run.loss, run.products, run.weights.first, run.times):
        assert type(array) is np.ndarray and array.dtype == np.float64, array.dtype
assert dict(jax.config.values) == before
print(jnp.ones(1).dtype)
"""


@pytest.mark.parametrize(("x64", "dtype"), [(None, "float32"), (True, "float64"), (False, "float32")])
def test_using_linnet_leaves_jax_as_it_was(x64, dtype):
    assert fresh(USE.replace("{x64}", repr(x64))) == dtype


def test_every_promised_name_is_there():
    import linnet as ln

    for name in ln.__all__:
        assert getattr(ln, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = ln.nonsense
