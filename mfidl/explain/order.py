"""A cheaper order of the fields of a memcpy struct: only where one exists."""

from dataclasses import dataclass

from mfidl import model


@dataclass(frozen=True, slots=True)
class BetterOrder:
    fields: tuple[str, ...]
    size: int
    saved: int


def better_order(layout: model.Layout) -> BetterOrder | None:
    """The widest alignment first, otherwise as written: nothing is then lost between fields, so no order is
    smaller.
    """
    slots = sorted(layout.slots, key=lambda slot: -slot.align)
    used = sum(slot.size for slot in slots)
    size = -(-used // layout.align) * layout.align
    if size >= layout.size:
        return None
    return BetterOrder(tuple(slot.name for slot in slots), size, layout.size - size)
