"""What several figures draw in the same way: panels side by side, and maps of cells with their color bar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linnet import style


def panel_axes(letters: Sequence[str], *, ratio: float, **options: Any) -> tuple[style.Picture, dict[str, style.Axes]]:
    """Return a picture of panels side by side, and their axes by letter; to be used inside `style.applied()`.

    **Arguments:**

    - `letters`: of the panels, one column of the page for each
    - `ratio`: height over width of a panel
    - `options`: those of `plt.subplots`

    **Example:**

        >>> from linnet import style
        >>> from linnet_papers.reproduction.drawing import panel_axes
        >>> with style.applied():
        ...     picture, axes = panel_axes("ab", ratio=0.8)
        >>> list(axes)
        ['a', 'b']
    """
    size = style.column(len(letters), ratio=ratio / len(letters))
    picture, axes = style.subplots(1, len(letters), size=size, squeeze=False, **options)
    return picture, dict(zip(letters, axes[0], strict=True))


def cell_map(
    axis: style.Axes, across: Any, up: Any, values: Any, *, bar: dict[str, Any] | None = None, **look: Any
) -> None:
    """Draw a value for each cell in color, with a color bar beside the panel.

    **Arguments:**

    - `axis`: of the panel
    - `across`, `up`: the middles of the cells along both axes
    - `values`: (up, across)
    - `bar`: options of the color bar
    - `look`: options of `pcolormesh`
    """
    shades = axis.pcolormesh(across, up, values, shading="nearest", rasterized=True, **look)
    axis.figure.colorbar(shades, ax=axis, **(bar or {}))
    axis.grid(False)


def around_zero(reach: float) -> dict[str, Any]:
    """Return the colors of a signed quantity between -reach and reach."""
    return {"cmap": style.DIVERGING, "vmin": -reach, "vmax": reach}
