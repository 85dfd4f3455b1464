"""Why a type cannot have a tier: the path through the types that it holds, to the deciding field."""

from collections.abc import Mapping
from dataclasses import dataclass

from mfidl import model
from mfidl.plan.layout import size_and_align


@dataclass(frozen=True, slots=True)
class Obstacle:
    """`path` are the fields from the type to the deciding one, each with the full name of its owner; `reason`
    is a clause about the last of them, or about the type itself if the path is empty.
    """

    path: tuple[tuple[str, str], ...]
    reason: str

    def text(self) -> str:
        if not self.path:
            return self.reason
        return f"`{'.'.join(name for _, name in self.path)}` {self.reason}"


def to_memcpy(
    subject: model.Struct | model.Union, declared: Mapping[str, model.Declaration]
) -> Obstacle | None:
    """None: it could be memcpy, whatever its file asks for."""
    if isinstance(subject, model.Union):
        return Obstacle((), "it is a union, whose size is that of its alternative")
    if subject.is_error:
        return Obstacle((), "errors travel in febird")
    if subject.tier is model.Tier.CUSTOM:
        return Obstacle((), "only its codec knows what it is made of")
    path: list[tuple[str, str]] = []
    while True:
        field = next((f for f in subject.fields if size_and_align(f.type, declared) is None), None)
        if field is None:
            return Obstacle(tuple(path), f"is {subject.tier.value} by choice of the file") if path else None
        path.append((subject.full_name, field.name))
        inner = _innermost(field.type)
        held = declared[inner.full_name] if isinstance(inner, model.Named) else None
        if not isinstance(held, model.Struct) or held.tier is model.Tier.CUSTOM:
            return Obstacle(tuple(path), _why(inner, held))
        subject = held


def to_febird(subject: model.Struct | model.Union) -> Obstacle | None:
    fields = subject.alternatives if isinstance(subject, model.Union) else subject.fields
    if subject.tier is model.Tier.CUSTOM:
        return Obstacle((), "only its codec knows what it is made of")
    for field in fields:
        if _holds_ref(field.type):
            return Obstacle(((subject.full_name, field.name),), "holds a ref, which only archive has")
    return None


def to_archive(subject: model.Struct | model.Union) -> Obstacle | None:
    if isinstance(subject, model.Union):
        return None
    if subject.kind in (model.StructKind.PARAMS, model.StructKind.RESULTS):
        return Obstacle((), "parameters and results are memcpy or febird")
    if subject.is_error:
        return Obstacle((), "errors travel in febird")
    if subject.tier is model.Tier.CUSTOM:
        return Obstacle((), "only its codec knows what it is made of")
    for field in subject.fields:
        if field.number is None:
            return Obstacle(((subject.full_name, field.name),), "has no number")
    return None


def to_custom(subject: model.Struct | model.Union) -> Obstacle | None:
    if isinstance(subject, model.Struct) and subject.tier is model.Tier.CUSTOM:
        return None
    return Obstacle((), "no codec is named for it")


def _innermost(type_: model.Type) -> model.Type:
    while isinstance(type_, model.ArrayOf):
        type_ = type_.element
    return type_


def _why(type_: model.Type, held: model.Declaration | None) -> str:
    match type_:
        case model.OptionalOf():
            return "may be absent"
        case model.RefOf():
            return "is a ref, which only archive has"
        case model.Named() if isinstance(held, model.Union):
            return f"is the union `{held.name}`, whose size is that of its alternative"
        case model.Named():
            return f"is `{type_.name}`, which has a codec of its own"
        case _:
            return f"{_word(type_)}, which has no fixed size"


def _word(type_: model.Type) -> str:
    match type_:
        case model.ListOf():
            return "is a list"
        case model.SetOf():
            return "is a set"
        case model.MapOf():
            return "is a map"
        case _:
            return "is bytes" if type_ == model.Primitive(model.Scalar.BYTES) else "is a string"


def _holds_ref(type_: model.Type) -> bool:
    match type_:
        case model.RefOf():
            return True
        case model.MapOf(_, value):
            return _holds_ref(value)
        case (
            model.ListOf(element)
            | model.SetOf(element)
            | model.ArrayOf(element, _)
            | model.OptionalOf(element)
        ):
            return _holds_ref(element)
        case _:
            return False
