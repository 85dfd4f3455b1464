"""F6. The views of _types.py: constants, aliases, enums, flags, structs, unions, errors, and the dataclasses
of requests and results.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mfidl.emit.python.context import Context
from mfidl.emit.python.layout import WIDTH, bracket, docstring
from mfidl.emit.python.literals import field_default, literal, text_literal
from mfidl.emit.python.names import enum_members, mentioned
from mfidl.emit.python.types import annotation
from mfidl.model import (
    Alias,
    Const,
    Declaration,
    Enum,
    EnumMember,
    Field,
    Flags,
    FlagsMember,
    Method,
    Struct,
    Tier,
    Union,
)
from mfidl.semantics.graph import TypeGraph, components, inside

Documented = Alias | Const | Enum | EnumMember | Field | Flags | FlagsMember | Struct | Union


@dataclass(frozen=True, slots=True)
class LineView:
    """One line of code, and its documentation below."""

    line: str
    doc: str


@dataclass(frozen=True, slots=True)
class ClassView:
    """`head` are the decorator and class lines; `fields` may be empty."""

    decorator: str
    head: str
    doc: str
    fields: tuple[LineView, ...]
    error: bool = False
    error_hash: str = ""
    alias: bool = False


class TypesFile:
    def __init__(self, context: Context) -> None:
        self._context = context

    def constants(self) -> list[LineView]:
        return [self._constant(each) for each in self._context.module.constants]

    def classes(self) -> list[ClassView]:
        """In dependency order: first what defaults use, and what is declared within a class. An alias follows
        all that it names, so that `typing.get_type_hints` finds a type there.
        """
        ordered = [
            each for each in inner_first(self._context.module.declarations) if not isinstance(each, Alias)
        ]
        below = self._context.below
        below.update(each.full_name for each in (*ordered, *self._context.module.aliases))
        views = self._aliases()
        for each in ordered:
            below.discard(each.full_name)
            if isinstance(each, Enum):
                views.append(self._enum(each))
            elif isinstance(each, Flags):
                views.append(self._flags(each))
            elif isinstance(each, Union):
                views += self._union(each)
            elif isinstance(each, Struct):
                views += [*self._within(each.full_name), self._declared(each)]
            views += self._aliases()
        for service in self._context.module.services:
            views += self._within(service.full_name)
            names = self._context.names.services[service.full_name]
            for method, own in zip(service.methods, names.methods, strict=True):
                if not service.declares(method):
                    continue
                views.append(self._request(method, own.request, f"{service.name}.{method.name}"))
                if own.result:
                    views.append(self._result(method, own.result, f"{service.name}.{method.name}"))
        return views

    def _constant(self, const: Const) -> LineView:
        final = self._context.imports.name("typing", "Final")
        name = self._context.names.constants[const.full_name]
        type_ = annotation(self._context, const.spelled)
        value = literal(self._context, const.type, const.value)
        return LineView(f"{name}: {final}[{type_}] = {value}", self._doc(const, 0))

    def _aliases(self) -> list[ClassView]:
        """The aliases that are not written yet, and that name only what is written."""
        below = self._context.below
        views: list[ClassView] = []
        left = [each for each in self._context.module.aliases if each.full_name in below]
        while ready := [each for each in left if below.isdisjoint(mentioned(each.spelled))]:
            views += map(self._alias, ready)
            below.difference_update(each.full_name for each in ready)
            left = [each for each in left if each.full_name in below]
        return views

    def _alias(self, alias: Alias) -> ClassView:
        type_alias = self._context.imports.name("typing", "TypeAlias")
        name = self._context.type_name(alias.full_name)
        line = f"{name}: {type_alias} = {annotation(self._context, alias.spelled)}"
        return ClassView("", line, self._doc(alias, 0), (), alias=True)

    def _enum(self, enum: Enum) -> ClassView:
        base = (
            self._context.imports.name("mf.codec.enums", "OpenEnum")
            if enum.open
            else self._context.imports.name("enum", "IntEnum")
        )
        members = tuple(
            LineView(f"{name} = {each.number}", self._doc(each, 4))
            for each, name in zip(enum.members, enum_members(enum.members), strict=True)
        )
        head = f"class {self._context.type_name(enum.full_name)}({base}):"
        return ClassView(self._deprecated(enum), head, self._doc(enum, 4), members)

    def _flags(self, flags: Flags) -> ClassView:
        base = self._context.imports.name("mf.codec.flags", "Flags")
        if flags.members:
            self._context.imports.name("mf.codec.flags", "bit")
        members = tuple(
            LineView(f"{name} = bit({each.bit})", self._doc(each, 4))
            for each, name in zip(flags.members, enum_members(flags.members), strict=True)
        )
        head = f"class {self._context.type_name(flags.full_name)}({base}, bits={flags.base.scalar.bits}):"
        return ClassView(self._deprecated(flags), head, self._doc(flags, 4), members)

    def _declared(self, struct: Struct) -> ClassView:
        if struct.tier is Tier.CUSTOM:
            return self._custom(struct)
        return self._error(struct) if struct.is_error else self._struct(struct)

    def _custom(self, struct: Struct) -> ClassView:
        """The user's own type, which its codec names. Only type checkers and `typing.get_type_hints` import
        it, the latter when it is called."""
        imports = self._context.imports
        name, type_, doc = self._context.type_name(struct.full_name), "object", self._doc(struct, 0)
        if (codec := struct.python_codec) is not None:
            outer, _, inner = codec.codec.partition(".")
            local = self._context.names.codecs[struct.full_name]
            imports.name_for_checkers(codec.module, outer, local)
            type_ = f'"{".".join(filter(None, [local, inner, "Value"]))}"'
            late = imports.name("mf.codec.custom", "custom_type")
            doc += f'if not TYPE_CHECKING:\n    {name} = {late}("{codec.module}", "{codec.codec}")\n'
        line = f"{name}: {imports.name('typing', 'TypeAlias')} = {type_}"
        return ClassView("", line, doc, (), alias=True)

    def _union(self, union: Union) -> list[ClassView]:
        """A class for each alternative, and the name of the union for all of them."""
        name, base = self._context.type_name(union.full_name), ""
        if self._context.facts.is_linked(union):
            base = f"({self._context.imports.name('mf.codec.archived', 'GraphAlternative')})"
        views = []
        for each in union.alternatives:
            doc = with_deprecation(each.doc or f"`{each.name}` of a `{name}`.", each.deprecated)
            view = ClassView(
                self._deprecated(each) + self._dataclass(),
                f"class {self._context.alternative_name(union, each)}{base}:",
                docstring(doc, 4),
                (LineView(f"value: {annotation(self._context, each.spelled)}", ""),),
            )
            views.append(view)
        alternatives = [self._context.alternative_name(union, each) for each in union.alternatives]
        type_alias = self._context.imports.name("typing", "TypeAlias")
        flat = " | ".join(alternatives)
        line = f"{name}: {type_alias} = {flat}"
        if len(line) > WIDTH:
            inside = flat if len(flat) + 4 <= WIDTH else "\n    | ".join(alternatives)
            line = f"{name}: {type_alias} = (\n    {inside}\n)"
        views.append(ClassView("", line, self._doc(union, 0), (), alias=True))
        return views

    def _doc(self, each: Documented, indent: int) -> str:
        return docstring(with_deprecation(each.doc, each.deprecated), indent)

    def _deprecated(self, each: Documented) -> str:
        """The decorator's line; "" if it is not deprecated."""
        return decorator(self._context, each.deprecated)

    def _dataclass(self) -> str:
        name = self._context.imports.name("mf.core.dataclass", "dataclass")
        return f"@{name}(slots=True)\n"

    def _struct(self, struct: Struct) -> ClassView:
        """All fields have defaults except those that must be given. From the first such field after one with
        a default on, fields are keyword-only, as parameters are (decision 0015).
        """
        given = [self._context.facts.must_be_given(each) for each in struct.fields]
        named_from = next((at for at, one in enumerate(given) if one and not all(given[:at])), len(given))
        fields = []
        for at, (each, name) in enumerate(zip(struct.fields, self._context.attributes(struct), strict=True)):
            default = "" if given[at] else field_default(self._context, each)
            fields.append(self._field(each, name, self._named(default) if at >= named_from else default))
        return ClassView(
            self._deprecated(struct) + self._dataclass(),
            f"class {self._context.type_name(struct.full_name)}{self._base(struct)}:",
            self._doc(struct, 4),
            tuple(fields),
        )

    def _base(self, struct: Struct) -> str:
        bases = []
        if struct.tier is Tier.ARCHIVE:
            base = "GraphStruct" if self._context.facts.is_linked(struct) else "ArchiveStruct"
            bases.append(self._context.imports.name("mf.codec.archived", base))
        bases += self._context.within(struct.full_name)
        return f"({', '.join(bases)})" if bases else ""

    def _within(self, full_name: str) -> list[ClassView]:
        """The class of a declaration's words for the types that are declared within it."""
        within = self._context.names.within.get(full_name)
        if within is None:
            return []
        alias = self._context.imports.name("typing", "TypeAlias")
        lines = [f"{word}: {alias} = {self._word(name)}" for word, name in within.words]
        fields = tuple(LineView(line, "") for line in ("__slots__ = ()", *lines))
        return [ClassView("", f"class {within.name}:", "", fields)]

    def _word(self, full_name: str) -> str:
        """The name of an inner type; in quotation marks if it is an alias of a type that is written later,
        such as the outer type.
        """
        name = self._context.type_name(full_name)
        return f'"{name}"' if full_name in self._context.below else name

    def _error(self, struct: Struct) -> ClassView:
        """An exception keeps the identity hash; its fields need no defaults, except those in the schema."""
        base = self._context.imports.name("mf.core.error", "DeclaredError")
        bases = ", ".join([base, *self._context.within(struct.full_name)])
        head = f"class {self._context.type_name(struct.full_name)}({bases}):"
        return ClassView(
            self._deprecated(struct) + self._dataclass(),
            head,
            self._doc(struct, 4),
            self._parameters(struct),
            True,
            f"{base}.__hash__",
        )

    def _request(self, method: Method, name: str, shown: str) -> ClassView:
        what = (
            f"One call of {shown}, for batches." if method.replicated is None else f"One message of {shown}."
        )
        doc = docstring(what, 4)
        return ClassView(
            self._dataclass(), f"class {name}:", doc, self._parameters(method.params, given=True)
        )

    def _result(self, method: Method, name: str, shown: str) -> ClassView:
        fields = zip(method.results.fields, self._context.attributes(method.results), strict=True)
        doc = docstring(f"The results of {shown}.", 4)
        return ClassView(
            self._dataclass(),
            f"class {name}:",
            doc,
            tuple(self._field(each, field, "") for each, field in fields),
        )

    def _parameters(self, struct: Struct, *, given: bool = False) -> tuple[LineView, ...]:
        lines = []
        placed = places(struct)
        for at, (each, name) in enumerate(zip(struct.fields, self._context.attributes(struct), strict=True)):
            default = field_default(self._context, each) if placed.left_out(at, each) else ""
            if at >= placed.named_from:
                default = self._named(default)
            lines.append(self._field(each, name, default, given=given))
        return tuple(lines)

    def _named(self, default: str) -> str:
        """The text after `=` for a field that must be named."""
        name = self._context.imports.name("mf.core.dataclass", "field")
        if default.startswith(f"{name}(default_factory="):
            return f"{default[:-1]}, kw_only=True)"
        return f"{name}(default={default}, kw_only=True)" if default else f"{name}(kw_only=True)"

    def _field(self, each: Field, name: str, default: str, *, given: bool = False) -> LineView:
        type_ = annotation(self._context, each.spelled, given=given)
        line = f"{name}: {type_} = {default}" if default else f"{name}: {type_}"
        if len(line) + 4 > 110 and default.startswith("field(default_factory="):
            inside = default.removeprefix("field(").removesuffix(")")
            line = bracket(f"{name}: {type_} = field(", [inside], ")", 4)
        return LineView(line, self._doc(each, 4))


