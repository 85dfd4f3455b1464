"""F3. The resolved program: everything that a generator may read, and nothing else.

All of it is immutable. Declarations, fields and modules are compared by identity (each is one object of the
program, and a cheap key), types and values by structure. Types refer to declarations by full name (`Named`),
so recursive types need no cycles of objects; `Program.struct(named)` and its siblings follow a reference.

    program.modules            every module, imported ones first
      module.requested         named on the command line: generate it (an imported one is only referred to)
      module.declarations      aliases, enums, flags, structs, unions, errors: what another needs stands first
      module.services          methods with implicit structs for parameters and results
    struct.fields              field.type is free of aliases; field.spelled keeps them, for naming only
    struct.plan                tier, why, and for memcpy the layout
    service.fingerprint        16 bytes of SHA-256 over service.descriptor
"""

from mfidl.model.constraint import (
    Constraint,
    FiniteConstraint,
    LengthConstraint,
    PatternConstraint,
    RangeConstraint,
)
from mfidl.model.declaration import (
    Alias,
    Annotations,
    Const,
    CppCodec,
    CppType,
    Declaration,
    Enum,
    EnumMember,
    Field,
    Flags,
    FlagsMember,
    PythonCodec,
    Reserved,
    Struct,
    StructKind,
    TargetNames,
    Union,
    members,
)
from mfidl.model.graph import graph_tables
from mfidl.model.plan import UNPLANNED, FieldSlot, Layout, Padding, StructPlan, Tier
from mfidl.model.program import Import, Module, Program
from mfidl.model.service import (
    DEFAULT_CACHE_BYTES,
    MOST_REPLAYED,
    OVERFLOWS,
    Agent,
    Cache,
    Method,
    Service,
    Stream,
    Topic,
)
from mfidl.model.types import (
    AliasOf,
    ArrayOf,
    Coding,
    DeclKind,
    ListOf,
    MapOf,
    Named,
    OptionalOf,
    Primitive,
    RefOf,
    Scalar,
    SetOf,
    Type,
    expand,
    names_in,
    spell,
)
from mfidl.model.value import (
    EnumValue,
    FlagsValue,
    ListValue,
    MapValue,
    StructValue,
    UnionValue,
    Value,
    same,
)

__all__ = [
    "DEFAULT_CACHE_BYTES",
    "MOST_REPLAYED",
    "OVERFLOWS",
    "UNPLANNED",
    "Agent",
    "Alias",
    "AliasOf",
    "Annotations",
    "ArrayOf",
    "Cache",
    "Coding",
    "Const",
    "Constraint",
    "CppCodec",
    "CppType",
    "DeclKind",
    "Declaration",
    "Enum",
    "EnumMember",
    "EnumValue",
    "Field",
    "FieldSlot",
    "FiniteConstraint",
    "Flags",
    "FlagsMember",
    "FlagsValue",
    "Import",
    "Layout",
    "LengthConstraint",
    "ListOf",
    "ListValue",
    "MapOf",
    "MapValue",
    "Method",
    "Module",
    "Named",
    "OptionalOf",
    "Padding",
    "PatternConstraint",
    "Primitive",
    "Program",
    "PythonCodec",
    "RangeConstraint",
    "RefOf",
    "Reserved",
    "Scalar",
    "Service",
    "SetOf",
    "Stream",
    "Struct",
    "StructKind",
    "StructPlan",
    "StructValue",
    "TargetNames",
    "Tier",
    "Topic",
    "Type",
    "Union",
    "UnionValue",
    "Value",
    "expand",
    "graph_tables",
    "members",
    "names_in",
    "same",
    "spell",
]
