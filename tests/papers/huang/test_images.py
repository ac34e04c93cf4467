"""The loaders read the published formats, written here byte by byte, refuse what is broken, and read what they draw."""

from __future__ import annotations

import pickle
import struct
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from linnet_papers.huang.images import load_images

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


def write_batches(folder, batches, *, first: int = 1) -> None:
    """Batches as pickles of Python 2, numbered from `first` on."""
    for i, batch in enumerate(batches, start=first):
        (folder / f"data_batch_{i}").write_bytes(python2_pickle(*batch))


@pytest.fixture
def rest(tmp_path):
    """Whole batches 2 to 5, for tests of the first."""
    write_batches(tmp_path, [small_batch(seed) for seed in range(2, 6)], first=2)
    return tmp_path


@pytest.mark.parametrize("below", ["", "cifar-10-batches-py"])
def test_cifar_python_files_of_python_2(tmp_path, below):
    folder = tmp_path / below
    folder.mkdir(exist_ok=True)
    batches = [small_batch(seed) for seed in range(5)]
    write_batches(folder, batches)
    images = load_images("cifar10", tmp_path)
    assert_array_equal(np.rint(images.pixels * 255), np.concatenate([data for data, _ in batches]))
    assert_array_equal(images.labels, np.concatenate([labels for _, labels in batches]))
    assert images.shape == (3, 32, 32) and images.classes[3] == "cat"
    assert "data_batch_2" in images.source


def test_cifar_python_files_of_python_3(rest):
    data, labels = small_batch(2)
    content = {b"data": data, b"labels": labels.tolist(), b"batch_label": b"training batch 1 of 5"}
    (rest / "data_batch_1").write_bytes(pickle.dumps(content, protocol=2))
    images = load_images("cifar10", str(rest))
    assert_allclose(images.read(np.arange(4)), data / 255.0)
    assert_array_equal(images.labels[:4], labels)


def test_cifar_binary_files_hold_the_same_images(rest):
    data, labels = small_batch(3)
    raw = np.concatenate([labels[:, None].astype(np.uint8), data], axis=1).tobytes()
    (rest / "data_batch_1.bin").write_bytes(raw)
    images = load_images("cifar10", rest)
    assert_array_equal(np.rint(images.read(np.array([2, 0, 2])) * 255), data[[2, 0, 2]])
    assert_array_equal(images.labels[:4], labels)


def test_an_incomplete_set_is_refused_by_name(rest):
    with pytest.raises(FileNotFoundError, match=r"copy of cifar10 in .* is incomplete: it lacks data_batch_1 or"):
        load_images("cifar10", rest)
    (rest / "data_batch_3").unlink()
    with pytest.raises(FileNotFoundError, match=r"lacks data_batch_1 or data_batch_1.bin, data_batch_3 or"):
        load_images("cifar10", rest)


def test_only_what_is_drawn_is_read(tmp_path):
    """200 of 50 000 pictures, in memory far below that of all of them (150 MB of bytes, 1.2 GB of numbers)."""
    import tracemalloc

    random = np.random.default_rng(0)
    for i in range(1, 6):
        labels = random.integers(0, 10, 10_000).astype(np.uint8)
        records = np.zeros((10_000, PIXELS + 1), dtype=np.uint8)
        records[:, 0], records[:, 1:5] = labels, labels[:, None] + np.arange(4)
        records.tofile(tmp_path / f"data_batch_{i}.bin")
    tracemalloc.start()
    images = load_images("cifar10", tmp_path)
    inputs, targets = images.two_classes(3, 8, samples=200, key=0, centered=False, targets="labels")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(images) == 50_000 and inputs.shape == (200, PIXELS)
    assert_allclose(inputs[:, 1] / inputs[:, 0], (targets + 1) / targets)  # each picture with its own label
    assert peak < 60e6


def test_positions_that_are_not_there_are_refused():
    with pytest.raises(ValueError, match=r"`positions` must lie in 0\.\.1796: got -1 to 3"):
        load_images("digits").read(np.array([3, -1]))


def test_cifar_needs_a_path_and_says_what_was_looked_for(tmp_path):
    with pytest.raises(ValueError, match=r"`path` must be given for cifar10.*never downloaded"):
        load_images("cifar10")
    with pytest.raises(FileNotFoundError, match=r"data_batch_1 or data_batch_1\.bin.*cifar-10-batches-py"):
        load_images("cifar10", tmp_path)


