"""The house itself: imports flow one way, importing costs little and changes nothing."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "linnet"
PAPERS_SOURCE = SOURCE.with_name("linnet_papers")
# Every file and folder of the package, and how late in the flow it stands: it imports only what stands before it.
ORDER = {
    "_arguments": 0,
    "_extras": 0,
    "_files": 0,
    "_memory": 0,
    "_models": 0,
    "_page": 0,
    "precision": 0,
    "_progress": 0,
    "_randomness": 0,
    "style": 0,
    "_blas_threads": 0,
    "_workers": 0,
    "citations": 0,
    "inits": 1,
    "problems": 1,
    "reductions": 2,
    "draw": 2.5,
    "trajectories": 3,
    "theories": 4,
    "trainers": 4,
    "observables": 5,
    "predictions": 5.5,
    "forecasts": 6,
    "sweeps": 6,
    "estimators": 7,
    "lora": 7,
    "torch": 8,
    "live": 9,
    "cli": 10,
}
GROUND = ("__init__", "__main__")  # names only, and the way to call the command


def imports(path):
    """Every linnet folder that a file imports, at its top or inside its functions, by import or by `ln.folder`."""
    names = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("ln", "linnet"):
            names.append(f"linnet.{node.attr}")
    for name in names:
        parts = name.split(".")
        if parts[0] == "linnet" and len(parts) > 1 and parts[1] in ORDER:
            yield parts[1]


def files(name):
    return sorted((SOURCE / name).rglob("*.py")) if (SOURCE / name).is_dir() else [SOURCE / f"{name}.py"]


def test_every_folder_has_its_place_in_the_order():
    there = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert there - set(GROUND) <= set(ORDER)


@pytest.mark.parametrize("name", [name for name in ORDER if any(SOURCE.glob(name)) or any(SOURCE.glob(f"{name}.py"))])
def test_imports_flow_one_way(name):
    wrong = []
    for path in files(name):
        for imported in imports(path):
            if imported != name and ORDER[imported] >= max(ORDER[name], 1):
                wrong.append(f"{path.relative_to(SOURCE)} imports {imported}")
    assert not wrong


def test_theories_share_no_code_with_what_they_are_checked_against():
    for path in files("theories"):
        assert not {"trainers", "reductions", "trajectories"} & set(imports(path)), path.name
    for path in files("trainers"):
        assert "theories" not in set(imports(path)), path.name


PAPERS = ("watanabe", "varre", "huang", "tu", "own")
# Our own results are about the plane of Tu et al. too: its settings and the published numbers are theirs.
SHARED = {
    "own": ("linnet_papers.tu import plane", "linnet_papers.tu.plane import", "linnet_papers.tu.published import")
}


def test_every_folder_of_the_papers_is_known():
    there = {path.name for path in PAPERS_SOURCE.iterdir() if (path / "__init__.py").is_file()}
    assert there == {*PAPERS, "reproduction", "commands"}


@pytest.mark.parametrize("paper", PAPERS)
def test_papers_do_not_import_each_other(paper):
    others = "|".join(other for other in PAPERS if other != paper)
    for path in sorted((PAPERS_SOURCE / paper).rglob("*.py")):
        for line in path.read_text().splitlines():
            if re.search(rf"linnet_papers\.({others})\b", line) and not any(
                f"from {one}" in line for one in SHARED.get(paper, ())
            ):
                pytest.fail(f"{path.relative_to(PAPERS_SOURCE)}: {line.strip()}")


def test_what_the_papers_share_imports_none_of_them():
    for path in [*(PAPERS_SOURCE / "reproduction").rglob("*.py"), *(PAPERS_SOURCE / "commands").rglob("*.py")]:
        assert not re.search(rf"linnet_papers\.({'|'.join(PAPERS)})\b", without_docstrings(path)), path.name


def test_the_library_does_not_import_the_papers():
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(name.startswith("linnet_papers") for name in names), path.relative_to(SOURCE)


WITHOUT_PAPERS = """
import sys
sys.modules["linnet_papers"] = None  # importing it is an error from here on
import numpy as np
import linnet as ln
from linnet.cli.main import find_commands, main
weights = ln.inits.reduced_gaussian(key=0, in_dim=3, out_dim=2, width=10**6, stds=1e-3)
run = ln.gradient_flow(ln.Problem.from_target(np.eye(2, 3)), weights, times=[0.0, 1.0])
forecast = ln.forecast(run.reduction.full_problem, weights, steps=5)
print(forecast.loss.size, {"diagnose", "sweep"} <= set(find_commands()))
main(["diagnose", "--help"])
"""


def test_the_library_runs_without_the_papers():
    assert fresh(WITHOUT_PAPERS).splitlines()[0] == "6 True"


def test_no_room_imports_private_names_of_another():
    """The files beside the folders (`linnet._arguments`) are everybody's."""
    wrong = []
    for path in [*SOURCE.rglob("*.py"), *PAPERS_SOURCE.rglob("*.py")]:
        room = path.relative_to(SOURCE.parent).with_suffix("").parts[:2]
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in (
                "linnet",
                "linnet_papers",
            ):
                for name in (f"{node.module}.{alias.name}".split(".") for alias in node.names):
                    private = [part for part in name[2:] if part.startswith("_") and not part.startswith("__")]
                    if private and tuple(name[:2]) != room:
                        wrong.append(f"{path.relative_to(SOURCE.parent)}: {'.'.join(name)}")
    assert not wrong


