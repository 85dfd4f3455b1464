"""F6. The view of _codec.py: one write_, read_, check_, shape and Codec per struct, declared or implicit."""

import struct as python_struct
from collections.abc import Iterator
from dataclasses import dataclass, replace

from mfidl.emit.naming import Scope
from mfidl.emit.python.conditions import Conditions
from mfidl.emit.python.context import Context, attributes
from mfidl.emit.python.fixed import Fixed, Parts
from mfidl.emit.python.layout import WIDTH, bracket, unfolded
from mfidl.emit.python.locals import MAX_DEPTH, counts_depth, function_scope, smallest_struct, struct_height
from mfidl.emit.python.read import Reading
from mfidl.emit.python.shapes import field_shape
from mfidl.emit.python.types import annotation
from mfidl.emit.python.write import Packers, Writing
from mfidl.model import Enum, Method, Primitive, Scalar, Service, Struct, StructKind


@dataclass(frozen=True, slots=True)
class EnumView:
    stem: str
    name: str
    closed: bool
    shape: str


@dataclass(frozen=True, slots=True)
class StructView:
    """What the templates codec/*.py.j2 place. Values are bare where a struct stands for its only field."""

    template: str
    stem: str
    write_type: str
    read_type: str
    write_head: str
    read_head: str
    write_body: str
    read_body: str
    made: str
    append_made: str
    appends: bool
    limits_depth: bool
    deepest: int
    too_short: str
    size: int
    packer: str
    check_head: str
    check_body: str
    shape_name: str
    shape_make: str
    shape_fields: str
    shape_parts: str
    is_memcpy: bool
    implicit: bool
    codec: str


@dataclass(frozen=True, slots=True)
class Role:
    """Where a struct stands: declared, a method's parameters, or its results."""

    struct: Struct
    write_type: str
    read_type: str
    make: str  # constructor; "" for a tuple of parameters, "bare" for the only result
    where: str
    shape_make: str
    shape_parts: str

    @property
    def bare(self) -> bool:
        return self.make == "bare"

    @property
    def implicit(self) -> bool:
        return self.struct.kind in (StructKind.PARAMS, StructKind.RESULTS)


