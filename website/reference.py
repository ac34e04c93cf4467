"""The API reference: a page for each package, a heading for each public name, the text from its docstring.

Everything is read from the source files, not imported: what needs PyTorch is documented where there is none.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import griffe

# In the order in which a reader meets them: what linnet promises, without the papers' own folders.
PACKAGES = (
    "linnet.problems",
    "linnet.inits",
    "linnet.reductions",
    "linnet.trainers",
    "linnet.trajectories",
    "linnet.theories.lazy_active",
    "linnet.theories.spectral_bias",
    "linnet.theories.spiked",
    "linnet.theories.feature_learning",
    "linnet.theories.aligned_flow",
    "linnet.theories.ridge",
    "linnet.theories.one_output",
    "linnet.theories.deep",
    "linnet.theories.label_noise",
    "linnet.theories.noise_process",
    "linnet.theories.noise_bulk",
    "linnet.theories.denoising",
    "linnet.observables",
    "linnet.predictions",
    "linnet.draw",
    "linnet.citations",
    "linnet.forecasts",
    "linnet.estimators",
    "linnet.lora",
    "linnet.torch",
    "linnet.sweeps",
    "linnet_papers.reproduction",
    "linnet.style",
    "linnet.precision",
)


@dataclass(frozen=True)
class Name:
    """A public name: where users find it, where it is defined, and what it is in one line."""

    public: str
    home: str
    line: str

    @property
    def short(self) -> str:
        """The name without its package."""
        return self.public.rpartition(".")[2]

    @property
    def link(self) -> str:
        """Where it is described, seen from the folder of the reference."""
        return f"{self.public.rpartition('.')[0]}.md#{self.public}"


def pages(source: Path, folder: Path) -> list[dict[str, str]]:
    """Write the pages into `folder`/reference and return the entries of the navigation."""
    target = folder / "reference"
    target.mkdir(parents=True, exist_ok=True)
    roots = {name: griffe.load(name, search_paths=[source]) for name in ("linnet", "linnet_papers")}
    root = roots["linnet"]
    entries = [{"Overview": "reference/index.md"}, {"The command line": "reference/command_line.md"}]
    described: dict[str, Name] = {}
    rows = ""
    for package in PACKAGES:
        top, _, rest = package.partition(".")
        module = roots[top][rest]
        names = public_names(module)
        text = f"# {package}\n\n{_text(module)}\n"
        for name in names:
            known = described.setdefault(name.home, name)
            if known is name:  # the heading is that of the definition; links lead to the public name
                text += f'\n<a id="{name.public}"></a>\n\n::: {name.home}\n'
            else:
                text += f"\n## {name.short} {{ #{name.public} }}\n\nSee [`{known.public}`]({known.link}).\n"
        (target / f"{package}.md").write_text(text, encoding="utf-8")
        entries.append({package: f"reference/{package}.md"})
        rows += f"| [`{package}`]({package}.md) | {_line(module)} | {_links(names)} |\n"
    shown = [described[name.home] for name in public_names(root) if name.home in described]
    missing = [name.public for name in public_names(root) if name.home not in described]
    if missing:
        raise ValueError(f"public names that no page of the reference describes: {missing}")
    first = "".join(f"| [`ln.{name.short}`]({name.link}) | {name.line} |\n" for name in shown)
    (target / "index.md").write_text(_INDEX.format(first=first, rows=rows), encoding="utf-8")
    return entries


def public_names(module: Any) -> list[Name]:
    """The functions and classes a package promises: those of `__all__` or its stub, or those a plain module defines."""
    listed = module.exports or _names_of_stub(module.filepath)
    chosen = [str(name) for name in listed] if listed else [name for name in module.members if name[0] != "_"]
    found = []
    for name in chosen:
        if name not in module.members:
            continue  # a submodule that is loaded on first use
        member = module.members[name]
        if member.is_alias and not listed:
            continue  # imported for the module's own use
        thing = member.final_target if member.is_alias else member
        if thing.is_module and name in thing.members:
            thing = thing.members[name]  # a function that is named as its file
        if thing.is_class or thing.is_function:
            found.append(Name(f"{module.path}.{name}", thing.path, _line(thing)))
    return found


def _names_of_stub(file: Path) -> list[str]:
    """The names that the stub of a package imports as themselves, which exports them; none without a stub."""
    stub = file.with_suffix(".pyi")
    nodes = ast.walk(ast.parse(stub.read_text(encoding="utf-8") if stub.is_file() else ""))
    aliases = (alias for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names)
    return [alias.name for alias in aliases if alias.asname == alias.name]


def _text(thing: Any) -> str:
    return thing.docstring.value if thing.docstring else ""


def _line(thing: Any) -> str:
    return " ".join(_text(thing).partition("\n\n")[0].split()).replace("|", "\\|")


def _links(names: list[Name]) -> str:
    return ", ".join(f"[`{name.short}`]({name.link})" for name in names)


_INDEX = """# API reference

This page lists every public name. If you do not know which one you need, begin with
[Which function do I need?](../which_function.md)

Arguments are anything array-like, and results are NumPy arrays of float64, unless you ask for `dtype="float32"`. Random
functions take `key`, an integer seed or a JAX key. A time is the learning rate times the number of steps
([time](../concepts.md#time)). `import linnet as ln` takes no time, because each name is loaded when it is first used.

## The names of `linnet` itself

| name | what it is |
|---|---|
{first}
## Packages

| package | what it is | names |
|---|---|---|
{rows}"""
