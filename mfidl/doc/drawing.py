"""A memory layout as rows of eight bytes; middles of long fields are left out."""

from mfidl.doc.views import ByteRow, Cell, Drawing
from mfidl.explain import report

_ROW = 8
_MOST_ROWS = 64
_HUES = 6
_LETTERS = 7  # that fit into a byte


def draw(title: str, layout: report.Layout) -> Drawing | None:
    """None where there is nothing to see, or too much."""
    slots = [slot for slot in layout.slots if slot.size]
    offsets = [at for at in range(0, layout.size, _ROW) if not _is_middle(slots, at)]
    if not slots or len(offsets) > _MOST_ROWS:
        return None
    hues = {slot.offset: f"hue{at % _HUES}" for at, slot in enumerate(s for s in slots if s.name is not None)}
    rows = []
    previous = -_ROW
    for at in offsets:
        cells = tuple(_cell(slot, at, hues) for slot in slots if _overlaps(slot, at))
        rows.append(ByteRow(at, cells, gap=at != previous + _ROW))
        previous = at
    return Drawing(title, tuple(rows), _words(layout), _summary(layout), _hint(layout))


def _overlaps(slot: report.Slot, at: int) -> bool:
    return slot.offset < at + _ROW and at < slot.offset + slot.size


def _is_middle(slots: list[report.Slot], at: int) -> bool:
    """All of this row, the one before and the one behind it are of one field."""
    return any(slot.offset <= at - _ROW and at + 2 * _ROW <= slot.offset + slot.size for slot in slots)


def _cell(slot: report.Slot, at: int, hues: dict[int, str]) -> Cell:
    first, end = max(slot.offset, at), min(slot.offset + slot.size, at + _ROW)
    begins, ends = slot.offset >= at, slot.offset + slot.size <= at + _ROW
    place = f"{slot.offset}" if slot.size == 1 else f"{slot.offset} to {slot.offset + slot.size - 1}"
    if slot.name is None:
        return Cell(first - at, end - first, "", "padding", f"padding, byte {place}", begins, ends)
    tip = f"{slot.name}: {slot.type}, byte {place}"
    label = _label(slot.name, end - first) if begins else ""
    return Cell(first - at, end - first, label, hues[slot.offset], tip, begins, ends)


def _label(name: str, span: int) -> str:
    """Of a nested field in few bytes only the end."""
    return name if len(name) <= span * _LETTERS else name.rpartition(".")[2]


def _summary(layout: report.Layout) -> str:
    padding = f"{_bytes(layout.padding)} of it padding" if layout.padding else "no padding"
    return f"{_bytes(layout.size)}, alignment {layout.align}, {padding}"


def _hint(layout: report.Layout) -> str:
    if layout.better_order is None:
        return ""
    better = layout.better_order
    return (
        f"In the order {', '.join(better.fields)} it would have {_bytes(better.size)}, {better.saved} fewer."
    )


def _words(layout: report.Layout) -> str:
    parts = [f"{slot.name or 'padding'} at {slot.offset}, {_bytes(slot.size)}" for slot in layout.slots]
    return f"Memory layout: {'; '.join(parts)}."


def _bytes(number: int) -> str:
    return "1 byte" if number == 1 else f"{number} bytes"
