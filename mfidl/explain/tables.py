"""Columns, labelled entries and headlines of the text."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from mfidl.explain.report import Cost

WIDTH = 78
_LABEL = 13


def headline(left: str, right: str) -> str:
    """Left and right of one line; with two blanks between them where that is too long."""
    return f"{left}  {right:>{max(0, WIDTH - len(left) - 2)}}"


def entry(label: str, text: str) -> Iterator[str]:
    """`  why       the text, wrapped below itself`."""
    lines = textwrap.wrap(text, WIDTH - _LABEL, break_long_words=False, break_on_hyphens=False) or [""]
    yield f"  {label:{_LABEL - 3}} {lines[0]}"
    yield from (" " * _LABEL + more for more in lines[1:])


def table(head: Sequence[str], rows: Iterable[Sequence[str]], right: int) -> Iterator[str]:
    """The first `right` columns stand to the right; the last one is as long as it likes."""
    rows = [head, *rows]
    widths = [max(len(row[at]) for row in rows) for at in range(len(head) - 1)]
    for row in rows:
        cells = [
            cell.rjust(width) if at < right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=False))
        ]
        yield "  " + "  ".join([*cells, row[-1]])


def cost_cells(cost: Cost | None, with_example: bool = True) -> tuple[str, str, str]:
    """min, example, max; a dash where there is none."""
    if cost is None:
        return "-", "-", "-"
    example = str(cost.example) if with_example else ""
    return str(cost.fewest), example, "no end" if cost.most is None else str(cost.most)
