"""The page *Your data*: a table of one's own, or an example, diagnosed as on the command line."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from linnet.explorer import as_python
from linnet.explorer.computing.example_tables import EXAMPLES, example_frame
from linnet.explorer.computing.uploads import ROWS
from linnet.explorer.controls import State, choice, log, text, whole
from linnet.explorer.page import Page
from linnet.explorer.panels.upload import UPLOADED, UPLOADS, box, register
from linnet.explorer.pictures import your_data as pictures

if TYPE_CHECKING:
    import xarray as xr

    from linnet.forecasts.settings import Settings
    from linnet.forecasts.tables import DataTable

TABLES = {name: f"{name}: {example.about}" for name, example in EXAMPLES.items()} | {UPLOADED: "uploaded"}
SCALES = {"std": "standardised", "none": "centred", "whiten": "whitened"}

CONTROLS = (
    choice("table", "Table", TABLES, "An example of scikit-learn, or the table that was uploaded."),
    text("upload", "Uploaded table", "The fingerprint of an uploaded table.", hidden=True),
    text("target", "Targets", "Columns to predict, with commas; the example's own, or the last column, if empty."),
    text("drop", "Leave out", "Columns to leave out: names or numbers, with commas."),
    choice("missing", "Missing values", ("refuse", "drop", "mean"), "Rows with gaps are refused, dropped, or filled."),
    choice("scale", "Columns", SCALES, "Divided by their standard deviations, centred only, or uncorrelated inputs."),
    log("width", "Width w", 512, (1, 1e12), "Hidden units: they cost nothing.", step=0.1),
    choice("init", "Start", ("pytorch", "gaussian"), "PyTorch's variances 1/(3d) and 1/(3w), or Gaussian 1/d and 1/w."),
    log("init_scale", "Scale of the start", 1.0, (1e-3, 10.0), "Of both layers: small ones learn actively."),
    whole("folds", "Folds", 5, (2, 10), "Of the cross-validation."),
    whole("seeds", "Starts a fold", 1, (1, 3), "Random starts in each fold."),
    whole("steps", "Steps", 0, (0, 16_000), "Of descent; 0 for as many as the held-out error needs.", step=250),
)
OF_TABLE = ("table", "upload", "target", "drop", "missing")


def chosen_table(table: str, upload: str = "", target: str = "", drop: str = "", missing: str = "refuse") -> DataTable:
    """The table that the controls ask for: an example, or an uploaded one by its fingerprint."""
    from linnet.forecasts.tables import from_frame

    if table != UPLOADED:
        frame, targets = example_frame(table)
        return from_frame(frame, target=target or targets, drop=drop or None, missing=missing)
    if not upload:
        raise ValueError("No table is uploaded yet: choose a file below the controls, or an example.")
    held = UPLOADS.get(upload)
    read = from_frame(held.frame, target=target or None, drop=drop or None, missing=missing)
    if held.note:
        read.notes.insert(0, f"{held.file}: {held.note}")
    return read


def settings_of(state: State) -> tuple[DataTable, Settings]:
    """The chosen table, and what is trained on it."""
    from linnet.explorer.computing.diagnosing import bounded_settings

    table = chosen_table(**{name: state[name] for name in OF_TABLE})
    return table, bounded_settings(table, **{name: state[name] for name in state if name not in OF_TABLE})


def compute(**state: Any) -> xr.Dataset:
    """The diagnosis of the chosen table (see `computing.diagnosing.diagnosed`)."""
    from linnet.explorer.computing.diagnosing import diagnosed

    return diagnosed(*settings_of(state))


def script(state: State) -> str:
    """Python that computes the same; for an uploaded table, from the file that was uploaded."""
    settings = settings_of(state)[1]
    changed = {one.name: getattr(settings, one.name) for one in fields(settings)}
    changed = {one.name: changed[one.name] for one in fields(settings) if changed[one.name] != one.default}
    reading = {name: state[name] for name in ("target", "drop", "missing") if state[name] not in ("", "refuse")}
    if state["table"] == UPLOADED:
        held = UPLOADS.get(state["upload"])
        reading |= {"rows": ROWS} if held.note else {}
        lines = ["import linnet as ln\n", f"table = {as_python.call('ln.forecasts.read', reading, repr(held.file))}"]
    else:
        lines = [as_python.source_of((example_frame,)), "import linnet as ln\n"]
        lines += [f"frame, targets = {as_python.call('example_frame', {}, repr(state['table']))}"]
        given = ("frame",) if "target" in reading else ("frame", "target=targets")
        lines += [f"table = {as_python.call('ln.forecasts.from_frame', reading, *given)}"]
    lines += [f"settings = {as_python.call('ln.forecasts.Settings', changed)}"]
    lines += ["diagnosis = ln.forecasts.diagnose_table(table, settings)", "data = diagnosis.to_dataset()"]
    return "\n".join([*lines, "print(diagnosis)", ""])


PAGE = Page(
    name="your-data",
    title="Your data",
    card="Your own table: what is learned from it, and when to stop.",
    introduction=(
        "What a two-layer linear network learns from a table, mode by mode, lazily or actively; when to stop; and "
        "whether ridge regression would do as well: the diagnosis of linnet diagnose, under sliders.",
        "An uploaded table stays in this server's memory and on no disk. An address can hold the controls but not the "
        "table: whoever opens a link to an uploaded one must upload it too.",
    ),
    controls=CONTROLS,
    compute=compute,
    views=pictures.VIEWS,
    own_script=script,
    beside=box,
    register=register,
)