def test_broken_cifar_files_are_refused(rest):
    data, labels = small_batch(4)
    python = rest / "data_batch_1"
    whole = python2_pickle(data, labels)
    python.write_bytes(whole[:-200])
    with pytest.raises(ValueError, match="data_batch_1 is not a batch of CIFAR-10"):
        load_images("cifar10", rest)
    python.write_bytes(b"\x00" * 50)
    with pytest.raises(ValueError, match="data_batch_1 is not a batch of CIFAR-10"):
        load_images("cifar10", rest)
    python.write_bytes(python2_pickle(data[:, :100], labels))
    with pytest.raises(ValueError, match=r"rows of 3072 bytes.*\(4, 100\)"):
        load_images("cifar10", rest)
    python.write_bytes(python2_pickle(data, labels[:3]))
    with pytest.raises(ValueError, match=r"one label each.*3 labels"):
        load_images("cifar10", rest)
    python.write_bytes(python2_pickle(data, labels + 20))
    with pytest.raises(ValueError, match=r"labels outside 0\.\.9"):
        load_images("cifar10", rest)
    python.write_bytes(pickle.dumps({b"pixels": data}, protocol=2))
    with pytest.raises(ValueError, match="must hold `data` and `labels`: it holds pixels"):
        load_images("cifar10", rest)
    python.write_bytes(pickle.dumps([1, 2], protocol=2))
    with pytest.raises(ValueError, match="must hold `data` and `labels`: it holds neither"):
        load_images("cifar10", rest)


def test_a_data_file_cannot_run_code(rest):
    (rest / "data_batch_1").write_bytes(b"cos\nsystem\n(S'true'\ntR.")
    with pytest.raises(ValueError, match=r"refers to os\.system"):
        load_images("cifar10", rest)


def test_a_cut_binary_file_is_refused(rest):
    (rest / "data_batch_1.bin").write_bytes(bytes(3073 * 2 - 1))
    with pytest.raises(ValueError, match="6145 bytes are not a whole number"):
        load_images("cifar10", rest)


def test_photographs_are_patches_of_two_pictures():
    from sklearn.datasets import load_sample_image

    images = load_images("photographs")
    assert images.shape == (3, 32, 32) and images.classes == ("china", "flower")
    assert_array_equal(np.bincount(images.labels), [260, 260])
    flower = load_sample_image("flower.jpg")  # scikit-learn's own reader: (row, column, channel)
    patch = images.read(np.array([260 + 21])).reshape(3, 32, 32)  # the second row of patches, its second
    assert_array_equal(np.rint(255 * patch).transpose(1, 2, 0), flower[32:64, 32:64])


def test_a_package_that_is_not_there_is_named(monkeypatch):
    from linnet_papers.huang.images import _packaged as packaged

    monkeypatch.setattr(packaged, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"the set of pictures needs sklearn, .*: pip install"):
        packaged._package_folder("pictures", "sklearn")


def test_digits_come_with_scikit_learn():
    digits = load_images("digits")
    assert digits.pixels.shape == (1797, 64) and digits.pixels.min() == 0.0 and digits.pixels.max() == 1.0
    assert np.bincount(digits.labels).min() > 170
    with pytest.raises(ValueError, match="`path` is not used for digits"):
        load_images("digits", "somewhere")


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="`name` must be one of digits, photographs, cifar10: got"):
        load_images("mnist")


def test_two_classes_are_balanced_centered_and_scaled():
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


def test_raw_pixels_and_class_numbers_are_the_other_convention():
    digits = load_images("digits")
    inputs, targets = digits.two_classes(samples=20, key=0, centered=False, targets="labels")
    centered, signs = digits.two_classes(3, 8, samples=20, key=0)
    assert set(targets) == {3.0, 8.0} and inputs.min() == 0.0
    assert_allclose((inputs**2).mean(), 1.0, rtol=1e-12)
    assert_array_equal(targets == 3.0, signs > 0)
    moved = inputs - inputs.mean(axis=0)
    assert_allclose(moved / np.sqrt((moved**2).mean()), centered, atol=1e-12)
    with pytest.raises(ValueError, match="`targets` must be one of signs, labels: got 'ones'"):
        digits.two_classes(samples=4, key=0, targets="ones")
    with pytest.raises(ValueError, match="`second` must be a class of digits, 0 to 9: got 10"):
        digits.two_classes(3, 10, samples=4, key=0)


def test_claims_about_cifar_take_the_copy_that_is_given(tmp_path, monkeypatch):
    from linnet_papers.huang.claims import section_6

    write_batches(tmp_path, [small_batch(seed) for seed in range(1, 6)])
    assert {pictures.name for pictures in section_6._pictures()} == set(section_6.OTHER_SETS)
    monkeypatch.setattr(section_6, "data_folder", lambda: str(tmp_path))
    (pictures,) = section_6._pictures()
    runs: Any = {f"{pictures.name}, raw": None, "digits, raw": None}
    assert section_6._share_of_cifar(runs) == 0.5
