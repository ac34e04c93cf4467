"""Processes that linnet starts take no module from the current folder, which may be somebody else's."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import linnet
from linnet import _workers

PROCESSES = {
    "a command": (_workers.command("--version"), _workers.environment),
    "a worker": ([sys.executable, "-c", "import typer"], lambda: {**os.environ, **_workers.ENVIRONMENT}),
}


@pytest.mark.parametrize("process", PROCESSES)
def test_files_of_the_current_folder_are_not_run(process, tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(Path(linnet.__file__).parents[1]))
    (tmp_path / "typer.py").write_text("raise SystemExit('run')\n")
    monkeypatch.chdir(tmp_path)
    words, environment = PROCESSES[process]
    assert subprocess.run([sys.executable, "-c", "import typer"]).returncode == 1  # the control
    done = subprocess.run(words, env=environment(), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


POOL = """
import os
import sys
import threading
from linnet._workers import ENVIRONMENT, end_pool, environment_restored, interrupts_later, process_pool

def work():
    pool = process_pool(1)
    with environment_restored(ENVIRONMENT), interrupts_later():
        assert pool.submit(os.getpid).result() != os.getpid()
    end_pool(pool)


if __name__ == "__main__":
    if sys.argv[1] == "thread":
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    else:
        work()
"""


@pytest.mark.parametrize("place", ["main", "thread"])
def test_nor_by_the_process_that_watches_semaphores(place, tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(Path(linnet.__file__).parents[1]))
    mark = tmp_path / "mark"
    here, scripts = tmp_path / "here", tmp_path / "scripts"
    here.mkdir()
    scripts.mkdir()
    (here / "signal.py").write_text(f"open({str(mark)!r}, 'w')\n")
    (scripts / "pool.py").write_text(POOL)
    monkeypatch.chdir(here)
    done = subprocess.run([sys.executable, str(scripts / "pool.py"), place], capture_output=True, text=True)
    assert (done.returncode, done.stderr, mark.exists()) == (0, "", False)
