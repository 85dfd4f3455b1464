"""F6. The statements that write the fields of a febird struct, bottom-up: templates for what has several
lines.
"""

from mfidl.emit.naming import Scope
from mfidl.emit.python.block import render_code
from mfidl.emit.python.context import Context
from mfidl.emit.python.fixed import Fixed
from mfidl.emit.python.layout import bracket
from mfidl.emit.python.locals import counts_depth, integer_of, runs, sequence_name
from mfidl.model import (
    ArrayOf,
    Field,
    ListOf,
    MapOf,
    Named,
    OptionalOf,
    Primitive,
    Scalar,
    SetOf,
    Struct,
    Type,
)
from mfidl.model.types import DeclKind

_INDENT = 8


class Writing:
    """One generated write_<struct>. `locals_` is its scope; `packers` names the module's struct.Structs."""

    def __init__(self, context: Context, locals_: Scope, packers: "Packers") -> None:
        self._context = context
        self._locals = locals_
        self._packers = packers
        self._fixed = Fixed(context)

    def body(self, struct: Struct, names: tuple[str, ...], bare: bool) -> str:
        """Statements for all fields of `value`; `bare`: the only field is the value itself."""
        text = ""
        for run in runs(self._context, struct, names):
            each, name = run[0]
            values = ["value" if bare else f"value.{name}" for _, name in run]
            if self._fixed.is_fixed(each.type):
                text += self._run([field for field, _ in run], values)
            else:
                text += self._value(each.type, values[0], name, 1)
        return text

    def _run(self, fields: list[Field], values: list[str]) -> str:
        if len(fields) == 1 and fields[0].type == Primitive(Scalar.U8):
            return f"append({values[0]})\n"
        if len(fields) == 1 and fields[0].type == Primitive(Scalar.BOOL):
            return f"append({self._fixed.pack(fields[0].type, values[0])[0]})\n"
        format_ = "".join(self._fixed.format(each.type) for each in fields)
        parts = [
            part
            for each, value in zip(fields, values, strict=True)
            for part in self._fixed.pack(each.type, value)
        ]
        if not format_:
            return ""
        return bracket(f"out += {self._packers.name(format_)}.pack(", parts, ")", room=_INDENT) + "\n"

    def _value(self, type_: Type, value: str, name: str, level: int) -> str:
        """`level`: how much deeper than the struct a struct in this place would be."""
        integer = integer_of(self._context, type_)
        if integer is not None:
            return self._number(integer, self._checked_enum(type_, value), name)
        match type_:
            case Primitive(scalar=Scalar.STRING):
                return f"text = {value}.encode()\n{self._count('text')}out += text\n"
            case Primitive(scalar=Scalar.BYTES):
                as_bytes = self._helper("as_bytes", "sequences")
                return f"blob = {as_bytes}({value})\n{self._count('blob')}out += blob\n"
            case OptionalOf():
                return self._optional(type_, value, name, level)
            case ListOf():
                return self._count(value) + self._sequence(type_.element, value, name, level + 1)
            case SetOf():
                ordered = self._locals.take(f"{name}_sorted")
                begin = f"{ordered} = sorted({value})\n{self._count(ordered)}"
                return begin + self._sequence(type_.element, ordered, name, level + 1)
            case ArrayOf() if not self._fixed.is_fixed(type_):
                exactly = f"{self._helper('exactly', 'checks')}({value}, {type_.length})"
                return self._sequence(type_.element, exactly, name, level + 1)
            case MapOf():
                return self._map(type_, value, name, level)
            case Named(kind=DeclKind.STRUCT | DeclKind.ERROR) if not self._fixed.is_fixed(type_):
                return self._structs(type_, f"({value},)", level)
            case _:
                return self._run_of(type_, value)

    def _run_of(self, type_: Type, value: str) -> str:
        return self._run([Field("", type_, type_)], [value])

    def _number(self, integer: Scalar, value: str, name: str) -> str:
        local = value if value.isidentifier() else self._locals.take(name)
        return render_code(
            "python/codec/write_number.py.j2",
            local=local,
            value=value,
            low=-64 if integer.is_signed else 0,
            high=64 if integer.is_signed else 128,
            short=f"({local} << 1) ^ ({local} >> 63)" if integer.is_signed else local,
            write=self._helper(f"write_{integer.value}", "varint"),
        )

    def _checked_enum(self, type_: Type, value: str) -> str:
        return self._fixed.pack(type_, value)[0] if isinstance(type_, Named) else value

    def _count(self, value: str) -> str:
        return render_code(
            "python/codec/write_count.py.j2", value=value, write=self._helper("write_u32", "varint")
        )

    def _optional(self, type_: OptionalOf, value: str, name: str, level: int) -> str:
        local = value if value.isidentifier() else self._locals.take(name)
        body = self._value(type_.element, local, f"{name}_value", level)
        return render_code("python/codec/write_optional.py.j2", local=local, value=value, body=body)

    def _map(self, type_: MapOf, value: str, name: str, level: int) -> str:
        key = self._locals.take(f"{name}_key")
        body = self._value(type_.key, key, key, level + 1)
        body += self._value(type_.value, f"{value}[{key}]", f"{name}_item", level + 1)
        return render_code(
            "python/codec/write_map.py.j2", value=value, key=key, count=self._count(value), body=body
        )

    def _sequence(self, type_: Type, values: str, name: str, level: int) -> str:
        match type_:
            case Primitive():
                plural = sequence_name(type_.scalar)
                return f"{self._helper(f'write_{plural}', 'sequences')}(out, {values})\n"
            case Named(kind=DeclKind.ENUM):
                plural = sequence_name(self._context.program.enum(type_).base.scalar)
                item = self._checked_enum(type_, "item")
                members = values if item == "item" else f"[{item} for item in {values}]"
                return f"{self._helper(f'write_{plural}', 'sequences')}(out, {members})\n"
            case Named():
                return self._structs(type_, values, level)
            case _:
                item = self._locals.take(f"{name}_item")
                body = self._value(type_, item, item, level)
                return render_code("python/codec/write_loop.py.j2", item=item, values=values, body=body)

    def _structs(self, type_: Named, values: str, level: int) -> str:
        write = self._context.codec_name(type_.full_name, "write_{}")
        deeper = (
            f", depth + {level}" if counts_depth(self._context, self._context.program.struct(type_)) else ""
        )
        return f"{write}(out, {values}{deeper})\n"

    def _helper(self, name: str, module: str) -> str:
        module = "uuids" if name.endswith("_uuids") else module
        return self._context.imports.name(f"mf.codec.{module}", name)


class Packers:
    """The `struct.Struct`s of a generated module, one a format, named in the order of their first use."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._names: dict[str, str] = {}

    def name(self, format_: str) -> str:
        self._context.imports.name("struct", "Struct")
        return self._names.setdefault(format_, f"_FIXED_{len(self._names) + 1}")

    def items(self) -> list[tuple[str, str]]:
        return [(name, format_) for format_, name in self._names.items()]