class CodecFile:
    """Collects the views of one module."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._packers = Packers(context)
        self._fixed = Fixed(context)
        context.imports.name("typing", "Final")

    def structs(self) -> list[StructView]:
        return [self._struct(role) for role in self._roles()]

    def packers(self) -> list[tuple[str, str]]:
        return self._packers.items()

    def enums(self) -> list[EnumView]:
        return [self._enum(each) for each in self._context.module.enums]

    def _enum(self, enum: Enum) -> EnumView:
        context = self._context
        context.imports.name("mf.codec", "shape")
        stem, name = context.stem(enum.full_name), context.type_name(enum.full_name)
        if not enum.open:
            context.imports.name("mf.codec.checks", "members")
        members = "None" if enum.open else f"{stem.upper()}_MEMBERS"
        base = f"shape.{enum.base.scalar.value.upper()}"
        items = [f'"{enum.full_name}"', name, base, members]
        return EnumView(
            stem, name, not enum.open, bracket(f"{stem.upper()}_SHAPE: Final = shape.Enum(", items, ")")
        )

    def _roles(self) -> Iterator[Role]:
        for struct in self._context.module.structs:
            name = self._context.type_name(struct.full_name)
            yield Role(struct, name, name, name, "", name, "")
        for service in self._context.module.services:
            for method in service.methods:
                yield self._params(service, method)
                yield self._results(service, method)

    def _params(self, service: Service, method: Method) -> Role:
        names = self._context.names.services[service.full_name].methods[method.index]
        request = self._context.imports.name(
            f"{self._context.package(self._context.module.name)}._types", names.request
        )
        parts = [annotation(self._context, each.spelled) for each in method.params.fields]
        row = f"tuple[{', '.join(parts) or '()'}]"
        make = self._context.imports.name("mf.codec.shape", "parts_made")
        return Role(method.params, request, row, "", method.full_name, make, "")

    def _results(self, service: Service, method: Method) -> Role:
        where = f"{method.full_name}, result"
        if method.single_result:
            type_ = annotation(self._context, method.results.fields[0].spelled)
            make = self._context.imports.name("mf.codec.shape", "bare_made")
            parts = self._context.imports.name("mf.codec.shape", "bare_parts")
            return Role(method.results, type_, type_, "bare", where, make, parts)
        names = self._context.names.services[service.full_name].methods[method.index]
        if not method.results.fields:
            make = self._context.imports.name("mf.codec.shape", "nothing_made")
            parts = self._context.imports.name("mf.codec.shape", "nothing_parts")
            return Role(method.results, "None", "None", "None", where, make, parts)
        result = self._context.imports.name(
            f"{self._context.package(self._context.module.name)}._types", names.result
        )
        return Role(method.results, result, result, result, where, result, "")

    def _struct(self, role: Role) -> StructView:
        view = self._common(role)
        if smallest_struct(self._context, role.struct) == 0:
            return self._empty(role, view)
        return self._febird(role, view) if role.struct.layout is None else self._memcpy(role, view)

    def _common(self, role: Role) -> StructView:
        """What does not depend on the tier."""
        context, struct = self._context, role.struct
        context.imports.name("mf.codec", "shape")
        context.imports.name("collections.abc", "Iterable")
        names = attributes(struct)
        stem = context.stem(struct.full_name)
        return StructView(
            template="",
            stem=stem,
            write_type=role.write_type,
            read_type=role.read_type,
            write_head=self._write_head(role, stem, ""),
            read_head=self._read_head(role, stem, ""),
            write_body="",
            read_body="",
            made="",
            append_made="",
            appends=False,
            limits_depth=False,
            deepest=0,
            too_short="",
            size=0,
            packer="",
            check_head=self._check_head(role, stem, names) if self._checked(struct) else "",
            check_body=self._check_body(role, names),
            shape_name=struct.full_name,
            shape_make=role.shape_make,
            shape_fields=self._shape_fields(struct, names),
            shape_parts=role.shape_parts,
            is_memcpy=struct.layout is not None,
            implicit=role.implicit,
            codec=self._codec(role, stem, names),
        )

    def _write_head(self, role: Role, stem: str, depth: str) -> str:
        items = ["out: bytearray", f"values: Iterable[{role.write_type}]", *([depth] if depth else [])]
        return bracket(f"def write_{stem}(", items, ") -> None:")

    def _read_head(self, role: Role, stem: str, depth: str) -> str:
        items = ["data: bytes", "pos: int", "count: int", *([depth] if depth else [])]
        return bracket(f"def read_{stem}(", items, f") -> tuple[list[{role.read_type}], int]:")

    def _febird(self, role: Role, view: StructView) -> StructView:
        self._context.imports.name("mf.codec.malformed", "MalformedError")
        struct, names = role.struct, attributes(role.struct)
        write_body = Writing(self._context, self._locals(), self._packers).body(struct, names, role.bare)
        read_body, made = Reading(self._context, self._locals(), self._packers).body(struct, names)
        deep = counts_depth(self._context, struct)
        depth = f"depth: int = {0 if role.implicit else 1}" if deep else ""
        least = smallest_struct(self._context, struct)
        return replace(
            view,
            template="python/codec/febird.py.j2",
            write_head=self._write_head(role, view.stem, depth),
            read_head=self._read_head(role, view.stem, depth),
            write_body=write_body.rstrip("\n"),
            read_body=read_body.rstrip("\n"),
            append_made=self._append(role, made),
            appends="append(" in write_body,
            limits_depth=deep,
            deepest=MAX_DEPTH - struct_height(self._context, struct) if deep else 0,
            too_short="count > len(data) - pos" if least == 1 else f"{least} * count > len(data) - pos",
        )

    def _memcpy(self, role: Role, view: StructView) -> StructView:
        self._context.imports.name("mf.codec.malformed", "MalformedError")
        struct, names = role.struct, attributes(role.struct)
        format_ = self._fixed.struct_format(struct)
        values = ["value" if role.bare else f"value.{name}" for name in names]
        packed = [
            part
            for each, value in zip(struct.fields, values, strict=True)
            for part in self._fixed.pack(each.type, value)
        ]
        packer = self._packers.name(format_)
        call = f"{packer}.pack({', '.join(packed)})"
        line = f'out += b"".join([{call} for value in values])'
        if len(line) + 4 > WIDTH:
            line = f'out += b"".join(\n        {unfolded(f"[{call} for value in values]", 8, 0)}\n    )'
        return replace(
            view,
            template="python/codec/memcpy.py.j2",
            write_body=line,
            made=unfolded(self._rows(role, names), 4, len("return , end")),
            size=python_struct.calcsize(f"<{format_}"),
            packer=packer,
        )

    def _rows(self, role: Role, names: tuple[str, ...]) -> str:
        """The list of values from `rows`, an iterator over tuples."""
        fields = role.struct.fields
        run = list(zip(fields, names, strict=True))
        parts = Reading(self._context, self._locals(), self._packers).parts_of(run, "row")
        target = "row" if parts.names is None else ", ".join(parts.names) + "," * (len(parts.names) == 1)
        if parts.names is not None and len(parts.names) == 1:
            target = f"({target})"
        made = [self._fixed.made(each.type, parts) for each in fields]
        if role.make == "" and made == parts.names:
            return "list(rows)"
        return f"[{self._made(role, made)} for {target} in rows]"

    def _empty(self, role: Role, view: StructView) -> StructView:
        self._context.imports.name("mf.codec.checks", "fits")
        made = [self._fixed.made(each.type, Parts([])) for each in role.struct.fields]
        return replace(
            view,
            template="python/codec/empty.py.j2",
            made=self._made(role, made) if role.make != "None" else "None",
        )

    def _made(self, role: Role, made: list[str]) -> str:
        if role.bare:
            return made[0]
        if role.make == "":
            return f"({', '.join(made)}{',' * (len(made) == 1)})"
        return f"{role.make}({', '.join(made)})"

    def _append(self, role: Role, made: list[str]) -> str:
        flat = f"append({self._made(role, made)})"
        if len(flat) + 8 <= WIDTH or role.bare:
            return flat
        inner = bracket(f"{role.make}(", made, ")", 12)
        return f"append(\n            {inner}\n        )"

    def _locals(self) -> Scope:
        return function_scope(self._context)

    def _shape_fields(self, struct: Struct, names: tuple[str, ...]) -> str:
        fields = [
            field_shape(self._context, each, name) for each, name in zip(struct.fields, names, strict=True)
        ]
        if len(fields) == 1:
            return bracket("list_fields=lambda: (", fields, ",),", 4)
        lines = "".join(f"        {unfolded(each, 8)},\n" for each in fields)
        return f"list_fields=lambda: (\n{lines}    )," if fields else "list_fields=tuple,"

    def _checked(self, struct: Struct) -> list[int]:
        """Which fields can violate a constraint, in themselves or further in."""
        if not self._context.facts.is_constrained(struct):
            return []
        conditions = Conditions(self._context, Scope())
        return [
            at for at, each in enumerate(struct.fields) if conditions.can_violate(each.type, each.constraints)
        ]

    def _check_head(self, role: Role, stem: str, names: tuple[str, ...]) -> str:
        items = [f"value: {role.write_type}"]
        if role.make == "":
            fields = [(role.struct.fields[at], names[at]) for at in self._checked(role.struct)]
            items = [
                f"{name}: {annotation(self._context, each.spelled, given=True)}" for each, name in fields
            ]
        return bracket(f"def check_{stem}(", items, ") -> None:")

    def _check_body(self, role: Role, names: tuple[str, ...]) -> str:
        if not self._context.facts.is_constrained(role.struct):
            return ""
        conditions = Conditions(self._context, self._locals())
        text = ""
        for at in self._checked(role.struct):
            each, name = role.struct.fields[at], names[at]
            value = name if role.make == "" else "value" if role.bare else f"value.{name}"
            text += conditions.of(each.type, value, name, each.constraints)
        return text.rstrip("\n")

    def _codec(self, role: Role, stem: str, names: tuple[str, ...]) -> str:
        items = [f"{stem.upper()}_SHAPE", f"write_{stem}", f"read_{stem}"]
        kind = self._plain_kind(role)
        if kind:
            assert role.struct.layout is not None
            items.append(self._packers.name(self._fixed.struct_format(role.struct)))
            items += [] if role.bare else [role.write_type]
        name = self._context.imports.name(f"mf.codec.{'plain' if kind else 'codec'}", kind or "Codec")
        checked = self._checked(role.struct)
        if checked and role.make == "":
            written = ", ".join(f"each.{names[at]}" for at in checked)
            read = ", ".join(f"parts[{at}]" for at in checked)
            items.append(f"check_written=lambda each: check_{stem}({written})")
            items.append(f"check_read=lambda parts: check_{stem}({read})")
        elif checked:
            items += [f"check_written=check_{stem}", f"check_read=check_{stem}"]
        if role.where:
            items.append(f'where="{role.where}"')
        return bracket(f"{stem.upper()}_CODEC: Final = {name}(", items, ")")

    def _plain_kind(self, role: Role) -> str:
        """A shortcut of mf.codec.plain for numbers that need neither conversion nor check."""
        return plain_kind(role.struct) if role.make in ("", "bare") else ""


def plain_kind(struct: Struct) -> str:
    """PlainParts, PlainValue or "": which codec fits the implicit struct of a method."""
    plain = all(isinstance(each.type, Primitive) and _is_number(each.type.scalar) for each in struct.fields)
    if (
        struct.layout is None
        or not struct.fields
        or not plain
        or any(each.constraints for each in struct.fields)
    ):
        return ""
    return "PlainParts" if struct.kind is StructKind.PARAMS else "PlainValue"


def _is_number(scalar: Scalar) -> bool:
    return scalar.is_integer or scalar.is_float
