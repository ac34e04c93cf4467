"""The Dash application: pages, routes for files, what a request may be, and how failures are answered."""

from __future__ import annotations

import logging
import os

from dash import Dash
from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

from linnet_papers.explorer import controls, front
from linnet_papers.explorer.callbacks import register
from linnet_papers.explorer.downloads import as_csv, as_netcdf
from linnet_papers.explorer.home import TITLE
from linnet_papers.explorer.layout import shell
from linnet_papers.explorer.page import MAIN
from linnet_papers.explorer.pages import PAGES
from linnet_papers.explorer.service import Service, failure_answer

# The head of Dash's own page, but for what is sent before (see `front`).
INDEX = (
    front.HEAD
    + """        {%metas%}
        <title>{%title%}</title>
        {%favicon%}
        {%css%}
    </head>
    <body>
        {%app_entry%}
        <footer>
            {%config%}
            {%scripts%}
            {%renderer%}
        </footer>
    </body>
</html>"""
)

_DEBUG = bool(os.environ.get("LINNET_TRACEBACK"))  # as on the command line: log where a request failed
_log = logging.getLogger("linnet_papers.explorer")


def create_app(service: Service | None = None, *, only_local: bool = True) -> Dash:
    """Make the application. With `only_local`, requests under another name than this machine's own are refused.

    Its service is `app.server.extensions["linnet"]`.
    """
    service = service or Service(PAGES)
    app = Dash(
        "linnet_papers.explorer",
        title=TITLE,
        update_title=None,
        serve_locally=True,
        suppress_callback_exceptions=True,  # a page's controls exist only while it is shown
        index_string=INDEX,
        meta_tags=[{"name": "viewport", "content": "width=device-width, initial-scale=1"}],
    )
    server: Flask = app.server
    server.config["MAX_CONTENT_LENGTH"] = front.MAX_REQUEST_BYTES
    server.extensions["linnet"] = service
    _register_hooks(server, only_local)
    _register_downloads(server, service)
    app.layout = shell(service)
    register(app, service)
    # Dash completes itself at its first request, and not as a whole if two come at once.
    server.test_client().get("/", headers={"Host": front.LOOPBACK_NAMES[0]})
    return app


def _register_hooks(server: Flask, only_local: bool) -> None:
    """Register what refuses requests from elsewhere, adds security headers, and answers every failure in a sentence."""

    @server.before_request
    def refuse_strangers() -> Response | None:
        """Answer with status 403 and the reason, or with None to go on."""
        why = front.refusal_reason(
            request.host, request.headers.get("Origin"), only_local, front.sec_fetch_site(request.headers, request.path)
        )
        return Response(why, 403, mimetype="text/plain") if why else None

    @server.after_request
    def add_security_headers(response: Response) -> Response:
        """Add the headers that `front` sends with its own answers."""
        response.headers.update(front.HEADERS)
        return response

    @server.errorhandler(Exception)
    def answer_failure(reason: Exception) -> Response:
        """Answer an HTTP error by its name, and any other exception as a malformed request, which is logged."""
        if isinstance(reason, HTTPException):
            text = {413: f"A request may have at most {front.MAX_REQUEST_BYTES // 2**20} MiB."}.get(
                reason.code or 500, reason.name + "."
            )
            return Response(text + "\n", reason.code or 400, mimetype="text/plain")
        # What Dash cannot make sense of: a payload that no page of ours sends.
        _log.warning("a request was refused (%s: %s)", type(reason).__name__, reason, exc_info=_DEBUG)
        return Response("This request is not one that a page of the explorer makes.\n", 400, mimetype="text/plain")


def _register_downloads(server: Flask, service: Service) -> None:
    """Register the route of links to the numbers behind pictures, as CSV or netCDF."""

    @server.get(f"{front.DATA_PATH}<name>/<part_name>.<ending>")
    def send_dataset(name: str, part_name: str, ending: str) -> Response:
        """Send the dataset of a page's part as a file.

        The query is that of the page's address, without the field of a frozen run, which no control has: it would be
        refused. `showAnswer` of assets/explorer.js writes the links.
        """
        page = service.pages.get(name)
        parts = {part.name: part for part in page.parts} if page else {}
        if page is None or part_name not in parts or ending not in ("csv", "nc"):
            return Response("There is no such file.\n", 404, mimetype="text/plain")
        try:
            state = controls.parse(page.controls, request.query_string.decode("utf-8", "replace"))
            if missing := parts[part_name].missing(state):
                raise ValueError(f"There is nothing in this file before `{missing[0]}` is set on the page.")
            dataset = service.data(page, parts[part_name], state)
            body: str | bytes = as_csv(dataset) if ending == "csv" else as_netcdf(dataset)
        except Exception as reason:
            return Response(failure_answer(reason)["error"] + "\n", 400, mimetype="text/plain")
        kind = "text/csv; charset=utf-8" if ending == "csv" else "application/x-netcdf"
        file = name if part_name == MAIN else f"{name}-{part_name}"
        return Response(
            body, content_type=kind, headers={"Content-Disposition": f'attachment; filename="{file}.{ending}"'}
        )
