"""BibTeX of the papers behind a prediction or a function, as the references in their docstrings name them."""

from __future__ import annotations

import inspect
import re
from functools import cache
from importlib.resources import files
from typing import Any

import linnet

# "Varre et al. 2023", "Fukumizu 1998", "Gavish and Donoho (2017)"; without a year where there is one paper only
NAMED = re.compile(r"([A-Z][\w-]+)(?: et al\.| and [A-Z][\w-]+)?,?(?: \(?(\d{4}))?")


def citation(*subjects: Any) -> str:
    """Return BibTeX entries of the papers behind predictions and functions; without arguments, of linnet itself.

    Cite what it returns whenever a formula or a claim enters a publication.

    The papers are those that the docstrings give as references. If a docstring calls a formula linnet's own, or names
    no paper, the entry of linnet is among them.

    **Arguments:**

    - `subjects`: predictions of `ln.predict`, and functions, classes or modules of linnet

    **Returns** the entries as text, in the order of the subjects, each entry once.

    **Example:**

        >>> import linnet as ln
        >>> print(ln.citation(ln.theories.spectral_bias.activation_times))
        @misc{varre2023,
          author = {Aditya Varre and Maria-Luiza Vladarean and Loucas Pillaud-Vivien and Nicolas Flammarion},
          title = {On the spectral bias of two-layer linear networks},
          howpublished = {Advances in Neural Information Processing Systems},
          year = {2023},
        }
    """
    found: dict[str, None] = {}
    for subject in subjects:
        text = _reference(subject)
        papers = [entry for name, year in NAMED.findall(text) if (entry := _entry(name, year))]
        found |= dict.fromkeys(papers)
        if not papers or re.search(r"\bours?\b", text):
            found[_software()] = None
    return "\n\n".join(found or [_software()])


@cache
def _entries() -> dict[str, str]:
    """Return the entries of the bibliography by their keys."""
    text = (files("linnet") / "publications.bib").read_text(encoding="utf-8")
    return {entry[entry.index("{") + 1 : entry.index(",")]: entry for entry in text.strip().split("\n\n")}


def _entry(name: str, year: str) -> str | None:
    """Return the entry of an author and a year, or the only one of an author if there is no year."""
    word = re.sub(r"\W", "", name).lower()
    if year:
        return _entries().get(word + year)
    keys = [key for key in _entries() if re.fullmatch(word + r"\d{4}", key)]
    return _entries()[keys[0]] if len(keys) == 1 else None


def _software() -> str:
    """Return the entry of linnet itself, as in CITATION.cff."""
    lines = [
        "  author = {{The linnet maintainers}},",
        "  title = {linnet: how linear networks learn},",
        f"  version = {{{linnet.__version__}}},",
        "  year = {2026},",
    ]
    return "\n".join(["@software{linnet,", *lines, "}"])


def _reference(subject: Any) -> str:
    """Return what a docstring says behind "Reference", on one line; of a module the whole docstring."""
    function = getattr(getattr(subject, "formula", None), "function", subject)
    named = inspect.ismodule(function) or inspect.isroutine(function) or inspect.isclass(function)
    home = str(getattr(function, "__module__", None) or getattr(function, "__name__", "")) if named else ""
    if home.split(".")[0] != "linnet":
        raise ValueError(
            "`subjects` must be predictions of `ln.predict`, or functions, classes or modules of linnet: got "
            f"{subject!r:.80}."
        )
    text = inspect.getdoc(function) or ""
    if not inspect.ismodule(function):
        found = re.search(r"\*\*References?:\*\*(.*?)(\n\n|\Z)", text, re.DOTALL)
        text = found[1] if found else ""
    return " ".join(text.split())
