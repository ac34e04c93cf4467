"""What several folders of tests share."""

from __future__ import annotations

import gc
import signal
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import HealthCheck, settings

import toys as toy_module

# The same examples in every run, and none fails because the machine was slow or stood still for a while.
settings.register_profile("steady", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")

# A shell without job control starts background commands with SIGINT ignored, and their children inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `-m slow`, or another mark alone, files that do not name it are not read: that takes seconds of each run."""
    wanted = config.getoption("markexpr")
    if collection_path.suffix != ".py" or not wanted.isidentifier():
        return None
    return True if f"mark.{wanted}" not in collection_path.read_text(encoding="utf-8") else None


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--part DAY/8` runs an eighth of the tests, another one for each of eight days in a row."""
    parser.addoption("--part", default="0/1", help="K/N: every N-th of the chosen tests, from the K-th on (modulo N)")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keeps the part of the tests that `--part` names, after the marks have chosen."""
    number, parts = (int(word) for word in config.getoption("part").split("/"))
    kept = items[number % parts :: parts]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end: the collector of garbage need not look through it each time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000)


@pytest.fixture(scope="session", autouse=True)
def compiled(pytestconfig: pytest.Config) -> Iterator[None]:
    """Programs that JAX compiles in the processes of the tests are kept beside pytest's cache: they compile most of the
    programs of one another, and every later run finds them."""
    from linnet.precision import compilation_cache

    cache = getattr(pytestconfig, "cache", None)  # none with `-p no:cacheprovider`
    with nullcontext() if cache is None else compilation_cache(cache.mkdir("compiled")):
        yield


@pytest.fixture(scope="session")
def toys() -> ModuleType:
    """Small figures and claims of tests/toys.py."""
    return toy_module


@pytest.fixture
def assert_same() -> Callable[[xr.Dataset, xr.Dataset], None]:
    """Asserts that two datasets hold the same coordinates and the same bits, NaN included."""

    def assert_same(left: xr.Dataset, right: xr.Dataset) -> None:
        assert dict(left.sizes) == dict(right.sizes)
        assert set(left.variables) == set(right.variables) and left.data_vars
        for name in left.variables:
            one, other = left[name], right[name]
            assert one.dims == other.dims, name
            if one.dtype.kind in "UOT":
                assert one.values.tolist() == other.values.tolist(), name
            else:
                assert one.dtype == other.dtype, name
                assert np.ascontiguousarray(one.values).tobytes() == np.ascontiguousarray(other.values).tobytes(), name

    return assert_same


@pytest.fixture
def reduced_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short runs of deep networks are reduced too, although they take less time than the trial descents do."""
    from linnet.reductions import deep

    monkeypatch.setattr(deep, "WORK_OF_TRIALS_AT_DEPTH_3", 0.0)
    monkeypatch.setattr(deep, "WORK_OF_TRIALS", 0.0)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One browser for all tests of a process: Playwright cannot drive a second one beside it."""
    from browser import chromium

    with chromium("the page") as opened:
        yield opened
