"""F3. Declared types and constants, and the fields of structs."""

from dataclasses import dataclass, field
from enum import Enum as PythonEnum

from mfidl.model.constraint import Constraint
from mfidl.model.plan import UNPLANNED, Layout, StructPlan, Tier
from mfidl.model.types import DeclKind, Named, OptionalOf, Primitive, Type
from mfidl.model.value import StructValue, Value
from mfidl.source import Span

# The schema's own annotations at a declaration or member, in the order written: values of structs of the kind
# ANNOTATION. Fields that were not written keep their defaults.
Annotations = tuple[StructValue, ...]

# `within` of declarations: the declarations of the same module that they stand in, `Outer` or `Outer.Inner`;
# "" for those of the module itself. Services, too, declare types.

# Names that the schema prescribes for one target language, in the order written: (("cpp", "colour"),), from
# `@cpp.name("colour")`.
TargetNames = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Reserved:
    """What fields may not be called or numbered any more. Ranges are inclusive on both sides."""

    numbers: tuple[tuple[int, int], ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CppCodec:
    """`@cpp.codec("geo/codec.hpp", "geo::Geo", "geo::Codec")`: the user's type and its codec."""

    header: str
    type: str
    codec: str


@dataclass(frozen=True, slots=True)
class PythonCodec:
    """`@python.codec("geo.codec:Codec")`."""

    module: str
    codec: str


@dataclass(frozen=True, slots=True)
class CppType:
    """`@cpp.type("legacy/vec3.hpp", "legacy::Vec3")`: an existing type that replaces a memcpy struct."""

    header: str
    type: str


class StructKind(PythonEnum):
    """Where a struct comes from. PARAMS and RESULTS are the implicit ones of a method."""

    STRUCT = "struct"
    ERROR = "error"
    PARAMS = "params"
    RESULTS = "results"
    ANNOTATION = "annotation"


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """A field of a struct or error, or a parameter or result of a method.

    `type` has no aliases in it: encode and decode by this one. `spelled` is the same type with the author's
    aliases (`AliasOf`), for the names in generated code. `doc` is the text of its doc comment, without the
    slashes, or "". `default` is None where there is none; an optional field without a default starts absent.
    `number` and `was` (earlier names) are the field's identity across versions where it has them. `required`
    (`@required`, of structs only): a program that makes a value must give it; for generated code, not for
    readers.
    """

    name: str
    type: Type
    spelled: Type
    doc: str = ""
    default: Value | None = None
    constraints: tuple[Constraint, ...] = ()
    number: int | None = None
    was: tuple[str, ...] = ()
    deprecated: str | None = None
    target_names: TargetNames = ()
    required: bool = False
    span: Span | None = field(default=None, repr=False)
    annotations: Annotations = ()

    @property
    def may_be_left_out(self) -> bool:
        """Something else replaces it where it is not given, in bytes too."""
        return self.default is not None or isinstance(self.type, OptionalOf)


@dataclass(frozen=True, slots=True, eq=False)
class Struct:
    """A struct, an error, or the implicit struct of a method's parameters or results.

    `full_name` is 'sf1.search.Hit', or 'sf1.search.Index.query.params' for an implicit one (`name` is then
    'params'). `cycle` holds the full names of the structs, this one included, that contain each other through
    list, map, set or `?`; it is empty for a type that is not recursive. A field of optional type whose
    element is in `cycle` needs indirection in a language of values. A struct of tier custom has no fields,
    but the codecs that it names; `cpp_type` is there for memcpy structs only.
    """

    name: str
    full_name: str
    kind: StructKind
    fields: tuple[Field, ...]
    doc: str = ""
    asked_tier: Tier | None = None
    cycle: frozenset[str] = frozenset()
    reserved: Reserved = Reserved()
    cpp_codec: CppCodec | None = None
    python_codec: PythonCodec | None = None
    cpp_type: CppType | None = None
    deprecated: str | None = None
    target_names: TargetNames = ()
    plan: StructPlan = UNPLANNED
    span: Span | None = field(default=None, repr=False)
    annotations: Annotations = ()
    within: str = ""

    @property
    def tier(self) -> Tier:
        return self.plan.tier

    @property
    def layout(self) -> Layout | None:
        return self.plan.layout

    @property
    def is_error(self) -> bool:
        return self.kind is StructKind.ERROR

    @property
    def reference(self) -> Named:
        """The type expression that names this struct."""
        return Named(self.full_name, DeclKind.ERROR if self.is_error else DeclKind.STRUCT)


@dataclass(frozen=True, slots=True, eq=False)
class EnumMember:
    name: str
    number: int
    doc: str = ""
    deprecated: str | None = None
    target_names: TargetNames = ()
    span: Span | None = field(default=None, repr=False)
    annotations: Annotations = ()


@dataclass(frozen=True, slots=True, eq=False)
class Enum:
    """`open`: unknown numbers survive a round trip; closed: they are a decode error. Members in declaration
    order.
    """

    name: str
    full_name: str
    base: Primitive
    open: bool
    members: tuple[EnumMember, ...]
    doc: str = ""
    deprecated: str | None = None
    target_names: TargetNames = ()
    span: Span | None = field(default=None, repr=False)
    annotations: Annotations = ()
    within: str = ""

    @property
    def reference(self) -> Named:
        return Named(self.full_name, DeclKind.ENUM)


@dataclass(frozen=True, slots=True, eq=False)
class FlagsMember:
    """One named bit: bit 3 has the value 8."""

    name: str
    bit: int
    doc: str = ""
    deprecated: str | None = None
    target_names: TargetNames = ()
    span: Span | None = field(default=None, repr=False)
    annotations: Annotations = ()


@dataclass(frozen=True, slots=True, eq=False)
class Flags:
    """A set of named bits in an unsigned integer. Bits without a name survive a round trip."""

    name: str
    full_name: str
    base: Primitive
    members: tuple[FlagsMember, ...]
    doc: str = ""
    deprecated: str | None = None
    target_names: TargetNames = ()
    span: Span | None = field(default=None, repr=False)
    annotations: Annotations = ()
    within: str = ""

    @property
    def reference(self) -> Named:
        return Named(self.full_name, DeclKind.FLAGS)


@dataclass(frozen=True, slots=True, eq=False)
class Union:
    """Exactly one of several alternatives. Each has a number (`Field.number`, never None): its identity on
    the wire. Alternatives have no defaults, and their types are not optional. `cycle` as in `Struct`.
    """

    name: str
    full_name: str
    alternatives: tuple[Field, ...]
    doc: str = ""
    asked_tier: Tier | None = None
    cycle: frozenset[str] = frozenset()
    reserved: Reserved = Reserved()
    deprecated: str | None = None
    target_names: TargetNames = ()
    plan: StructPlan = UNPLANNED
    span: Span | None = field(default=None, repr=False)
    annotations: Annotations = ()
    within: str = ""

    @property
    def tier(self) -> Tier:
        return self.plan.tier

    @property
    def reference(self) -> Named:
        return Named(self.full_name, DeclKind.UNION)


def members(declaration: Struct | Union) -> tuple[Field, ...]:
    """What a struct or union holds: fields or alternatives."""
    return declaration.fields if isinstance(declaration, Struct) else declaration.alternatives


@dataclass(frozen=True, slots=True, eq=False)
class Alias:
    """`type Name = target;`. Every use is already expanded in `Field.type`; generated code may declare the
    name. `cpp_view`: in C++ the list is an mf::View, outside of archives.
    """

    name: str
    full_name: str
    type: Type
    spelled: Type
    doc: str = ""
    constraints: tuple[Constraint, ...] = ()
    deprecated: str | None = None
    target_names: TargetNames = ()
    cpp_view: bool = False
    span: Span | None = field(default=None, repr=False)
    annotations: Annotations = ()
    within: str = ""


Declaration = Struct | Union | Enum | Flags | Alias


def local_name(declaration: Declaration) -> str:
    """Its name below its module: `Inner`, or `Outer.Inner`."""
    return f"{declaration.within}.{declaration.name}" if declaration.within else declaration.name


@dataclass(frozen=True, slots=True, eq=False)
class Const:
    """`const NAME: type = value;`. The value is evaluated; uses of it elsewhere are already replaced."""

    name: str
    full_name: str
    type: Type
    spelled: Type
    value: Value
    doc: str = ""
    deprecated: str | None = None
    target_names: TargetNames = ()
    span: Span | None = field(default=None, repr=False)
    annotations: Annotations = ()
