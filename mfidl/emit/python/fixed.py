"""F6. Values of fixed size, several in one `struct.Struct`: their format, what to pack, and what to make of
the parts.

Two places use it: a memcpy struct as a whole (explicit padding, `<`, never `@`), and runs of neighbouring
fields of a febird struct whose encoding has a fixed size. An array's elements follow each other; its length
is checked when it is packed, because a wrong one could be made up for by another.
"""

from dataclasses import dataclass

from mfidl.emit.python.context import Context, attributes
from mfidl.emit.python.types import scalar_name
from mfidl.model import ArrayOf, Named, Primitive, Scalar, Struct, Tier, Type
from mfidl.model.types import DeclKind

_CODES = {
    Scalar.BOOL: "B",
    Scalar.I8: "b",
    Scalar.I16: "h",
    Scalar.I32: "i",
    Scalar.I64: "q",
    Scalar.U8: "B",
    Scalar.U16: "H",
    Scalar.U32: "I",
    Scalar.U64: "Q",
    Scalar.F32: "f",
    Scalar.F64: "d",
    Scalar.TIMESTAMP: "q",
    Scalar.DURATION: "q",
    Scalar.UUID: "16s",
}
_FIXED_IN_FEBIRD = (Scalar.BOOL, Scalar.I8, Scalar.U8, Scalar.F32, Scalar.F64, Scalar.UUID)


@dataclass
class Parts:
    """Where the next part of an unpacked row is: a name of its own, or an index from `base` on."""

    names: list[str] | None
    base: str = ""
    at: int = 0
    level: int = 0
    row: str = "row"

    def index(self, offset: int = 0) -> str:
        number = self.at + offset
        return f"{self.base} + {number}" if self.base and number else self.base or str(number)

    def next(self) -> str:
        taken = self.names[self.at] if self.names is not None else f"{self.row}[{self.index()}]"
        self.at += 1
        return taken


