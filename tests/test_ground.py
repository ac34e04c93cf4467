"""The shared ground: precision, random keys and memory."""

import subprocess
import sys
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import psutil
import pytest

from linnet import _memory as memory
from linnet import _randomness as randomness
from linnet import precision
from linnet._arguments import OutOfRangeError, representable


def test_inside_the_block_numbers_are_what_was_asked_and_outside_nothing_changed():
    before = jnp.ones(1).dtype
    with precision.computing() as dtype:
        assert dtype == np.float64 and jnp.ones(1).dtype == np.float64
    with precision.computing("float32") as dtype:
        assert dtype == np.float32
    assert jnp.ones(1).dtype == before


@pytest.mark.parametrize("dtype", ["float16", "int32", "nonsense", object()])
def test_other_numbers_are_refused(dtype):
    with pytest.raises(ValueError, match="`dtype` must be 'float64' or 'float32'"):
        precision.resolve(dtype)


def test_a_missing_device_is_named_with_those_that_are_there():
    with pytest.raises(ValueError, match=r"JAX finds here \(.*cpu.*\): got 'quantum'"):
        precision.devices("quantum")


def test_streams_of_one_key_are_reproducible_and_independent():
    draw = [randomness.generator(3, *path).standard_normal(2000) for path in [(), (0,), (1,), ()]]
    assert np.array_equal(draw[0], draw[3])
    for a, b in [(0, 1), (1, 2), (0, 2)]:
        assert abs(np.corrcoef(draw[a], draw[b])[0, 1]) < 4 / np.sqrt(2000)
    assert not np.array_equal(randomness.generator(4).standard_normal(5), draw[0][:5])


def test_integer_seeds_and_jax_keys_are_keys_and_nothing_else_is():
    assert randomness.words(np.int64(7)) == [7]
    assert randomness.words(jax.random.key(7)) == randomness.words(jax.random.PRNGKey(7))
    assert jax.random.key_data(randomness.jax_key(7)).shape == (2,)
    for wrong in (None, True, 1.5, "seed", np.ones(2)):
        with pytest.raises(ValueError, match="`key` must be an integer seed or a JAX key"):
            randomness.words(wrong)


def test_what_does_not_fit_is_refused_with_both_sizes(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 4 * memory.GIBIBYTE)
    memory.check_fits(memory.GIBIBYTE, "this", "Less.")
    with pytest.raises(ValueError, match=r"this would take 3.0 GiB, more than half of the 4.0 GiB free. Less."):
        memory.check_fits(3 * memory.GIBIBYTE, "this", "Less.")


def test_a_little_fits_without_a_look_at_the_machine(monkeypatch):
    asked: list[str] = []

    def available() -> int:
        asked.append("once")
        return 1000

    monkeypatch.setattr(memory, "available", available)
    memory.check_fits(memory.SMALL_BYTES, "this", "Less.")
    assert not asked
    with pytest.raises(ValueError, match="this would take"):
        memory.check_fits(memory.SMALL_BYTES + 1, "this", "Less.")
    assert asked == ["once"]


def test_the_memory_free_is_the_minimum_of_what_machine_and_containers_leave(monkeypatch, tmp_path):
    def say(file, text):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)

    monkeypatch.setattr(memory, "SYSTEM", tmp_path)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=4000))
    assert memory.available() == 4000
    say("proc/self/cgroup", "0::/slice/job\n")
    assert memory.available() == 4000
    for name, value in {"max": "800\n", "current": "500\n", "stat": "anon 9\ninactive_file 30\n"}.items():
        say(f"sys/fs/cgroup/slice/memory.{name}", value)
    assert memory.available() == 330
    for name, value in {"max": "max\n", "current": "500\n", "stat": "anon 9\ninactive_file 30\n"}.items():
        say(f"sys/fs/cgroup/slice/job/memory.{name}", value)
    assert memory.available() == 330
    say("sys/fs/cgroup/slice/job/memory.max", "600\n")
    assert memory.available() == 130
    say("sys/fs/cgroup/slice/memory.max", "400\n")
    assert memory.available() == 0


def test_stricter_settings_of_the_importing_program_change_nothing():
    """Promotion rules and the layout of random bits are the program's own affair."""
    import linnet as ln

    random = np.random.default_rng(0)
    problem = ln.Problem.from_data(random.standard_normal((7, 4)), random.standard_normal((7, 3)))
    start = ln.inits.gaussian(key=0, in_dim=4, out_dim=3, width=20, stds=0.3)

    def products():
        return ln.label_noise_descent(problem, start, learning_rate=0.01, steps=5, noise_std=0.1, key=0).products

    usual = products()
    strict = jax.numpy_dtype_promotion("strict"), jax.numpy_rank_promotion("raise"), jax.threefry_partitionable(False)
    with strict[0], strict[1], strict[2]:
        assert np.array_equal(products(), usual)


CACHED = """
import sys, time, jax
from linnet.precision import compilation_cache, computing
before = dict(jax.config.values)
with compilation_cache(sys.argv[1]), computing():
    jax.jit(lambda x: jax.numpy.sin(x) @ x)(jax.numpy.ones((3, 3))).block_until_ready()
assert dict(jax.config.values) == before
jax.jit(lambda x: x + 3)(1).block_until_ready()
"""


def test_compiled_programs_are_kept_where_allowed_and_nowhere_else(tmp_path):
    kept = []
    for _ in range(2):
        subprocess.run([sys.executable, "-c", CACHED, str(tmp_path)], check=True)
        kept.append({path.name: path.stat().st_mtime_ns for path in tmp_path.rglob("*-cache")})
    assert any("lambda" in name for name in kept[0])
    assert kept[1] == kept[0]  # the second process compiled nothing new


def test_short_products_are_a_choice():
    before = dict(jax.config.values)
    for chosen, expected in ((False, "highest"), (True, "tensorfloat32")):
        with precision.computing("float32", tf32=chosen):
            assert jax.config.values["jax_default_matmul_precision"] == expected
    assert dict(jax.config.values) == before


@representable
def share(part, whole, kind="plain"):
    """A float's own division: it raises where NumPy's becomes infinite."""
    return part / (whole * whole)


def test_a_result_beyond_all_numbers_is_told_with_its_arguments():
    assert share(1.0, 2.0) == 0.25
    with pytest.raises(OutOfRangeError, match=r"`share` of `part`, `whole` is beyond the range of float64") as told:
        share(3.0, 1e-200)
    assert isinstance(told.value.__cause__, ZeroDivisionError)
    with pytest.raises(OutOfRangeError, match="`share`"):
        share(np.array([1.0, 0.0, 1e200]), 1e-100)
