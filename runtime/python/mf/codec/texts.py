"""R1. The descriptor and annex of a declared type, and its fingerprint: the first 16 bytes of the SHA-256 of
the descriptor.

The descriptor is that of section 7 of docs/protocol.md: the line `value sf1.search.Hit`, then the types of
the closure. Both are built from the shape of the codec, since generated code does not contain them; a test
compares them with those of the compiler.
"""

import hashlib
from collections.abc import Iterator

from mf.codec import shape as s
from mf.codec.contents import is_flags


class Texts:
    """What a schema says of a type and all that it holds: descriptor and annex."""

    __slots__ = ("annex", "descriptor")

    def __init__(self, descriptor: str, annex: str) -> None:
        self.descriptor = descriptor
        self.annex = annex

    @property
    def fingerprint(self) -> bytes:
        return hashlib.sha256(self.descriptor.encode()).digest()[:16]


def texts_of(shape: s.Declared) -> Texts:
    return Texts(descriptor(shape), annex(shape))


def fingerprint(shape: s.Declared) -> bytes:
    return hashlib.sha256(descriptor(shape).encode()).digest()[:16]


def descriptor(shape: s.Declared) -> str:
    lines = [f"value {shape.name}"]
    for each in _closure(shape):
        lines += type_lines(each)
    return "".join(line + "\n" for line in lines)


def annex(shape: s.Declared) -> str:
    """What the descriptor leaves out, and readers of another schema need (docs/protocol.md, section 7a)."""
    lines = [f"annex {shape.name}"]
    for each in _closure(shape):
        if isinstance(each, s.Struct | s.Union) and each.annex:
            lines += [f"type {each.name}", *each.annex]
    return "".join(line + "\n" for line in lines)


def _closure(shape: s.Declared) -> list[s.Declared]:
    """By full name."""
    found: dict[str, s.Declared] = {}
    pending: list[s.Shape] = [shape]
    while pending:
        each = pending.pop()
        if isinstance(each, s.Declared):
            if each.name in found:
                continue
            found[each.name] = each
            pending += [] if isinstance(each, s.Enum) else each.shapes
        else:
            pending += s.inside(each)
    return [found[name] for name in sorted(found)]


def type_lines(shape: s.Declared) -> list[str]:
    """The lines of the descriptor for one declared type."""
    if isinstance(shape, s.Custom):
        return [f"type {shape.name} struct custom"]
    if isinstance(shape, s.Enum):
        return list(_enum(shape))
    tier = "archive" if shape.archive else "memcpy" if shape.memcpy else "febird"
    if isinstance(shape, s.Union):
        ordered = sorted(shape.alternatives, key=lambda each: each.number)
        members = [f" {each.name} {each.number}: {spelled(each.shape)}" for each in ordered]
        return [f"type {shape.name} union {tier}", *members]
    kind = "error" if issubclass(shape.type, Exception) else "struct"
    if shape.archive:
        fields = sorted(shape.fields, key=lambda each: each.number)
        members = [f" {each.name} {each.number}: {spelled(each.shape)}" for each in fields]
    else:
        members = [f" {each.name} {spelled(each.shape)}" for each in shape.fields]
    return [f"type {shape.name} {kind} {tier}", *members]


def spelled(shape: s.Shape) -> str:
    """A type as a schema writes it, with full names."""
    match shape:
        case s.Checked():
            return spelled(shape.shape)
        case s.List():
            return f"list<{spelled(shape.element)}>"
        case s.Set():
            return f"set<{spelled(shape.element)}>"
        case s.Optional():
            return f"{spelled(shape.element)}?"
        case s.Ref():
            return f"ref<{spelled(shape.element)}>"
        case s.Array():
            return f"array<{spelled(shape.element)},{shape.length}>"
        case s.Map():
            return f"map<{spelled(shape.key)},{spelled(shape.value)}>"
    return shape.name


def _enum(shape: s.Enum) -> Iterator[str]:
    numbered = sorted((int(member), name) for name, member in shape.names.items())
    if is_flags(shape):
        yield f"type {shape.name} flags {shape.base.name}"
        yield from (f" {name} {number.bit_length() - 1}" for number, name in numbered)
        return
    yield f"type {shape.name} enum {shape.base.name} {'open' if shape.open else 'closed'}"
    yield from (f" {name} {number}" for number, name in numbered)
