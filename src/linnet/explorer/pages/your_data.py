"""The page *Your data*: a table of one's own, or an example, diagnosed as on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linnet.explorer.computing import example_tables
from linnet.explorer.computing.uploads import ROWS
from linnet.explorer.controls import Control, State
from linnet.explorer.page import Page
from linnet.explorer.panels.upload import UPLOADED, UPLOADS, box, register
from linnet.explorer.pictures import your_data as pictures

if TYPE_CHECKING:
    import xarray as xr

    from linnet.forecasts.tables import DataTable

CONTROLS = (
    Control(
        "table",
        "Table",
        "An example of scikit-learn, or the table that was uploaded.",
        "wine",
        "choice",
        choices=(
            *((name, f"{name}: {e.about}") for name, e in example_tables.EXAMPLES.items()),
            (UPLOADED, "uploaded"),
        ),
    ),
    Control("upload", "Uploaded table", "The fingerprint of an uploaded table.", "", "text", hidden=True),
    Control(
        "target",
        "Targets",
        "What to predict: names or numbers of columns, with commas; the example's own, or the last column, if empty.",
        "",
        "text",
    ),
    Control("drop", "Leave out", "Columns to leave out: names or numbers, with commas.", "", "text"),
    Control(
        "missing",
        "Missing values",
        "Rows with gaps are refused, dropped, or filled with the column's mean.",
        "refuse",
        "choice",
        choices=("refuse", "drop", "mean"),
    ),
    Control(
        "scale",
        "Columns",
        "Divided by their standard deviations, centred only, or inputs made uncorrelated.",
        "std",
        "choice",
        choices=(("std", "standardised"), ("none", "centred"), ("whiten", "whitened")),
    ),
    Control("width", "Width w", "Hidden units: they cost nothing.", 512, "log", low=1, high=1e12, step=0.1),
    Control(
        "init",
        "Start",
        "How layers begin: PyTorch's variances 1/(3d) and 1/(3w), or Gaussian ones 1/d and 1/w.",
        "pytorch",
        "choice",
        choices=("pytorch", "gaussian"),
    ),
    Control(
        "init_scale",
        "Scale of the start",
        "Multiplies both layers: small starts learn actively, large ones lazily.",
        1.0,
        "log",
        low=1e-3,
        high=10.0,
        step=0.05,
    ),
    Control("folds", "Folds", "Of the cross-validation.", 5, "whole", low=2, high=10, step=1),
    Control("seeds", "Starts a fold", "Random starts in each fold.", 1, "whole", low=1, high=3, step=1),
    Control(
        "steps",
        "Steps",
        "Of descent; 0 for as many as the held-out error needs.",
        0,
        "whole",
        low=0,
        high=16_000,
        step=250,
    ),
)


def chosen_table(table: str, upload: str = "", target: str = "", drop: str = "", missing: str = "refuse") -> DataTable:
    """The table that the controls ask for: an example, or an uploaded one by its fingerprint."""
    from linnet.forecasts.tables import from_frame

    if table == UPLOADED:
        if not upload:
            raise ValueError("No table is uploaded yet: choose a file below the controls, or an example.")
        held = UPLOADS.get(upload)
        found = from_frame(held.frame, target=target or None, drop=drop or None, missing=missing)
        if held.note:
            found.notes.insert(0, f"{held.file}: {held.note}")
        return found
    frame, targets = example_tables.frame(table)
    return from_frame(frame, target=target or list(targets), drop=drop or None, missing=missing)


def compute(table: str, upload: str, target: str, drop: str, missing: str, **settings: Any) -> xr.Dataset:
    """The diagnosis of the chosen table (see `computing.diagnosing.diagnosed`)."""
    from linnet.explorer.computing.diagnosing import diagnosed

    return diagnosed(chosen_table(table, upload, target, drop, missing), **settings)


def script(state: State) -> str:
    """Python that computes the same; for an uploaded table, from the file that was uploaded."""
    from linnet.explorer.computing.diagnosing import most_steps
    from linnet.forecasts.folds import MAX_STEPS

    asked = {name: str(state[name]) for name in ("table", "upload", "target", "drop", "missing")}
    _, inputs, targets = chosen_table(**asked).shape
    words = [f"{name}={asked[name]!r}" for name in ("target", "drop") if asked[name]]
    words += [f"missing={asked['missing']!r}"] * (asked["missing"] != "refuse")
    if asked["table"] == UPLOADED:
        held = UPLOADS.get(asked["upload"])
        words = [repr(held.file), *words, *([f"rows={ROWS}"] if held.note else [])]
        lines = ["import linnet as ln", "", f"table = ln.forecasts.read({', '.join(words)})"]
    else:
        words = ["frame", *([] if asked["target"] else ["target=list(targets)"]), *words]
        lines = ["import linnet as ln", example_tables.script(asked["table"]), ""]
        lines.append(f"table = ln.forecasts.from_frame({', '.join(words)})")
    settings = {name: state[name] for name in ("width", "init", "init_scale", "scale", "folds", "seeds")}
    longest = most_steps(inputs, targets, int(state["folds"]) * int(state["seeds"]))  # type: ignore[arg-type]
    if state["steps"]:
        settings["steps"] = state["steps"]
    elif longest < MAX_STEPS:
        settings["longest"] = longest
    given = "".join(f"    {name}={value!r},\n" for name, value in settings.items())
    return "\n".join(
        [
            *lines,
            f"settings = ln.forecasts.Settings(\n{given})",
            "found = ln.forecasts.diagnose_table(table, settings)",
            "data = found.to_dataset()",
            "print(found)",
            "",
        ]
    )


PAGE = Page(
    name="your-data",
    title="Your data",
    introduction=(
        "What a two-layer linear network learns from a table, mode by mode, lazily or actively; when to stop; and "
        "whether ridge regression would do as well: the diagnosis of linnet diagnose, under sliders.",
        "An uploaded table stays in this server's memory and on no disk. An address can hold the controls but not the "
        "table: whoever opens a link to an uploaded one must upload it too.",
    ),
    controls=CONTROLS,
    compute=compute,
    views=pictures.VIEWS,
    script=script,
    beside=box,
    register=register,
)
