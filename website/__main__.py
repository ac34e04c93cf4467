"""`python -m website`: build the site from nothing, check its links, and say where it is."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from website import fonts, links, search
from website.assemble import ROOT, assemble


def main() -> None:
    """Assemble, build, check; ends with an error where anything is wrong with the pages."""
    parser = argparse.ArgumentParser(prog="python -m website", description="Build the documentation site.")
    parser.add_argument("--out", type=Path, default=ROOT / "site", help="where the site goes")
    parser.add_argument("--workers", type=int, default=2, help="tutorials that run at a time")
    parser.add_argument("--reuse", action="store_true", help="keep the tutorials as they were run the last time")
    chosen = parser.parse_args()
    start = time.perf_counter()
    folder = ROOT / "build" / "site"
    configuration = assemble(folder, workers=chosen.workers, reuse=chosen.reuse)
    told(f"pages assembled, tutorials executed: {time.perf_counter() - start:.0f} s")
    build(configuration)
    html = folder / "html"
    (html / "404.html").unlink()  # its links begin at a host, and there is none
    fonts.write(html)
    search.name_members(html / "search.json")
    # Where pages are opened from a folder, the search reads its index as a script.
    index = (html / "search.json").read_text(encoding="utf-8")
    (html / "search.js").write_text(f"var __index = {index}", encoding="utf-8")
    broken = links.broken(html)
    if broken:
        sys.exit("broken links:\n" + "\n".join(f"  {line}" for line in broken))
    shutil.rmtree(chosen.out, ignore_errors=True)
    shutil.copytree(html, chosen.out)
    told(f"{len(list(chosen.out.rglob('*.html')))} pages in {time.perf_counter() - start:.0f} s")
    told(f"The site is {chosen.out / 'index.html'}")


def build(configuration: Path) -> None:
    """Run zensical; a warning of it is an error here."""
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict", "--config-file", str(configuration)]
    paths = [str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in paths if path)}
    done = subprocess.run(command, cwd=configuration.parent, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"the site could not be built:\n{done.stdout}{done.stderr}")


def told(line: str) -> None:
    """A line for whoever waits."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
