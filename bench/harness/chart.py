"""Draws rows as an SVG chart: one panel of bars for each work and placement, all of one metric; the raw limit
is grey."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from harness.rows import Row
from harness.table import figure

_WIDTH = 760
_BARS = 420  # width of the longest bar
_LEFT = 170
_LINE = 20
_COLOURS = {"raw": "#9a9a9a", "mf": "#2f6db3"}
_PEER = "#d08a3c"


def _panel(rows: Sequence[Row], top: int) -> list[str]:
    first = rows[0]
    title = f"{first.work}, {first.placement}: {first.metric}"
    parts = [f'<text x="10" y="{top + 14}" font-weight="bold">{escape(title)}</text>']
    most = max(row.value or 0 for row in rows) or 1
    for i, row in enumerate(rows):
        y = top + 22 + i * _LINE
        bar = _BARS * (row.value or 0) / most
        colour = _COLOURS.get(row.system.split("/")[0], _PEER)
        label = figure(row.value) + (f"  ({figure(row.raw_ratio)} x raw)" if row.raw_ratio else "")
        parts += [
            f'<text x="{_LEFT - 8}" y="{y + 12}" text-anchor="end">{escape(row.system)}</text>',
            f'<rect x="{_LEFT}" y="{y}" width="{max(bar, 1):.1f}" height="15" fill="{colour}"/>',
            f'<text x="{_LEFT + bar + 6:.1f}" y="{y + 12}">{escape(label)}</text>',
        ]
    return parts


def write_chart(rows: Sequence[Row], metrics: Mapping[str, str | tuple[str, ...]], path: Path) -> None:
    """`metrics` says which metric or metrics of each work are drawn; other rows are left out."""
    panels: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        wanted = metrics.get(row.work, ())
        if row.metric in ((wanted,) if isinstance(wanted, str) else wanted) and row.value is not None:
            panels.setdefault((row.work, row.placement, row.metric), []).append(row)
    parts: list[str] = []
    top = 10
    for panel in panels.values():
        parts += _panel(panel, top)
        top += 34 + len(panel) * _LINE
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{top}" '
        f'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )
