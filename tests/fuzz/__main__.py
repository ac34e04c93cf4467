"""The full run: every wrong call, in processes that are watched, with a bar and a table at the end.

`python -m fuzz [--processes N] [--only WORD] [--speed quick|slow] [--part 2/5] [--twice N] [--seed N]`, in the folder
of tests; `make fuzz` from the root. Parts, and the quick and the slow examples, have no call in common: a run that is
too long for one sitting is made in several.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter, defaultdict
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from fuzz.processes import HANG, Worker

EACH = 1000  # calls, after which `--watch` says how far it is


def main() -> int:
    """Runs all calls and prints what was found; 1 where a rule was broken."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--processes", type=int, default=max(1, (os.cpu_count() or 2) // 2))
    parser.add_argument("--only", default="", help="examples whose name has this in it; several with commas")
    parser.add_argument("--speed", choices=("quick", "slow", "all"), default="all")
    parser.add_argument("--part", default="1/1", help="such as 2/5: the second of five parts of the examples")
    parser.add_argument("--twice", type=int, default=20, help="pairs of changes for each argument")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--watch", action="store_true", help="print each broken call as it is found")
    parser.add_argument("--report", type=Path, help="a JSON file of all broken calls")
    options = parser.parse_args()
    from rich.progress import Progress

    from fuzz.calling import Outcome
    from fuzz.cases import cases, listed

    words, everything = options.only.split(","), listed()
    chosen = [
        i
        for i, example in enumerate(everything)
        if any(word in example.name for word in words) and options.speed in ("all", "slow" if example.slow else "quick")
    ]
    part, parts = map(int, options.part.split("/"))
    chosen = chosen[part - 1 :: parts]
    total = sum(len(cases(everything[i], twice=options.twice, seed=options.seed)) for i in chosen)
    tasks = [(i, 0) for i in sorted(chosen, key=lambda i: not everything[i].slow)]
    workers = [Worker(tasks, options.twice, options.seed) for _ in range(min(options.processes, len(tasks)))]
    found: list[Any] = []
    began, told = time.monotonic(), 0
    with Progress(transient=not sys.stdout.isatty(), disable=not sys.stdout.isatty()) as bar:
        line = bar.add_task("wrong calls", total=total)
        while workers:
            wait([worker.pipe for worker in workers], timeout=1.0)
            for worker in list(workers):
                alive = True
                while alive and worker.pipe.poll():
                    alive = worker.take(found)
                if not alive:
                    workers.remove(worker)
                elif time.monotonic() - worker.heard > HANG and worker.now is not None:
                    worker.process.kill()
                    worker.again(found, Outcome(worker.now[2], "hung", HANG))
            for outcome in found[told:] if options.watch else ():
                for rule, seen in outcome.broken.items():
                    print(f"{rule}: {outcome.label}: {seen}", flush=True)
            if options.watch and told // EACH < len(found) // EACH:
                print(f"{len(found)} of {total} calls, {time.monotonic() - began:.0f} s", flush=True)
            told = len(found)
            bar.update(line, completed=told)
    return report(found, time.monotonic() - began, options.report)


def report(found: list[Any], seconds: float, file: Path | None) -> int:
    """Prints broken rules with examples of each, and a line of counts."""
    from fuzz.calling import LEFT_OUT
    from fuzz.oracles import RULES

    groups: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for outcome in found:
        for rule, seen in outcome.broken.items():
            groups[rule][outcome.label.split("#")[0]].append(f"{outcome.label}: {seen}")
    for rule, by_name in groups.items():
        print(f"\n{rule} ({RULES[rule]}):")
        for name, cases in sorted(by_name.items(), key=lambda item: -len(item[1])):
            print(f"  {len(cases):4d}  {name}, as in {cases[0]}")
    ended = Counter(outcome.ended for outcome in found)
    wanting = {word: n for word, n in ended.items() if word.startswith(LEFT_OUT)}
    for word, n in wanting.items():
        print(f"{n} calls or examples were {word}, which is not installed")
    slowest = max(found, key=lambda outcome: outcome.seconds, default=None)
    print(f"\n{len(found)} calls in {seconds:.0f} s: " + ", ".join(f"{n} {word}" for word, n in ended.items()))
    if slowest:
        print(f"slowest: {slowest.seconds:.1f} s, {slowest.label}")
    print("; ".join(f"{rule}: {sum(map(len, groups[rule].values())) if rule in groups else 0}" for rule in RULES))
    if file:
        file.write_text(json.dumps({rule: dict(by_name) for rule, by_name in groups.items()}, indent=1))
    return 1 if groups else 0


if __name__ == "__main__":
    sys.exit(main())