class Fixed:
    """Formats and expressions in the terms of one generated file."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def is_fixed(self, type_: Type) -> bool:
        """Whether the febird encoding always takes the same number of bytes, and is the layout's."""
        match type_:
            case Primitive():
                return type_.scalar in _FIXED_IN_FEBIRD
            case ArrayOf():
                return self.is_fixed(type_.element)
            case Named(kind=DeclKind.ENUM):
                return self._context.program.enum(type_).base.scalar in _FIXED_IN_FEBIRD
            case Named():
                return self._context.program.struct(type_).tier is Tier.MEMCPY
            case _:
                return False

    def format(self, type_: Type) -> str:
        match type_:
            case Primitive():
                return _CODES[type_.scalar]
            case ArrayOf():
                element = self.format(type_.element)
                return f"{type_.length}{element}" if len(element) == 1 else element * type_.length
            case Named(kind=DeclKind.ENUM):
                return _CODES[self._context.program.enum(type_).base.scalar]
            case Named():
                return self.struct_format(self._context.program.struct(type_))
            case _:
                raise AssertionError(type_)

    def struct_format(self, struct: Struct) -> str:
        """Of a memcpy struct, padding included."""
        assert struct.layout is not None
        pieces = {each.offset: _padding(each.size) for each in struct.layout.padding}
        for slot, each in zip(struct.layout.slots, struct.fields, strict=True):
            pieces[slot.offset] = self.format(each.type) + pieces.get(slot.offset, "") * (slot.size == 0)
        return "".join(pieces[offset] for offset in sorted(pieces))

    def count(self, type_: Type) -> int:
        """Parts that a value unpacks to."""
        match type_:
            case ArrayOf():
                return type_.length * self.count(type_.element)
            case Named(kind=DeclKind.STRUCT | DeclKind.ERROR):
                return sum(self.count(each.type) for each in self._context.program.struct(type_).fields)
            case _:
                return 1

    def has_array(self, type_: Type) -> bool:
        match type_:
            case ArrayOf():
                return True
            case Named(kind=DeclKind.STRUCT | DeclKind.ERROR):
                return any(self.has_array(each.type) for each in self._context.program.struct(type_).fields)
            case _:
                return False

    def pack(self, type_: Type, value: str) -> list[str]:
        """Arguments of `pack` for a value; they refuse what struct itself would let pass."""
        match type_:
            case Primitive(scalar=Scalar.BOOL):
                return [f"{self._context.imports.name('mf.codec.sequences', 'BIT')}[{value}]"]
            case Primitive(scalar=Scalar.UUID):
                return [f"{value}.bytes"]
            case ArrayOf():
                return [self._pack_array(type_, value)]
            case Named(kind=DeclKind.ENUM):
                enum = self._context.program.enum(type_)
                return [
                    value
                    if enum.open
                    else f"{self._context.codec_name(enum.full_name, '{}_MEMBERS')}[{value}]"
                ]
            case Named():
                struct = self._context.program.struct(type_)
                return [
                    part
                    for each, name in zip(struct.fields, attributes(struct), strict=True)
                    for part in self.pack(each.type, f"{value}.{name}")
                ]
            case _:
                return [value]

    def _pack_array(self, type_: ArrayOf, value: str) -> str:
        elements = f"{self._context.imports.name('mf.codec.checks', 'exactly')}({value}, {type_.length})"
        parts = self.pack(type_.element, "item")
        if parts == ["item"]:
            return f"*{elements}"
        if len(parts) == 1 and not parts[0].startswith("*"):
            return f"*[{parts[0]} for item in {elements}]"
        if len(parts) == 1:
            return f"*[part for item in {elements} for part in {parts[0][1:]}]"
        return f"*[part for item in {elements} for part in ({', '.join(parts)})]"

    def made(self, type_: Type, parts: Parts) -> str:
        """The expression that makes a value of the parts at hand."""
        match type_:
            case ArrayOf():
                return self._made_array(type_, parts)
            case Named(kind=DeclKind.STRUCT | DeclKind.ERROR):
                struct = self._context.program.struct(type_)
                arguments = ", ".join(self.made(each.type, parts) for each in struct.fields)
                return f"{self._context.type_name(type_.full_name)}({arguments})"
            case _:
                return self.converted(type_, parts.next())

    def converted(self, type_: Type, part: str) -> str:
        """A number as it was unpacked -> the value that it stands for."""
        context = self._context
        match type_:
            case Primitive(scalar=Scalar.BOOL):
                return f"{context.imports.name('mf.codec.sequences', 'BOOL')}[{part}]"
            case Primitive(scalar=Scalar.UUID):
                return f"{scalar_name(context, Scalar.UUID)}(bytes={part})"
            case Primitive(scalar=Scalar.TIMESTAMP | Scalar.DURATION):
                return f"{scalar_name(context, type_.scalar)}({part})"
            case Named(kind=DeclKind.ENUM):
                if context.program.enum(type_).open:
                    return f"{context.type_name(type_.full_name)}({part})"
                return f"{context.codec_name(type_.full_name, '{}_MEMBERS')}[{part}]"
            case _:
                return part

    def _made_array(self, type_: ArrayOf, parts: Parts) -> str:
        each = self.count(type_.element)
        begin, end = parts.index(), parts.index(each * type_.length)
        parts.at += each * type_.length
        if each == 1 and not isinstance(type_.element, ArrayOf | Named):
            item = self.converted(type_.element, "item")
            span = f"{parts.row}[{begin}:{end}]" if begin.isdigit() else f"{parts.row}[{begin} : {end}]"
            return f"list({span})" if item == "item" else f"[{item} for item in {span}]"
        index = "ijklmn"[parts.level]
        inner = Parts(None, index, 0, parts.level + 1, parts.row)
        step = "" if each == 1 else f", {each}"
        if each == 0:
            return f"[{self.made(type_.element, inner)} for _ in range({type_.length})]"
        return f"[{self.made(type_.element, inner)} for {index} in range({begin}, {end}{step})]"


def _padding(size: int) -> str:
    return f"{size}x" if size > 1 else "x"
