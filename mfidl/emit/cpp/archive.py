"""F6. Views of Archive<S>: the messages of tier archive, field by field (docs/proto.md has their form)."""

from collections.abc import Sequence
from dataclasses import dataclass

from mfidl.emit.cpp.literals import Literals
from mfidl.emit.cpp.names import AlternativeNames
from mfidl.emit.cpp.types import CppTypes
from mfidl.emit.cpp.view import ArchiveSlot, ArchiveView
from mfidl.model import (
    ArrayOf,
    Coding,
    DeclKind,
    Field,
    ListOf,
    MapOf,
    Named,
    OptionalOf,
    Primitive,
    Program,
    RefOf,
    Scalar,
    SetOf,
    Struct,
    Tier,
    Type,
    Union,
)

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5  # protobuf's wire types
_ROWS = ListOf | SetOf | ArrayOf | MapOf
_ELEMENTS = {_VARINT: "varint", _FIXED64: "fixed64", _LENGTH: "tagged", _FIXED32: "fixed32"}
_WIRES = {
    Scalar.F32: _FIXED32,
    Scalar.F64: _FIXED64,
    Scalar.TIMESTAMP: _FIXED64,
    Scalar.STRING: _LENGTH,
    Scalar.BYTES: _LENGTH,
    Scalar.UUID: _LENGTH,
}


@dataclass(frozen=True, slots=True)
class Archives:
    """Makes the views; both `types` and `literals` are those for the inside of archives."""

    program: Program
    types: CppTypes
    literals: Literals

    def struct(self, struct: Struct, members: Sequence[str]) -> ArchiveView:
        named = sorted(zip(struct.fields, members, strict=True), key=lambda each: each[0].number or 0)
        bits = (f"seen[{i}]" for i in range(len(named)))
        slots = tuple(
            _Slot(self, field).view(member, "" if isinstance(field.type, _ROWS) else next(bits))
            for field, member in named
        )
        return ArchiveView(
            linked=self.types.graphs.is_linked(struct.full_name),
            slots=slots,
            singles=tuple(each for each in slots if not each.row),
            arrays=any(each.length for each in slots),
        )

    def union(self, union: Union, names: Sequence[AlternativeNames]) -> ArchiveView:
        slots = tuple(
            _Slot(self, field).view(
                f"{named.accessor}()",
                spelled=self.types.spell(field.type),
                kind=named.kind,
                emplace=named.emplace,
                boxed=self.types.boxed_in(union, field),
            )
            for field, named in zip(union.alternatives, names, strict=True)
        )
        return ArchiveView(self.types.graphs.is_linked(union.full_name), slots, (), False)


@dataclass(frozen=True, slots=True)
class _Slot:
    """Makes the view of one field."""

    archives: Archives
    field: Field

    def view(
        self,
        name: str,
        seen: str = "",
        spelled: str = "",
        kind: str = "",
        emplace: str = "",
        boxed: bool = False,
    ) -> ArchiveSlot:
        held, plain, number = self.field.type, self._plain, self.field.number or 0
        row, message, tags = isinstance(held, _ROWS), self._is_message(plain), self._tags(number)
        return ArchiveSlot(
            number=number,
            name=name,
            wire_name=self.field.name,
            coded=f"_coded{codings}" if (codings := self._codings) else "",
            linked=self.archives.types.graphs.holds(held),
            elements="" if kind else self._elements,
            tags=tags,
            row=row,
            message=message,
            keyed=isinstance(held, SetOf | MapOf),
            optional=isinstance(held, OptionalOf),
            optional_reference=isinstance(held, OptionalOf) and isinstance(plain, RefOf),
            default="" if self.field.default is None else self._default(),
            length=held.length if isinstance(held, ArrayOf) else 0,
            filled=f"filled{number}",
            seen=seen,
            follows=f"message.follows(cursor, {tags[0]})" if row or message else f"cursor.follows({tags[0]})",
            type=spelled,
            kind=kind,
            emplace=emplace,
            boxed=boxed,
        )

    @property
    def _plain(self) -> Type:
        """Without the optional around it."""
        return self.field.type.element if isinstance(self.field.type, OptionalOf) else self.field.type

    def _is_message(self, type_: Type) -> bool:
        """Whether one value of the type is a message, which may come in pieces."""
        match type_:
            case ListOf() | SetOf() | ArrayOf() | MapOf() | OptionalOf():
                return True
            case Named(kind=DeclKind.STRUCT | DeclKind.UNION):
                declared = self.archives.program.declaration(type_.full_name)
                return isinstance(declared, Struct | Union) and declared.tier is Tier.ARCHIVE
            case _:
                return False

    @property
    def _elements(self) -> str:
        """The enumerator of archive::Elements; empty if the field is not repeated."""
        match self.field.type:
            case MapOf():
                return "tagged"
            case ListOf(element=element) | SetOf(element=element) | ArrayOf(element=element):
                return _ELEMENTS[_wire(element)]
            case _:
                return ""

    @property
    def _codings(self) -> str:
        """Template arguments for the value or for key and value; empty if all have the usual coding of their
        types."""
        match self._plain:
            case MapOf(key=key, value=value):
                both = [_coding(key), _coding(value)]
                return f"<{', '.join(both)}>" if both != [_OWN, _OWN] else ""
            case ListOf(element=element) | SetOf(element=element) | ArrayOf(element=element):
                return "" if _coding(element) == _OWN else f"<{_coding(element)}>"
            case plain:
                return "" if _coding(plain) == _OWN else f"<{_coding(plain)}>"

    def _tags(self, number: int) -> tuple[int, ...]:
        """The tags under which it may come; writers use the first one."""
        match self.field.type:
            case MapOf():
                wires = [_LENGTH]
            case ListOf(element=element) | SetOf(element=element) | ArrayOf(element=element):
                wires = [_LENGTH, _wire(element)]
            case _:
                wires = [_wire(self._plain)]
        return tuple(number << 3 | wire for wire in dict.fromkeys(wires))

    def _default(self) -> str:
        assert self.field.default is not None
        return self.archives.literals.of(self.field.default, self.field.type, "")


def _wire(type_: Type) -> int:
    match type_:
        case Primitive(scalar, Coding.FIXED):
            return _FIXED32 if scalar.bits == 32 else _FIXED64
        case Primitive(scalar):
            return _WIRES.get(scalar, _VARINT)
        case RefOf() | Named(kind=DeclKind.ENUM | DeclKind.FLAGS):
            return _VARINT
        case _:
            return _LENGTH


_OWN = "archive::kOwn"


def _coding(type_: Type) -> str:
    coding = type_.coding if isinstance(type_, Primitive) else None
    return _OWN if coding is None else f"archive::k{coding.value.capitalize()}"
