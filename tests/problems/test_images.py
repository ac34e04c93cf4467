"""The loaders read the published formats, written here byte by byte, and refuse what is broken."""

from __future__ import annotations

import gzip
import pickle
import struct

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from linnet.problems.images import load_images

PIXELS = 3072


def small_batch(seed: int, count: int = 4) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    return random.integers(0, 256, (count, PIXELS), dtype=np.uint8), random.integers(0, 10, count)


def python2_pickle(data: np.ndarray, labels: np.ndarray) -> bytes:
    """A batch as Python 2 and the NumPy of 2009 wrote it, opcode by opcode (protocol 2, byte strings as keys)."""

    def string(text: bytes) -> bytes:
        return b"U" + bytes([len(text)]) + text if len(text) < 256 else b"T" + struct.pack("<i", len(text)) + text

    dtype = b"cnumpy\ndtype\n" + string(b"u1") + b"K\x00K\x01\x87R"
    dtype += b"(K\x03" + string(b"|") + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    array = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85" + string(b"b") + b"\x87R"
    array += b"(K\x01K" + bytes([data.shape[0]]) + b"M" + struct.pack("<H", data.shape[1]) + b"\x86" + dtype
    array += b"\x89" + string(data.tobytes()) + b"tb"
    numbers = b"](" + b"".join(b"K" + bytes([int(label)]) for label in labels) + b"e"
    return b"\x80\x02}(" + string(b"data") + array + string(b"labels") + numbers + b"u."


def write_idx(file, array: np.ndarray, *, magic: int | None = None, cut: int = 0) -> None:
    header = struct.pack(f">{1 + array.ndim}I", magic or 0x0800 + array.ndim, *array.shape)
    raw = header + array.astype(np.uint8).tobytes()
    raw = raw[: len(raw) - cut]
    file.write_bytes(gzip.compress(raw) if file.suffix == ".gz" else raw)


@pytest.mark.parametrize("below", ["", "cifar-10-batches-py"])
def test_cifar_python_files_of_python_2(tmp_path, below):
    folder = tmp_path / below
    folder.mkdir(exist_ok=True)
    batches = [small_batch(seed) for seed in (0, 1)]
    for i, batch in enumerate(batches, start=1):
        (folder / f"data_batch_{i}").write_bytes(python2_pickle(*batch))
    images = load_images("cifar10", tmp_path)
    assert_array_equal(np.rint(images.pixels * 255), np.concatenate([data for data, _ in batches]))
    assert_array_equal(images.labels, np.concatenate([labels for _, labels in batches]))
    assert images.shape == (3, 32, 32) and images.classes[3] == "cat"
    assert "data_batch_2" in images.source


def test_cifar_python_files_of_python_3(tmp_path):
    data, labels = small_batch(2)
    content = {b"data": data, b"labels": labels.tolist(), b"batch_label": b"training batch 1 of 5"}
    (tmp_path / "data_batch_1").write_bytes(pickle.dumps(content, protocol=2))
    images = load_images("cifar10", str(tmp_path))
    assert_allclose(images.pixels, data / 255.0)
    assert_array_equal(images.labels, labels)


def test_cifar_binary_files_hold_the_same_images(tmp_path):
    data, labels = small_batch(3)
    raw = np.concatenate([labels[:, None].astype(np.uint8), data], axis=1).tobytes()
    (tmp_path / "data_batch_1.bin").write_bytes(raw)
    images = load_images("cifar10", tmp_path)
    assert_array_equal(np.rint(images.pixels * 255), data)
    assert_array_equal(images.labels, labels)


def test_cifar_needs_a_path_and_says_what_was_looked_for(tmp_path):
    with pytest.raises(ValueError, match=r"`path` must be given for cifar10.*never downloaded"):
        load_images("cifar10")
    with pytest.raises(FileNotFoundError, match=r"data_batch_1 or data_batch_1\.bin.*cifar-10-batches-py"):
        load_images("cifar10", tmp_path)


def test_broken_cifar_files_are_refused(tmp_path):
    data, labels = small_batch(4)
    python = tmp_path / "data_batch_1"
    whole = python2_pickle(data, labels)
    python.write_bytes(whole[:-200])
    with pytest.raises(ValueError, match="data_batch_1 is not a batch of CIFAR-10"):
        load_images("cifar10", tmp_path)
    python.write_bytes(b"\x00" * 50)
    with pytest.raises(ValueError, match="data_batch_1 is not a batch of CIFAR-10"):
        load_images("cifar10", tmp_path)
    python.write_bytes(python2_pickle(data[:, :100], labels))
    with pytest.raises(ValueError, match=r"rows of 3072 bytes.*\(4, 100\)"):
        load_images("cifar10", tmp_path)
    python.write_bytes(python2_pickle(data, labels[:3]))
    with pytest.raises(ValueError, match=r"one label each.*3 labels"):
        load_images("cifar10", tmp_path)
    python.write_bytes(python2_pickle(data, labels + 20))
    with pytest.raises(ValueError, match=r"labels outside 0\.\.9"):
        load_images("cifar10", tmp_path)
    python.write_bytes(pickle.dumps({b"pixels": data}, protocol=2))
    with pytest.raises(ValueError, match="must hold `data` and `labels`: it holds pixels"):
        load_images("cifar10", tmp_path)
    python.write_bytes(pickle.dumps([1, 2], protocol=2))
    with pytest.raises(ValueError, match="must hold `data` and `labels`: it holds neither"):
        load_images("cifar10", tmp_path)


