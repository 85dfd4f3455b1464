"""The memory image of a memcpy struct as explain shows it: nested structs opened, all padding counted."""

import itertools
from collections.abc import Iterator

from mfidl import model
from mfidl.explain import report
from mfidl.explain.closure import in_order
from mfidl.explain.order import better_order
from mfidl.plan.layout import lay_out, size_and_align
from mfidl.plan.spelling import type_text

_MOST_SLOTS = 200  # beyond them nested structs stay closed


class Layouts:
    def __init__(self, program: model.Program) -> None:
        self.declared = {each.full_name: each for module in program.modules for each in module.declarations}
        self._payload: dict[str, int] = {}
        for each in in_order(program):
            if isinstance(each, model.Struct) and each.layout is not None:
                self._payload[each.full_name] = self._used(each)

    def of(self, struct: model.Struct, module: str) -> report.Layout | None:
        """Also of a struct that asks for another tier, but could be memcpy; None: it could not."""
        layout = struct.layout or lay_out(struct.fields, self.declared)
        if layout is None:
            return None
        slots = list(itertools.islice(self._opened(struct, layout, module), _MOST_SLOTS + 1))
        if len(slots) > _MOST_SLOTS:
            slots = _with_padding(self._own(struct, layout, module), layout)
        better = better_order(layout)
        order = report.Order(better.fields, better.size, better.saved) if better else None
        padding = layout.size - self._used(struct)
        return report.Layout(layout.size, layout.align, padding, tuple(slots), order)

    def _used(self, struct: model.Struct) -> int:
        return sum(self._payload_of(field.type) for field in struct.fields)

    def _payload_of(self, type_: model.Type) -> int:
        match type_:
            case model.ArrayOf(element, length):
                return length * self._payload_of(element)
            case model.Named(full_name, model.DeclKind.STRUCT):
                return self._payload[full_name]
            case _:
                found = size_and_align(type_, self.declared)
                assert found is not None
                return found[0]

    def _own(self, struct: model.Struct, layout: model.Layout, module: str) -> list[report.Slot]:
        return [
            report.Slot(slot.offset, slot.size, slot.align, slot.name, type_text(field.spelled, module))
            for slot, field in zip(layout.slots, struct.fields, strict=True)
        ]

    def _opened(self, struct: model.Struct, layout: model.Layout, module: str) -> Iterator[report.Slot]:
        stack: list[Iterator[tuple[str, int, report.Slot, model.Type | None]]] = []
        stack.append(self._level("", 0, struct, layout, module))
        while stack:
            following = next(stack[-1], None)
            if following is None:
                stack.pop()
                continue
            name, offset, slot, type_ = following
            held = self.declared.get(type_.full_name) if isinstance(type_, model.Named) else None
            if isinstance(held, model.Struct) and held.layout is not None and held.fields:
                stack.append(self._level(f"{name}.", offset, held, held.layout, module))
            else:
                yield slot

    def _level(
        self, prefix: str, base: int, struct: model.Struct, layout: model.Layout, module: str
    ) -> Iterator[tuple[str, int, report.Slot, model.Type | None]]:
        types = iter(struct.fields)
        for slot in _with_padding(self._own(struct, layout, module), layout):
            type_ = next(types).type if slot.name is not None else None
            name = None if slot.name is None else prefix + slot.name
            moved = report.Slot(base + slot.offset, slot.size, slot.align, name, slot.type)
            yield prefix + (slot.name or ""), base + slot.offset, moved, type_


def _with_padding(slots: list[report.Slot], layout: model.Layout) -> list[report.Slot]:
    """In the order of memory; a field without bytes comes before what shares its offset."""
    padding = [report.Slot(each.offset, each.size, 1, None, "") for each in layout.padding]
    return sorted([*slots, *padding], key=lambda slot: (slot.offset, slot.size > 0))
