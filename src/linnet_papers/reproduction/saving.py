"""A picture as files: every format from one layout, without dates, so that equal figures are equal files."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linnet import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

PICTURE_FORMATS = ("png", "svg", "pdf")
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_DATELESS: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}


def save(picture: Picture, folder: Path) -> None:
    """Save the picture in every format.

    The layout is found once, while the first is drawn; `savefig` would find it for each, and draw each picture twice.
    """
    import matplotlib
    from matplotlib.backend_bases import get_registered_canvas_class

    with style.applied():
        _number_in_plain_text(picture)
        _find_ticks_once(picture)
        for kind in PICTURE_FORMATS:
            picture.set_dpi(matplotlib.rcParams["savefig.dpi"])  # vector formats change it
            canvas = get_registered_canvas_class(kind)(picture)
            getattr(canvas, f"print_{kind}")(folder / f"figure.{kind}", metadata=_DATELESS[kind])
            if picture.get_layout_engine() is not None:
                picture.set_layout_engine("none")
                _keep_labels(picture)


def _find_ticks_once(picture: Picture) -> None:
    """Keep the ticks of an axis until its limits or its place change; layout and drawing ask for them a dozen times."""

    def remember(axis: Any) -> None:
        find = axis._update_ticks  # matplotlib's own: nothing public is asked by both layout and drawing

        @lru_cache(maxsize=1)
        def found(limits: tuple[float, ...], place: tuple[float, ...]) -> Any:
            return find()

        axis._update_ticks = lambda: found(tuple(axis.get_view_interval()), axis.axes.bbox.bounds)

    for axes in picture.axes:
        remember(axes.xaxis)
        remember(axes.yaxis)


def _keep_labels(picture: Picture) -> None:
    """Leave the labels of axes where they are; every drawing would measure all ticks again to place them."""
    for axes in picture.axes:
        for axis in (axes.xaxis, axes.yaxis):
            place = axis.label.get_transform().transform(axis.label.get_position())
            axis.set_label_coords(*axes.transAxes.inverted().transform(place))


def _number_in_plain_text(picture: Picture) -> None:
    """Write numbers at ticks as plain text; matplotlib makes each a formula, to lay out which takes most of the time.

    The power of ten beside an axis stays a formula. Formatters change their class and are not replaced, as the figure
    may have set their limits.
    """
    from matplotlib.ticker import LogFormatterSciNotation, ScalarFormatter

    class PlainNumbers(ScalarFormatter):
        def get_offset(self) -> str:
            self.set_useMathText(True)
            power = super().get_offset()
            self.set_useMathText(False)
            return power

    class PlainPowers(LogFormatterSciNotation):
        def __call__(self, x: float, pos: int | None = None) -> str:
            return _power_as_text(super().__call__(x, pos))

    for axes in picture.axes:
        for axis in (axes.xaxis, axes.yaxis):
            for formatter in (axis.get_major_formatter(), axis.get_minor_formatter()):
                if type(formatter) is ScalarFormatter and formatter.get_useMathText():
                    formatter.__class__ = PlainNumbers
                    formatter.set_useMathText(False)
                elif type(formatter) is LogFormatterSciNotation:
                    formatter.__class__ = PlainPowers


def _power_as_text(formula: str) -> str:
    """Return matplotlib's formula of a power of ten as text: `$\\mathdefault{2\\times10^{-3}}$` as 2×10⁻³."""
    written = re.fullmatch(r"\$\\mathdefault\{(?:(.*)\\times)?10\^\{(.*)\}\}\$", formula)
    if written is None:
        return formula
    factor, power = written.groups()
    return f"{factor}×" * bool(factor) + f"10{power.translate(_SUPERSCRIPTS)}"
