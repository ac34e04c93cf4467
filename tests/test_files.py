"""Files that are there whole or not at all."""

import errno
from pathlib import Path

import pytest

from linnet._files import write_whole, written_whole


def test_a_file_is_replaced_whole(tmp_path):
    path = tmp_path / "note.txt"
    write_whole(path, "one")
    write_whole(path, b"two")
    assert path.read_text() == "two"
    assert [entry.name for entry in tmp_path.iterdir()] == ["note.txt"]


def test_after_an_error_the_old_file_stands_and_nothing_is_left(tmp_path):
    path = tmp_path / "note.txt"
    write_whole(path, "old")

    def interrupted():
        with written_whole(path) as draft:
            draft.write_text("half")
            assert path.read_text() == "old"
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        interrupted()
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["note.txt"]


def test_two_writers_do_not_meet(tmp_path):
    path = tmp_path / "note.txt"
    with written_whole(path) as one, written_whole(path) as other:
        assert one != other
        one.write_text("one")
        other.write_text("other")
    assert path.read_text() == "one"  # the one that ends last


def test_of_two_that_make_a_file_the_first_does(tmp_path):
    path = tmp_path / "note.txt"
    for text in ("one", "other"):
        write_whole(path, text, replace=False)
    assert path.read_text() == "one" and list(tmp_path.iterdir()) == [path]


def test_nothing_is_left_of_a_folder_that_could_not_be_written_whole(tmp_path, monkeypatch):
    """A full disk, or Ctrl-C: a part would stand in the way of the next try."""
    from linnet_papers.reproduction import new_paper

    wrong = OSError(errno.ENOSPC, "No space left on device")
    with monkeypatch.context() as patch:
        written = []
        write = Path.write_bytes

        def full(path, content):
            written.append(path)
            if len(written) > 3:
                raise wrong
            return write(path, content)

        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(OSError, match="No space left") as told:
            new_paper.write("mine", tmp_path)
    assert str(tmp_path) in str(told.value.filename) and list(tmp_path.iterdir()) == []
    assert new_paper.write("mine", tmp_path).is_dir()