# What declares a claim or a table, or draws a figure, computes nothing; the others are in every fingerprint.
DECLARES = (
    "reproduction/rows",
    "reproduction/table",
    "reproduction/grids",
    "reproduction/figure",
    "reproduction/drawing",
    "style",
)


def test_what_a_paper_computes_with_is_in_its_fingerprint():
    """A stored table or figure is reused until a file changes that can change it: none may be forgotten."""
    from linnet.sweeps.provenance import ENGINE, READERS
    from linnet_papers import SHARED_BY_PAPERS

    covered, wrong = {*ENGINE, *DECLARES, *SHARED_BY_PAPERS}, set()
    for path in (path for paper in PAPERS for path in sorted((PAPERS_SOURCE / paper).rglob("*.py"))):
        parts = path.relative_to(PAPERS_SOURCE).parts
        if len(parts) == 1 or parts[1].removesuffix(".py") in READERS:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("linnet.", "linnet_papers.")):
                home = node.module.split(".")[1:]
                whole = {"/".join(home[:2]), *(f"{home[0]}/{alias.name}" for alias in node.names)}
                if home[0] != parts[0] and home != ["reproduction"] and not {home[0], *whole} & covered:
                    wrong.add(f"{path.relative_to(PAPERS_SOURCE)} computes with {node.module}")
    assert not wrong


def without_docstrings(path):
    """The code of a file with its comments and docstrings removed."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if (
            isinstance(body, list)
            and body
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
        ):
            body[0].value.value = ""
    return ast.unparse(tree)


def test_no_paper_is_named_outside_the_papers():
    """What is one paper's lives in its folder; docstrings of the library may cite it."""
    names = re.compile(rf"\b({'|'.join(name for name in PAPERS if name != 'own')})\b", re.IGNORECASE)
    wrong = []
    for path in sorted(SOURCE.rglob("*.py")):
        if not names.search(path.read_text("utf-8")):
            continue  # parsing the others takes two seconds
        if found := names.search(without_docstrings(path)):
            wrong.append(f"{path.relative_to(SOURCE)}: {found[0]}")
    assert not wrong


