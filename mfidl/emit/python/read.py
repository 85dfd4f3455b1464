"""F6. The statements that read the fields of a febird struct; each becomes an expression over locals."""

import struct as python_struct

from mfidl.emit.naming import Scope
from mfidl.emit.python.block import render_code
from mfidl.emit.python.context import Context
from mfidl.emit.python.fixed import Fixed, Parts
from mfidl.emit.python.layout import bracket
from mfidl.emit.python.locals import counts_depth, integer_of, runs, sequence_name, smallest
from mfidl.emit.python.types import annotation
from mfidl.emit.python.write import Packers
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
_MOST_NAMES = 24  # parts of a run that get names of their own; more stay in a row


class Reading:
    """One generated read_<struct>."""

    def __init__(self, context: Context, locals_: Scope, packers: Packers) -> None:
        self._context = context
        self._locals = locals_
        self._packers = packers
        self._fixed = Fixed(context)

    def body(self, struct: Struct, names: tuple[str, ...]) -> tuple[str, list[str]]:
        """Statements, and one expression per field."""
        text, made = "", []
        for run in runs(self._context, struct, names):
            each, name = run[0]
            if self._fixed.is_fixed(each.type):
                more, parts = self._run(run)
                made += parts
            else:
                more, expression = self._value(each.type, name, 1)
                made.append(expression)
            text += more
        return text, made

    def _run(self, run: list[tuple[Field, str]]) -> tuple[str, list[str]]:
        format_ = "".join(self._fixed.format(each.type) for each, _ in run)
        parts = self.parts_of(run, self._locals.take(f"{run[0][1]}_row"))
        made = [self._fixed.made(each.type, parts) for each, _ in run]
        if not format_:
            return "", made
        if parts.names is not None and format_ == "B":
            return f"{parts.names[0]} = data[pos]\npos += 1\n", made
        size = python_struct.calcsize(f"<{format_}")
        targets = parts.row if parts.names is None else ", ".join(parts.names)
        if parts.names is not None and len(parts.names) == 1:
            targets = f"({targets},)"
        line = f"{targets} = {self._packers.name(format_)}.unpack_from("
        return f"{bracket(line, ['data', 'pos'], ')', room=_INDENT)}\npos += {size}\n", made

    def parts_of(self, run: list[tuple[Field, str]], row: str) -> Parts:
        """Names for the parts of a run; an index into the row where there are arrays or too many."""
        many = sum(self._fixed.count(each.type) for each, _ in run) > _MOST_NAMES
        if many or any(self._fixed.has_array(each.type) for each, _ in run):
            return Parts(None, row=row)
        names: list[str] = []
        for each, name in run:
            count = self._fixed.count(each.type)
            single = isinstance(each.type, Primitive) or (each.type.__class__ is Named and count == 1)
            names += [self._locals.take(name if single else f"{name}_{at + 1}") for at in range(count)]
        return Parts(names)

    def _value(self, type_: Type, name: str, level: int) -> tuple[str, str]:
        integer = integer_of(self._context, type_)
        if integer is not None:
            local = self._locals.take(name)
            unsigned = integer.value.replace("i", "u")
            number = f"({local} >> 1) ^ -({local} & 1)" if integer.is_signed else local
            return self._number(local, f"read_{unsigned}"), self._fixed.converted(type_, number)
        match type_:
            case Primitive(scalar=Scalar.STRING):
                return self._blob(name, ".decode()")
            case Primitive(scalar=Scalar.BYTES):
                return self._blob(name, "")
            case OptionalOf():
                return self._optional(type_, name, level)
            case ListOf():
                count, text = self._count(name)
                more, made = self._sequence(type_, count, name, level + 1)
                return text + more, made
            case SetOf():
                count, text = self._count(name)
                more, made = self._sequence(ListOf(type_.element), count, name, level + 1)
                local = made if made.isidentifier() else self._locals.take(f"{name}_read")
                keep = "" if local == made else f"{local} = {made}\n"
                return (
                    f"{text}{more}{keep}{self._helper('ascending', 'checks')}({local}, {count})\n",
                    f"set({local})",
                )
            case ArrayOf() if not self._fixed.is_fixed(type_):
                return self._sequence(ListOf(type_.element), str(type_.length), name, level + 1)
            case MapOf():
                return self._map(type_, name, level)
            case Named(kind=DeclKind.STRUCT | DeclKind.ERROR) if not self._fixed.is_fixed(type_):
                local = self._locals.take(name)
                return f"({local},), pos = {self._structs(type_, '1', level)}\n", local
            case _:
                text, (expression,) = self._run([(Field("", type_, type_), name)])
                return text, expression

    def _number(self, local: str, read: str) -> str:
        return render_code("python/codec/read_number.py.j2", local=local, read=self._helper(read, "varint"))

    def _count(self, name: str) -> tuple[str, str]:
        local = self._locals.take(f"{name}_count")
        return local, self._number(local, "read_u32")

    def _blob(self, name: str, decode: str) -> tuple[str, str]:
        local = self._locals.take(name)
        text = render_code(
            "python/codec/read_blob.py.j2", local=local, count=self._number("size", "read_u32"), decode=decode
        )
        return text, local

    def _optional(self, type_: OptionalOf, name: str, level: int) -> tuple[str, str]:
        local = self._locals.take(name)
        body, made = self._value(type_.element, f"{name}_value", level)
        text = render_code(
            "python/codec/read_optional.py.j2",
            local=local,
            annotation=annotation(self._context, type_),
            bits=self._helper("BOOL", "sequences"),
            body=body,
            made=made,
        )
        return text, local

    def _map(self, type_: MapOf, name: str, level: int) -> tuple[str, str]:
        local = self._locals.take(name)
        count, text = self._count(name)
        key_body, key = self._value(type_.key, f"{name}_key", level + 1)
        item_body, item = self._value(type_.value, f"{name}_item", level + 1)
        if not key.isidentifier():
            kept = self._locals.take(f"{name}_key")
            key_body, key = f"{key_body}{kept} = {key}\n", kept
        text += render_code(
            "python/codec/read_map.py.j2",
            local=local,
            count=count,
            smallest=smallest(self._context, type_.key) + smallest(self._context, type_.value),
            annotation=annotation(self._context, type_),
            body=key_body + item_body,
            key=key,
            item=item,
            fits=self._helper("fits", "checks"),
            ascending=self._helper("ascending", "checks"),
        )
        return text, local

    def _sequence(self, type_: ListOf, count: str, name: str, level: int) -> tuple[str, str]:
        element = type_.element
        match element:
            case Primitive() | Named(kind=DeclKind.ENUM):
                return self._run_of_scalars(element, count, name)
            case Named():
                local = self._locals.take(name)
                return f"{local}, pos = {self._structs(element, count, level)}\n", local
            case _:
                local = self._locals.take(name)
                body, made = self._value(element, f"{name}_item", level)
                text = render_code(
                    "python/codec/read_loop.py.j2",
                    local=local,
                    count=count,
                    smallest=smallest(self._context, element),
                    annotation=annotation(self._context, type_),
                    body=body,
                    made=made,
                    fits=self._helper("fits", "checks"),
                )
                return text, local

    def _run_of_scalars(self, element: Primitive | Named, count: str, name: str) -> tuple[str, str]:
        base = element if isinstance(element, Primitive) else self._context.program.enum(element).base
        item = self._fixed.converted(element, "item")
        plain = item == "item" or base.scalar in (Scalar.BOOL, Scalar.UUID)
        local = self._locals.take(name if plain else f"{name}_numbers")
        read = self._helper(f"read_{sequence_name(base.scalar)}", "sequences")
        text = f"{local}, pos = {read}(data, pos, {count})\n"
        return text, local if plain else f"[{item} for item in {local}]"

    def _structs(self, type_: Named, count: str, level: int) -> str:
        read = self._context.codec_name(type_.full_name, "read_{}")
        deeper = (
            f", depth + {level}" if counts_depth(self._context, self._context.program.struct(type_)) else ""
        )
        return f"{read}(data, pos, {count}{deeper})"

    def _helper(self, name: str, module: str) -> str:
        module = "uuids" if name.endswith("_uuids") else module
        return self._context.imports.name(f"mf.codec.{module}", name)
