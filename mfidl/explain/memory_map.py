"""A memory image drawn with characters, eight bytes a row:

    0   1   2   3   4   5   6   7
  +---------------+-------+-------+
0 | doc           | tf    |///////|
  +---------------+-------+-------+
"""

from mfidl.explain.byte_rows import ROW, ByteRow, byte_rows
from mfidl.explain.report import Layout

_CELL = 4  # characters a byte
_MOST_ROWS = 40


def draw(layout: Layout) -> list[str]:
    """Lines; none for what has no bytes, or would fill pages. Rows in the middle of a long field are left
    out.
    """
    rows = byte_rows(layout, _MOST_ROWS)
    if not rows:
        return []
    offsets, wide = max(5, len(str(rows[-1].offset)) + 1), min(layout.size, ROW)
    indent = " " * (offsets + 1)
    lines = [indent + "".join(f"{byte:>{_CELL - 1}} " for byte in range(wide)).rstrip()]
    above = ""
    for row in rows:
        if row.gap:
            lines.append(f"{indent}:{'':{wide * _CELL - 1}}:")
        text = _text(row)
        lines.append(indent + _border(above, text, _continued(row)))
        lines.append(f"{row.offset:>{offsets}} {text}")
        above = text
    lines.append(indent + _border(above, "", range(0)))
    return lines


def _continued(row: ByteRow) -> range:
    """The columns in which a row continues the field of the row above."""
    cell = row.cells[0]
    if cell.begins:
        return range(0)
    before = max(0, cell.slot.offset - (row.offset - ROW))
    return range(before * _CELL + 1, cell.span * _CELL)


def _text(row: ByteRow) -> str:
    text = "|"
    for cell in row.cells:
        inner = cell.span * _CELL - 1
        label = _label(cell.slot.name or "", inner) if cell.begins else ""
        text += ("/" * inner if cell.slot.name is None else label.ljust(inner)) + "|"
    return text


def _label(name: str, width: int) -> str:
    """` inner.x`, or as much of its end as fits: ` x`."""
    parts = name.split(".")
    while len(parts) > 1 and len(".".join(parts)) + 1 > width:
        parts.pop(0)
    return f" {'.'.join(parts)}"[:width]


def _border(above: str, below: str, continued: range) -> str:
    corners = ["|" in (above[at : at + 1], below[at : at + 1]) for at in range(max(len(above), len(below)))]
    return "".join("+" if corner else " " if at in continued else "-" for at, corner in enumerate(corners))
