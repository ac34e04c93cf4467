"""The part of the page *Your data* that takes a file: checked for size in the browser, for everything else here."""

from __future__ import annotations

from dash import Dash, Input, Output, State, dcc, html, no_update
from dash.development.base_component import Component

from linnet_papers.explorer.computing.uploads import KINDS, MAX_BASE64_CHARACTERS, MAX_FILE_BYTES, TOO_LARGE, Uploads
from linnet_papers.explorer.loading import import_modules
from linnet_papers.explorer.page import browser_call
from linnet_papers.explorer.service import failure_answer

UPLOADED = "uploaded"  # the value of the control `table` for the table of the control `upload`
UPLOADS = Uploads()  # of this server, as long as it runs


def upload_box() -> Component:
    """Lay out where a file is dropped or chosen, and what became of it."""
    return html.Div(
        [
            dcc.Upload(
                html.Button("Upload a table", type="button", id="your-data-choose"),
                id="your-data-file",
                accept=",".join(KINDS),
                className="upload",
            ),
            html.Small(
                f"CSV or TSV, at most {MAX_FILE_BYTES // 10**6} MB; a line of names, then numbers. "
                "Drop it here, or choose it.",
                className="help",
            ),
            html.P("", id="your-data-file-status", role="status", className="soft"),
            html.P("", id="your-data-file-error", role="alert", className="error"),
            dcc.Store(id="your-data-sent"),
        ],
        className="control",
    )


def register(app: Dash) -> None:
    """Register the callbacks of an upload."""
    app.clientside_callback(
        browser_call("sendFile", {"characters": MAX_BASE64_CHARACTERS, "refusal": TOO_LARGE}),
        Output("your-data-sent", "data"),
        Output("your-data-file-status", "children"),
        Input("your-data-file", "contents"),
        State("your-data-file", "filename"),
        prevent_initial_call=True,
    )

    @app.callback(
        Output("your-data-table", "value"),
        Output("your-data-upload", "value"),
        Output("your-data-target", "value"),
        Output("your-data-drop", "value"),
        Output("your-data-file-status", "children", allow_duplicate=True),
        Output("your-data-file-error", "children"),
        Input("your-data-sent", "data"),
        prevent_initial_call=True,
    )
    def receive(sent: object) -> tuple[object, ...]:
        """Return the outputs above, in their order."""
        return keep_upload(sent)


def keep_upload(sent: object) -> tuple[object, ...]:
    """Keep a table that the browser sent, and return what the page then shows.

    `sent` has "contents" and "file", as `sendFile` of assets/explorer.js writes them, or whatever a stranger sends.

    **Returns** the values of the controls `table`, `upload`, `target` and `drop`, what is said of the file, and what is
    wrong with it, in the order of the outputs in `register`.
    """
    try:
        import_modules()
        fields = sent if isinstance(sent, dict) else {}
        held = UPLOADS.add(fields.get("contents"), fields.get("file"))  # type: ignore[arg-type]
    except Exception as reason:
        return no_update, no_update, no_update, no_update, "", failure_answer(reason)["error"]
    rows, columns = held.frame.shape
    return UPLOADED, held.token, "", "", f"{held.file}: {rows} rows, {columns} columns. {held.note}", ""
