"""F6. The views of _types.py: constants, aliases, enums, flags, structs, unions, errors, and the classes of
requests and results.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from mfidl.emit.python.context import Context
from mfidl.emit.python.literals import field_default, literal
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

_ALIASES = ("alias", "custom", "union")


@dataclass(frozen=True, slots=True)
class LineView:
    """A constant, a member of an enum or of flags, or a word for an inner type."""

    name: str
    type: str
    value: str
    doc: str = ""


@dataclass(frozen=True, slots=True)
class FieldView:
    """`value` is what a field with a default begins with; `is_fresh`: each instance has one of its own. A
    field that is `named` is keyword-only.
    """

    name: str
    type: str
    doc: str
    value: str = ""
    is_fresh: bool = False
    named: bool = False

    @property
    def parameter(self) -> str:
        """Of the constructor."""
        default = "FRESH" if self.is_fresh else self.value
        return f"{self.name}: {self.type}{f' = {default}' if default else ''}"


@dataclass(frozen=True, slots=True)
class TypeView:
    """`kind`: alias, custom, union, enum, open_enum, flags, struct, error, request, result, alternative, or
    within, the words of a declaration for the types in it. `type` is the type of an alias, or how many bits
    flags have. `archived` is the runtime's class for its kind of archive, `within` the class of its words;
    `codec` is where the user's codec is.
    """

    kind: str
    name: str
    doc: str
    deprecated: str | None = None
    type: str = ""
    members: tuple[LineView, ...] = ()
    fields: tuple[FieldView, ...] = ()
    alternatives: tuple[str, ...] = ()
    archived: str = ""
    within: tuple[str, ...] = ()
    codec: tuple[str, str] | None = None

    @property
    def slots(self) -> list[str]:
        return [f'"{each.name}"' for each in self.fields]

    @property
    def parameters(self) -> list[str]:
        """Of the constructor."""
        placed = [each.parameter for each in self.fields if not each.named]
        named = [each.parameter for each in self.fields if each.named]
        return ["self", *placed, *(["*", *named] if named else [])]

    @property
    def compared(self) -> list[str]:
        """What must hold of two equal values."""
        names = [each.name for each in self.fields]
        if self.keeps_unknown:
            names.append("__mf_unknown__")
        return [f"self.{name} == other.{name}" for name in names] or ["True"]

    @property
    def shown(self) -> list[str]:
        """The parts of the formatted string of its `repr`."""
        last = len(self.fields) - 1
        fields = [
            f"{each.name}={{self.{each.name}!r}}{', ' if at < last else ')'}"
            for at, each in enumerate(self.fields)
        ]
        return ["{type(self).__name__}(", *fields] if fields else ["{type(self).__name__}()"]

    @property
    def keeps_unknown(self) -> bool:
        return self.archived in ("ArchiveStruct", "GraphStruct")

    @property
    def is_of_graph(self) -> bool:
        return self.archived.startswith("Graph")


def types_views(context: Context) -> dict[str, object]:
    types = _Types(context)
    constants, declared = types.constants(), types.declared()
    aliases = list(takewhile(lambda each: each.kind in _ALIASES, declared))
    return {"constants": constants, "aliases": aliases, "types": declared[len(aliases) :]}


class _Types:
    def __init__(self, context: Context) -> None:
        self._context = context

    def constants(self) -> list[LineView]:
        return [self._constant(each) for each in self._context.module.constants]

    def declared(self) -> list[TypeView]:
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
            if isinstance(each, Enum | Flags):
                views.append(self._numbered(each))
            elif isinstance(each, Union):
                views += self._union(each)
            elif isinstance(each, Struct):
                views += [*self._within(each.full_name), self._struct(each)]
            views += self._aliases()
        for service in self._context.module.services:
            views += self._within(service.full_name)
            names = self._context.names.services[service.full_name]
            for method, own in zip(service.methods, names.methods, strict=True):
                if service.declares(method):
                    views += self._implicit(method, own.request, own.result, f"{service.name}.{method.name}")
        return views

    def _constant(self, const: Const) -> LineView:
        return LineView(
            self._context.names.constants[const.full_name],
            annotation(self._context, const.spelled),
            literal(self._context, const.type, const.value),
            noted(const.doc, const.deprecated),
        )

    def _aliases(self) -> list[TypeView]:
        """The aliases that are not written yet, and that name only what is written."""
        below = self._context.below
        views: list[TypeView] = []
        left = [each for each in self._context.module.aliases if each.full_name in below]
        while ready := [each for each in left if below.isdisjoint(mentioned(each.spelled))]:
            views += map(self._alias, ready)
            below.difference_update(each.full_name for each in ready)
            left = [each for each in left if each.full_name in below]
        return views

    def _alias(self, alias: Alias) -> TypeView:
        name, type_ = self._context.type_name(alias.full_name), annotation(self._context, alias.spelled)
        return TypeView("alias", name, noted(alias.doc, alias.deprecated), type=type_)

    def _numbered(self, declared: Enum | Flags) -> TypeView:
        flags = isinstance(declared, Flags)
        members: Sequence[EnumMember | FlagsMember] = declared.members
        values = (str(each.bit if isinstance(each, FlagsMember) else each.number) for each in members)
        named = zip(members, enum_members(members), values, strict=True)
        return TypeView(
            "flags" if isinstance(declared, Flags) else "open_enum" if declared.open else "enum",
            self._context.type_name(declared.full_name),
            noted(declared.doc, declared.deprecated),
            declared.deprecated,
            str(declared.base.scalar.bits) if flags else "",
            tuple(LineView(name, "", value, noted(each.doc, each.deprecated)) for each, name, value in named),
        )

    def _struct(self, struct: Struct) -> TypeView:
        name, doc = self._context.type_name(struct.full_name), noted(struct.doc, struct.deprecated)
        within = tuple(self._context.within(struct.full_name))
        if struct.tier is Tier.CUSTOM:
            return self._custom(struct, name, doc)
        if (
            struct.is_error
        ):  # an exception keeps the identity hash; its fields need no defaults but the schema's
            fields = self._parameters(struct)
            return TypeView("error", name, doc, struct.deprecated, fields=fields, within=within)
        archived = ""
        if struct.tier is Tier.ARCHIVE:
            archived = "GraphStruct" if self._context.facts.is_linked(struct) else "ArchiveStruct"
        fields = self._fields(struct)
        return TypeView(
            "struct", name, doc, struct.deprecated, fields=fields, archived=archived, within=within
        )

    def _custom(self, struct: Struct, name: str, doc: str) -> TypeView:
        """The user's own type, which its codec names. Only type checkers and `typing.get_type_hints` import
        it, the latter when it is called."""
        if (codec := struct.python_codec) is None:
            return TypeView("custom", name, doc, type="object")
        outer, _, inner = codec.codec.partition(".")
        local = self._context.names.codecs[struct.full_name]
        self._context.imports.name_for_checkers(codec.module, outer, local)
        type_ = f'"{".".join(filter(None, [local, inner, "Value"]))}"'
        return TypeView("custom", name, doc, type=type_, codec=(codec.module, codec.codec))

    def _union(self, union: Union) -> list[TypeView]:
        """A class for each alternative, and the name of the union for all of them."""
        context, name = self._context, self._context.type_name(union.full_name)
        archived = "GraphAlternative" if context.facts.is_linked(union) else ""
        views = [
            TypeView(
                "alternative",
                context.alternative_name(union, each),
                noted(each.doc or f"`{each.name}` of a `{name}`.", each.deprecated),
                each.deprecated,
                fields=(FieldView("value", annotation(context, each.spelled), ""),),
                archived=archived,
            )
            for each in union.alternatives
        ]
        alternatives = tuple(each.name for each in views)
        doc = noted(union.doc, union.deprecated)
        return [*views, TypeView("union", name, doc, alternatives=alternatives)]

    def _within(self, full_name: str) -> list[TypeView]:
        """The class of a declaration's words for the types that are declared within it."""
        within = self._context.names.within.get(full_name)
        if within is None:
            return []
        words = tuple(LineView(word, "", self._word(name)) for word, name in within.words)
        return [TypeView("within", within.name, "", members=words)]

    def _word(self, full_name: str) -> str:
        """The name of an inner type; in quotation marks if it is an alias of a type that is written later,
        such as the outer type.
        """
        name = self._context.type_name(full_name)
        return f'"{name}"' if full_name in self._context.below else name

    def _implicit(self, method: Method, request: str, result: str, shown: str) -> list[TypeView]:
        """The classes of a method's parameters and, if it has several, of its results."""
        what = (
            f"One call of {shown}, for batches." if method.replicated is None else f"One message of {shown}."
        )
        views = [TypeView("request", request, what, fields=self._parameters(method.params, given=True))]
        if result:
            fields = tuple(self._field(each, name) for each, name in self._named(method.results))
            views.append(TypeView("result", result, f"The results of {shown}.", fields=fields))
        return views

    def _named(self, struct: Struct) -> list[tuple[Field, str]]:
        return list(zip(struct.fields, self._context.attributes(struct), strict=True))

    def _fields(self, struct: Struct) -> tuple[FieldView, ...]:
        """All fields have defaults except those that must be given. From the first such field after one with
        a default on, fields are keyword-only, as parameters are (decision 0015).
        """
        given = [self._context.facts.must_be_given(each) for each in struct.fields]
        named_from = next((at for at, one in enumerate(given) if one and not all(given[:at])), len(given))
        return tuple(
            self._field(each, name, has_default=not given[at], named=at >= named_from)
            for at, (each, name) in enumerate(self._named(struct))
        )

    def _parameters(self, struct: Struct, *, given: bool = False) -> tuple[FieldView, ...]:
        placed = places(struct)
        return tuple(
            self._field(
                each,
                name,
                has_default=placed.left_out(at, each),
                named=at >= placed.named_from,
                given=given,
            )
            for at, (each, name) in enumerate(self._named(struct))
        )

    def _field(
        self, each: Field, name: str, *, has_default: bool = False, named: bool = False, given: bool = False
    ) -> FieldView:
        value, is_fresh = field_default(self._context, each) if has_default else ("", False)
        type_ = annotation(self._context, each.spelled, given=given)
        return FieldView(name, type_, noted(each.doc, each.deprecated), value, is_fresh, named)


def inner_first(declarations: Sequence[Declaration]) -> Sequence[Declaration]:
    """So ordered that what types declare within them comes before them, too: they have words for it. Where
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


def noted(doc: str, deprecated: str | None) -> str:
    """The doc comment, followed by the deprecation."""
    if deprecated is None:
        return doc
    note = f"Deprecated: {deprecated}" if deprecated else "Deprecated."
    return f"{doc.strip()}\n\n{note}" if doc.strip() else note


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
    `with_stream`: a stream, which must be given, follows the fields.
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
