"""Rows as a table for people."""

from __future__ import annotations

from collections.abc import Sequence

from harness.rows import Row

_HEAD = ("work", "placement", "metric", "system", "median", "min", "max", "runs", "x raw")
_LEFT = 4  # columns of words


def figure(value: float | None) -> str:
    if value is None:
        return "-"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.work,
        row.placement,
        row.metric,
        row.system,
        figure(row.value),
        figure(row.min),
        figure(row.max),
        str(row.runs),
        figure(row.raw_ratio),
    )


def table(rows: Sequence[Row]) -> str:
    ordered = sorted(rows, key=lambda row: [_first(rows, row.work), row.placement != "same-core", row.metric])
    lines = [_HEAD, *map(_cells, ordered)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEAD))]
    shown: list[str] = []
    before: tuple[str, ...] = ("",) * 3
    for line in lines:
        named = tuple("" if line[: i + 1] == before[: i + 1] else line[i] for i in range(3))
        if shown and line[0] != before[0]:
            shown.append("")
        before = line[:3]
        cells = (*named, *line[3:])
        shown.append(
            "  ".join(
                cell.ljust(width) if column < _LEFT else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
            ).rstrip()
        )
    return "\n".join(shown)


def _first(rows: Sequence[Row], work: str) -> int:
    return next(i for i, row in enumerate(rows) if row.work == work)