def inner_first(declarations: Sequence[Declaration]) -> Sequence[Declaration]:
    """So ordered that what types declare within them stands before them, too: they have words for it. Where
    that and the other order exclude each other, this one wins.
    """
    inner: dict[str, list[str]] = {}
    for each in declarations:
        if each.within:
            holder = each.full_name.rpartition(".")[0]
            inner.setdefault(holder, []).append(each.full_name)
    if not inner:
        return declarations
    graph = TypeGraph(declarations)
    names = list(graph.declarations)
    inner = {name: [each for each in inner.get(name, ()) if each in graph.declarations] for name in names}
    found = components(names, lambda name: [*graph.needed(name), *inner[name]])
    order = [name for loop in found for part in inside(loop, inner) for name in part]
    return [graph.declarations[name] for name in order]


def with_deprecation(doc: str, deprecated: str | None) -> str:
    """The doc comment, followed by the deprecation."""
    if deprecated is None:
        return doc
    note = f"Deprecated: {deprecated}" if deprecated else "Deprecated."
    return f"{doc.strip()}\n\n{note}" if doc.strip() else note


def decorator(context: Context, deprecated: str | None) -> str:
    """`@deprecated("…")` on a line of its own; "" for what is still welcome."""
    if deprecated is None:
        return ""
    return f"@{context.imports.name('mf.core.deprecation', 'deprecated')}({text_literal(deprecated)})\n"


@dataclass(frozen=True, slots=True)
class Places:
    """How a caller gives the parameters: from `optional_from` on those may be left out that can be, and from
    `named_from` on all must be named (decision 0015).
    """

    optional_from: int
    named_from: int

    def left_out(self, at: int, each: Field) -> bool:
        return at >= self.optional_from and each.may_be_left_out and not each.required


def places(struct: Struct, *, with_stream: bool = False) -> Places:
    """Naming begins at the first parameter that must be given behind one whose schema writes a default. An
    optional one without a default does not ask for that much: in front of such parameters it must be given.
    `with_stream`: a stream, which must be given, stands behind the fields.
    """
    fields = struct.fields
    default = next((at for at, each in enumerate(fields) if each.default is not None), len(fields))
    required = [at for at, each in enumerate(fields) if each.required or not each.may_be_left_out]
    if with_stream:
        required.append(len(fields))
    return Places(
        optional_from=max((at + 1 for at in required if at <= default), default=0),
        named_from=next((at for at in required if at > default), len(fields) + 1),
    )
