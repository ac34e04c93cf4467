"""The worked examples of general costs run and show what they say."""

import importlib.util
import re
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "examples"


def printed(name, capsys):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main()
    return capsys.readouterr().out


def test_matrix_completion_is_learned_actively_and_not_lazily(capsys):
    out = printed("matrix_completion", capsys)
    errors = [float(text) for text in re.findall(r"all entries (\d\.\d+)", out)]
    predicted = [float(text) for text in re.findall(r"predicted (\d\.\d+)", out)]
    assert errors[0] < 0.1 < 0.3 < errors[1]
    assert all(abs(a - b) < 0.02 for a, b in zip(errors, predicted, strict=True))


def test_logistic_regression_at_full_and_reduced_width(capsys):
    out = printed("logistic", capsys)
    assert "trained as 13" in out
    assert float(re.search(r"([\d.]+)% of the points", out)[1]) > 95
