"""A memory layout as rows of eight bytes, for pictures. The middle rows of a long field are left out."""

from collections.abc import Sequence
from dataclasses import dataclass

from mfidl.explain.report import Layout, Slot

ROW = 8  # bytes
_MOST_ROWS = 64


@dataclass(frozen=True, slots=True)
class Cell:
    """The bytes of one slot in one row. `begins`, `ends`: the slot does so in this cell. `hue` counts the
    fields of the layout; padding has none.
    """

    slot: Slot
    first: int
    span: int
    hue: int | None
    begins: bool
    ends: bool


@dataclass(frozen=True, slots=True)
class ByteRow:
    """`gap`: rows were left out before this one."""

    offset: int
    cells: tuple[Cell, ...]
    gap: bool


def byte_rows(layout: Layout, most: int = _MOST_ROWS) -> tuple[ByteRow, ...]:
    """Empty where the layout has no bytes, or needs more than `most` rows."""
    slots = [slot for slot in layout.slots if slot.size]
    offsets = [at for at in range(0, layout.size, ROW) if not _is_middle(slots, at)]
    if not slots or len(offsets) > most:
        return ()
    hues = {slot.offset: at for at, slot in enumerate(s for s in slots if s.name is not None)}
    rows = []
    previous = -ROW
    for at in offsets:
        cells = tuple(_cell(slot, at, hues) for slot in slots if _overlaps(slot, at))
        rows.append(ByteRow(at, cells, gap=at != previous + ROW))
        previous = at
    return tuple(rows)


def _overlaps(slot: Slot, at: int) -> bool:
    return slot.offset < at + ROW and at < slot.offset + slot.size


def _is_middle(slots: Sequence[Slot], at: int) -> bool:
    """Whether this row, the one before it and the one behind it belong to one field."""
    return any(slot.offset <= at - ROW and at + 2 * ROW <= slot.offset + slot.size for slot in slots)


def _cell(slot: Slot, at: int, hues: dict[int, int]) -> Cell:
    first, end = max(slot.offset, at), min(slot.offset + slot.size, at + ROW)
    begins, ends = slot.offset >= at, slot.offset + slot.size <= at + ROW
    hue = None if slot.name is None else hues[slot.offset]
    return Cell(slot, first - at, end - first, hue, begins, ends)
