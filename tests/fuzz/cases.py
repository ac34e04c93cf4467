"""All wrong calls, in a fixed order: one mutation of one argument of an example, or mutations of two at once."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuzz import examples as tables
from fuzz.examples import Example, Made
from fuzz.mutations import Mutation, mutations
from fuzz.surface import Public, is_missing_extra, public


@dataclass(frozen=True)
class Case:
    """One call: an example with some of its arguments changed."""

    example: Example
    changed: dict[str, Mutation]

    @property
    def label(self) -> str:
        """Which call this is, in words."""
        parts = ", ".join(f"{name}={mutation.label}" for name, mutation in self.changed.items())
        return f"{self.example.label()}({parts})"


def value_of(argument: Any) -> Any:
    """An argument of an example; made on first use where it is an object."""
    return argument() if isinstance(argument, Made) else argument


def target(example: Example) -> Any:
    """What an example calls."""
    if example.call is not None:
        return example.call
    each = public()[example.name]
    name = example.name.rpartition(".")[2]
    if each.kind in ("method", "property"):
        return getattr(value_of(example.on), name)
    return getattr(each.owner, name) if each.kind == "classmethod" else each.thing


def listed() -> list[Example]:
    """All examples of the table, and one for each property and method without arguments."""
    tables.load()
    found = [each for name in sorted(tables.EXAMPLES) for each in tables.EXAMPLES[name]]
    for name, each in public().items():
        if name in tables.EXAMPLES:
            continue
        if each.kind == "property":
            made, key = tables.INSTANCES.get(name.rsplit(".", 1)[0]), name.rsplit(".", 1)[1]
            if made is not None:
                found.append(Example(name, {}, made, call=lambda made=made, key=key: getattr(made(), key)))
        elif each.kind == "method" and _takes_nothing(each) and name.rsplit(".", 1)[0] in tables.INSTANCES:
            found.append(Example(name, {}, tables.INSTANCES[name.rsplit(".", 1)[0]]))
        elif each.kind == "function" and _takes_nothing(each):
            found.append(Example(name, {}))
    return found


def missing() -> list[str]:
    """Public names without a valid call in the table."""
    there = {example.name for example in listed()}
    for name, each in public().items():
        if each.kind == "class" and name in tables.INSTANCES and (name in tables.RECEIVED or _takes_nothing(each)):
            there.add(name)
    return [name for name in public() if name not in there]


def _takes_nothing(each: Public) -> bool:
    parameters = list(inspect.signature(each.thing).parameters.values())
    return not [p for p in parameters if p.name != "self"]


def changes(example: Example, name: str) -> Iterator[Mutation]:
    """All that is tried in the place of one argument; not numbers of steps that are right, and merely take long."""
    for mutation in mutations(value_of(example.arguments[name])):
        number = mutation.value if isinstance(mutation.value, (int, float)) else 0
        if name not in example.long or not 1e4 < number < 4e18:
            yield mutation


def single(example: Example) -> Iterator[Case]:
    """All changes of one argument of an example."""
    for name in example.arguments:
        if name not in example.frozen:
            for mutation in changes(example, name):
                yield Case(example, {name: mutation})


def pairs(example: Example, random: np.random.Generator, number: int) -> Iterator[Case]:
    """Some changes of two arguments at once."""
    names = [name for name in example.arguments if name not in example.frozen]
    if len(names) < 2:
        return
    known = {name: list(changes(example, name)) for name in names}
    for _ in range(number):
        chosen = sorted(random.choice(len(names), size=2, replace=False))
        tried = [known[names[i]] for i in chosen]
        yield Case(example, {names[i]: some[int(random.integers(len(some)))] for i, some in zip(chosen, tried)})


def cases(example: Example, *, twice: int, seed: int = 0) -> list[Case]:
    """The valid call, all changes of one argument, and `twice` times as many arguments pairs of changes."""
    random = np.random.default_rng([seed, *example.name.encode(), example.number])
    try:
        for argument in example.arguments.values():
            value_of(argument)
    except ModuleNotFoundError as reason:
        if not is_missing_extra(reason):
            raise
        return [Case(example, {})]  # which is left out, too, when it is called
    return [Case(example, {}), *single(example), *pairs(example, random, twice * len(example.arguments))]