def test_a_data_file_cannot_run_code(tmp_path):
    (tmp_path / "data_batch_1").write_bytes(b"cos\nsystem\n(S'true'\ntR.")
    with pytest.raises(ValueError, match=r"refers to os\.system"):
        load_images("cifar10", tmp_path)


def test_a_cut_binary_file_is_refused(tmp_path):
    (tmp_path / "data_batch_1.bin").write_bytes(bytes(3073 * 2 - 1))
    with pytest.raises(ValueError, match="6145 bytes are not a whole number"):
        load_images("cifar10", tmp_path)


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_fashion_mnist_idx_files(tmp_path, suffix):
    random = np.random.default_rng(5)
    pixels, labels = random.integers(0, 256, (6, 28, 28)), random.integers(0, 10, 6)
    folder = tmp_path / "FashionMNIST" / "raw"
    folder.mkdir(parents=True)
    write_idx(folder / f"train-images-idx3-ubyte{suffix}", pixels)
    write_idx(folder / f"train-labels-idx1-ubyte{suffix}", labels)
    images = load_images("fashion-mnist", tmp_path)
    assert_array_equal(np.rint(images.pixels * 255), pixels.reshape(6, -1))
    assert_array_equal(images.labels, labels)
    assert images.shape == (28, 28)


def test_broken_idx_files_are_refused(tmp_path):
    pixels, labels = np.zeros((3, 28, 28)), np.arange(3)
    images_file, labels_file = tmp_path / "train-images-idx3-ubyte", tmp_path / "train-labels-idx1-ubyte"
    write_idx(labels_file, labels)
    with pytest.raises(FileNotFoundError, match="train-images-idx3-ubyte"):
        load_images("fashion-mnist", tmp_path)
    write_idx(images_file, pixels, magic=2050)
    with pytest.raises(ValueError, match="magic number 2051: got 2050"):
        load_images("fashion-mnist", tmp_path)
    write_idx(images_file, pixels, cut=10)
    with pytest.raises(ValueError, match="3x28x28 = 2352 bytes after its header: got 2342"):
        load_images("fashion-mnist", tmp_path)
    write_idx(images_file, pixels[:2])
    with pytest.raises(ValueError, match=r"has 2 images.*has 3 labels"):
        load_images("fashion-mnist", tmp_path)
    images_file.write_bytes(b"\x00\x00\x08")
    with pytest.raises(ValueError, match="cut short"):
        load_images("fashion-mnist", tmp_path)
    images_file.unlink()
    (tmp_path / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(bytes(5000))[:-9])
    with pytest.raises(ValueError, match="not a whole gzip file"):
        load_images("fashion-mnist", tmp_path)


def test_digits_come_with_scikit_learn():
    digits = load_images("digits")
    assert digits.pixels.shape == (1797, 64) and digits.pixels.min() == 0.0 and digits.pixels.max() == 1.0
    assert np.bincount(digits.labels).min() > 170
    with pytest.raises(ValueError, match="`path` is not used for digits"):
        load_images("digits", "somewhere")


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="`name` must be one of digits, cifar10, fashion-mnist: got 'mnist'"):
        load_images("mnist")


def test_two_classes_are_balanced_centred_and_scaled():
    digits = load_images("digits")
    inputs, targets = digits.two_classes(3, 8, samples=201, key=0)
    assert inputs.shape == (201, 64) and targets.sum() == 1.0 and set(targets) == {1.0, -1.0}
    assert_allclose(inputs.mean(axis=0), 0.0, atol=1e-12)
    assert_allclose((inputs**2).mean(), 1.0, rtol=1e-12)
    again, _ = digits.two_classes(3, 8, samples=201, key=0)
    assert_array_equal(inputs, again)
    threes = digits.pixels[digits.labels == 3]
    image = inputs[0] - inputs[1]  # differences of one class, up to scale, are differences of its images
    scale = np.linalg.norm(image)
    differences = (threes[:, None] - threes[None]).reshape(-1, 64)
    norms = np.linalg.norm(differences, axis=1)
    cosines = differences @ image / np.maximum(norms * scale, 1e-300)
    assert cosines.max() == pytest.approx(1.0, abs=1e-12)
    with pytest.raises(ValueError, match="there are 183"):
        digits.two_classes(3, 8, samples=400, key=0)