def test_the_rules_can_fail(tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_text('"""As in Tu et al."""\ndef f():\n    from linnet.trainers.flow import gradient_flow\n')
    assert list(imports(bad)) == ["trainers"] and "Tu" not in without_docstrings(bad)
    bad.write_text("import linnet as ln\nname = 'tu-fig1'\nln.sweeps.run()\n")
    assert list(imports(bad)) == ["sweeps"] and "tu" in without_docstrings(bad)


def fresh(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_importing_is_light():
    heavy = ["matplotlib", "dask", "distributed", "zarr", "sklearn", "torch"]
    code = "import sys, linnet as ln; ln.problems; ln.inits; ln.trainers; ln.trajectories; ln.observables; ln.Problem; "
    assert fresh(code + f"print([name for name in {heavy} if name in sys.modules])") == "[]"
    assert fresh("import sys, linnet; print('jax' in sys.modules)") == "False"


FORMULAS_ALONE = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("jax", "jaxlib", "pandas", "xarray"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocked())
import numpy as np, linnet as ln
theories, target = ln.theories, np.diag([2.0, 0.5])
problem = ln.Problem.from_target(target, truth=np.diag([2.0, 0.0]))
print(theories.lazy_active.mode_values([2.0], 0.1, [1.0]).shape)
print(theories.lazy_active.self_consistent(target, np.zeros((2, 2)), 0.1, [1.0]).shape)
print(theories.lazy_active.predicted_diagram(problem, [0.1, 1.0], [1, 50], draws=2).min_test_loss.shape)
one = ln.Problem.from_data(np.eye(3), np.ones((3, 1)), truth=np.ones((1, 3)))
print(theories.one_output.error_over_time(one, 0.1, [0.5, 1.0]).test_loss.shape)
print(ln.lora.Adapter(rank=8, alpha=16, in_dim=64, out_dim=64).rank)
"""


def test_formulas_run_without_jax_pandas_and_xarray():
    assert fresh(FORMULAS_ALONE).splitlines() == ["(1, 1)", "(1, 2, 2)", "(2, 2)", "(2,)", "8"]
    with pytest.raises(subprocess.CalledProcessError):  # training needs JAX
        fresh(FORMULAS_ALONE + "ln.gradient_flow(problem, ln.Weights(target, target), times=[1.0])")


USE = """
import jax, jax.numpy as jnp, numpy as np
before = dict(jax.config.values)
import linnet as ln
problem = ln.Problem.from_target(np.eye(3, dtype=np.float32))
start = ln.inits.gaussian(key=0, in_dim=3, out_dim=3, width=8, stds=0.1)
for x64 in (None, True, False):
    if x64 is not None:
        jax.config.update("jax_enable_x64", x64)
        before = dict(jax.config.values)
    descent = ln.gradient_descent(problem, start, learning_rate=0.1, steps=5)
    for run in (descent, ln.gradient_flow(problem, start, times=[1.0])):
        for array in (run.loss, run.products, run.weights.first, run.times):
            assert type(array) is np.ndarray and array.dtype == np.float64, array.dtype
    assert dict(jax.config.values) == before
    print(jnp.ones(1).dtype)
"""


def test_using_linnet_leaves_jax_as_it_was():
    assert fresh(USE).split() == ["float32", "float64", "float32"]  # as it starts, and as it was told


def test_every_promised_name_is_there():
    import linnet as ln

    assert "torch" in dir(ln) and "torch" not in ln.__all__  # `from linnet import *` must not hide PyTorch
    for name in ln.__all__:
        assert getattr(ln, name) is not None
    with pytest.raises(AttributeError, match="No linnet attribute nonsense"):
        _ = getattr(ln, "nonsense")  # noqa: B009  (the name is not there)


def test_nothing_is_unpickled_but_arrays_of_published_pictures():
    """SECURITY.md promises it: a pickle is a program."""
    readers = [
        path
        for path in [*SOURCE.rglob("*.py"), *PAPERS_SOURCE.rglob("*.py")]
        if re.search(r"^\s*(import|from) (pickle|marshal|shelve|dill)", path.read_text(), re.M)
    ]
    assert [str(path.relative_to(SOURCE.parent)) for path in readers] == ["linnet_papers/huang/images/_formats.py"]
    assert all("allow_pickle=True" not in path.read_text() for path in SOURCE.rglob("*.py"))
