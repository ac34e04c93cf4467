"""Files of arrays: what they claim is checked before memory is used, and only what is used is read."""

import io
import tracemalloc
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from linnet.forecasts import read


def claimed(shape, dtype="<f8"):
    """The header of an array, with nothing behind it."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": dtype, "fortran_order": False, "shape": shape})
    return stream.getvalue()


def archive(path, members, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression) as opened:
        for name, content in members.items():
            opened.writestr(name, content)
    return path


@pytest.mark.parametrize("order", ["C", "F"])
def test_some_rows_of_an_archive_are_those_of_the_array(tmp_path, order):
    X = np.asarray(np.random.default_rng(0).normal(size=(1000, 3)), order=order)
    Y = X @ [[1.0], [2], [3]]
    np.save(tmp_path / "whole.npy", np.hstack([X, Y]))
    np.savez_compressed(tmp_path / "t.npz", X=X, Y=Y)
    few, of_npy = read(tmp_path / "t.npz", rows=17, key=3), read(tmp_path / "whole.npy", rows=17, key=3)
    assert_array_equal(few.inputs, of_npy.inputs)
    assert_array_equal(read(tmp_path / "t.npz").outputs, Y)


def test_ten_rows_take_the_memory_of_ten_rows(tmp_path):
    """A MiB of zeros took 2.5 GB; arrays that nobody asked for were unpacked too."""
    X = np.zeros((400_000, 20))  # 61 MiB
    X[:, 0] = np.arange(len(X))
    np.savez_compressed(tmp_path / "t.npz", X=X, Y=X[:, :1], junk=X)
    tracemalloc.start()
    table = read(tmp_path / "t.npz", rows=10)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert_array_equal(table.inputs[:, :1], table.outputs)
    assert most < 50 * 2**20


def test_a_header_that_claims_the_world_is_refused_before_it_is_read(tmp_path):
    huge = claimed((10**10, 1000))
    path = archive(tmp_path / "t.npz", {"X.npy": huge, "Y.npy": claimed((10**10, 1))})
    with pytest.raises(ValueError, match=r"an array of 10000000000 x 1000 in t.npz would take"):
        read(path)
    with pytest.raises(ValueError, match=r"t.npz cannot be read: it ends before its array does"):
        read(path, rows=10)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"X.npy": b"1,2,3,4,5,6", "Y.npy": b"1"}, "t.npz cannot be read: the magic string"),
        ({"X.npy": claimed((3, 2), "|O"), "Y.npy": claimed((3, 1))}, "t.npz cannot be read: it holds Python objects"),
        ({"X.npy": claimed((3, 2)), "x.npy": claimed((3, 2)), "Y.npy": claimed((3, 1))}, "t.npz must hold one array X"),
        ({"X.npy": claimed((3, 2)), "Y.npy": claimed((4, 1))}, "t.npz must have the same number of rows: got 3"),
        ({"X.npy": claimed((3, 2), "<c16"), "Y.npy": claimed((3, 1))}, "it holds complex128, not real numbers"),
    ],
)  # fmt: skip
def test_archives_that_lie(tmp_path, members, message):
    with pytest.raises(ValueError, match=message):
        read(archive(tmp_path / "t.npz", members))


def test_damaged_files_are_named(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.random.default_rng(0).normal(size=(50, 2)), Y=np.ones((50, 1)))
    content = (tmp_path / "t.npz").read_bytes()
    (tmp_path / "short.npz").write_bytes(content[:-200])
    (tmp_path / "wrong.npz").write_bytes(content[:400] + b"\xff" + content[401:])
    (tmp_path / "empty.npy").write_bytes(b"")
    (tmp_path / "empty.npz").write_bytes(b"")
    for name in ("short.npz", "wrong.npz", "empty.npy", "empty.npz"):
        with pytest.raises(ValueError, match=f"{name} cannot be read: "):
            read(tmp_path / name)


@pytest.mark.parametrize(
    "header", ["(" * 900, "[" * 900, "{'descr': [", "{'descr': 3, 'shape': (2,)}", "{1: 2}", "3", ""]
)
def test_headers_that_are_not_numpys(tmp_path, header):
    place = tmp_path / "header.npy"
    place.write_bytes(b"\x93NUMPY\x01\x00" + (len(header) + 1).to_bytes(2, "little") + header.encode() + b"\n")
    with pytest.raises(ValueError, match=r"header\.npy cannot be read: "):
        read(place)
