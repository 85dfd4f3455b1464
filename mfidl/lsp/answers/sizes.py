"""Offsets and sizes in few words, from the reports of `mfidlc explain`."""

from dataclasses import dataclass

from mfidl import model
from mfidl.explain import Explainer, report


@dataclass(frozen=True, slots=True)
class Size:
    """Of a field: for the end of its line, and as a sentence."""

    label: str
    sentence: str


def bytes_text(count: int) -> str:
    return f"{count} byte{'s' if count != 1 else ''}"


def cost_text(cost: report.Cost) -> str:
    """`12 B`, `3..40 B`, `1.. B`."""
    if cost.fewest == cost.most:
        return f"{cost.fewest} B"
    return f"{cost.fewest}..{'' if cost.most is None else cost.most} B"


def declared(explainer: Explainer, full_name: str) -> model.Declaration | None:
    return next((each for each in explainer.module.declarations if each.full_name == full_name), None)


def type_label(explainer: Explainer, full_name: str) -> str | None:
    """`memcpy, 16 B`, `febird, 3..40 B`, of an enum its base."""
    declaration = declared(explainer, full_name)
    if declaration is None or isinstance(declaration, model.Alias):
        return None
    said = explainer.type(declaration)
    if isinstance(said, report.NumberReport):
        return f"{said.base}, {said.memcpy} B"
    if isinstance(said, report.TypeReport):
        return said.tier if said.cost is None else f"{said.tier}, {cost_text(said.cost)}"
    return None


def field_size(explainer: Explainer, full_name: str, field: str) -> Size | None:
    """Of a field as its holder's tier has it; None where nothing can be said."""
    declaration = declared(explainer, full_name)
    if not isinstance(declaration, model.Struct | model.Union):
        return None
    layout = declaration.plan.layout
    if layout is not None:
        slot = next((each for each in layout.slots if each.name == field), None)
        if slot is None:
            return None
        sentence = f"offset {slot.offset}, {bytes_text(slot.size)}, alignment {slot.align}"
        return Size(f"@{slot.offset}, {slot.size} B", sentence)
    if declaration.tier is not model.Tier.FEBIRD:
        return None
    said = explainer.type(declaration)
    assert isinstance(said, report.TypeReport)
    row = next((each for each in said.fields if each.name == field), None)
    if row is None or row.cost is None:
        return None
    most = "without end" if row.cost.most is None else f"at most {bytes_text(row.cost.most)}"
    return Size(cost_text(row.cost), f"on the wire at least {bytes_text(row.cost.fewest)}, {most}")


def method_label(explainer: Explainer, full_name: str, name: str) -> str | None:
    """The frames of a request and its reply: `32 B -> 24.. B`."""
    service = next((each for each in explainer.module.services if each.full_name == full_name), None)
    method = next((each for each in service.methods if each.name == name), None) if service else None
    if service is None or method is None:
        return None
    said = explainer.method(service, method).methods[0]
    request = _message(said.request)
    if said.reply is None:
        return request
    return f"{request} -> {_message(said.reply)}"


def _message(message: report.Message) -> str:
    return message.encoding if message.frame is None else cost_text(message.frame)
