"""A memory image drawn with characters, eight bytes a row:

    0   1   2   3   4   5   6   7
  +---------------+-------+-------+
0 | doc           | tf    |///////|
  +---------------+-------+-------+
"""

from collections.abc import Sequence

from mfidl.explain.byte_rows import ROW, is_middle
from mfidl.explain.report import Slot

_CELL = 4  # characters a byte
_MOST_ROWS = 40


def draw(slots: Sequence[Slot], size: int) -> list[str]:
    """Lines; none for what has no bytes, or would fill pages. Rows in the middle of a long field are left
    out.
    """
    slots = [slot for slot in slots if slot.size]
    rows = [at for at in range(0, size, ROW) if not is_middle(slots, at)]
    if not slots or len(rows) > _MOST_ROWS:
        return []
    offsets = max(5, len(str(rows[-1])) + 1)
    indent = " " * (offsets + 1)
    lines = [indent + "".join(f"{byte:>{_CELL - 1}} " for byte in range(min(size, ROW))).rstrip()]
    above: list[str] = []
    previous = -ROW
    for at in rows:
        if at != previous + ROW:
            lines.append(f"{indent}:{'':{_width(size) - 2}}:")
        row = _row(slots, at, size)
        lines.append(indent + _border(above, row, _continued(slots, at)))
        lines.append(f"{at:>{offsets}} {''.join(row)}")
        above, previous = row, at
    lines.append(indent + _border(above, [], None))
    return lines


def _width(size: int) -> int:
    return min(size, ROW) * _CELL + 1


def _continued(slots: Sequence[Slot], at: int) -> tuple[int, int] | None:
    """The columns in which a row continues the field of the row above."""
    for slot in slots:
        end = slot.offset + slot.size
        if slot.offset < at < end:
            first = max(slot.offset, at - ROW) - (at - ROW) if slot.offset > at - ROW else 0
            return first * _CELL, min(end - at, ROW) * _CELL
    return None


def _row(slots: Sequence[Slot], at: int, size: int) -> list[str]:
    last = min(at + ROW, size)
    row = [" "] * ((last - at) * _CELL + 1)
    for slot in slots:
        first, end = max(slot.offset, at), min(slot.offset + slot.size, last)
        if first >= end:
            continue
        left, right = (first - at) * _CELL, (end - at) * _CELL
        inner = right - left - 1
        label = _label(slot.name or "", inner) if first == slot.offset else ""
        text = "/" * inner if slot.name is None else label
        row[left] = row[right] = "|"
        row[left + 1 : right] = list(text.ljust(inner))
    return row


def _label(name: str, width: int) -> str:
    """` inner.x`, or as much of its end as fits: ` x`."""
    parts = name.split(".")
    while len(parts) > 1 and len(".".join(parts)) + 1 > width:
        parts.pop(0)
    return f" {'.'.join(parts)}"[:width]


def _border(above: list[str], below: list[str], continued: tuple[int, int] | None) -> str:
    line = []
    for at in range(max(len(above), len(below))):
        corner = "|" in (above[at : at + 1] + below[at : at + 1])
        line.append("+" if corner else "-")
    if continued is not None:
        for at in range(continued[0] + 1, continued[1]):
            if line[at] == "-":
                line[at] = " "
    return "".join(line)
