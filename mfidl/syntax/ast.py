"""F2. The syntax tree: what was written, with spans; nothing resolved.

Nodes are compared by identity, so that later stages can store facts by node. `broken` means that a part of
the node did not parse and was dropped: later stages then do not report what might have been there.
"""

from dataclasses import dataclass, field
from typing import Literal

from mfidl.source import SourceFile, Span


@dataclass(frozen=True, slots=True, eq=False)
class Name:
    text: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """A name with dots: `text.Document`."""

    parts: tuple[Name, ...]
    span: Span

    @property
    def text(self) -> str:
        return self.parts[0].text if len(self.parts) == 1 else ".".join(part.text for part in self.parts)


# Values -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class IntLiteral:
    value: int
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class FloatLiteral:
    value: float
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class DurationLiteral:
    nanoseconds: int
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class StringLiteral:
    """`data` is the UTF-8 of what was written, with \\xNN escapes as single bytes."""

    data: bytes
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class NameExpr:
    """A constant, an enum member, true, false, inf or nan; `negative` with a minus before it."""

    path: Path
    negative: bool
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class ListExpr:
    elements: tuple["Expr", ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class BraceExpr:
    """Fields of a struct or entries of a map: its type decides which."""

    entries: tuple[tuple["Expr", "Expr"], ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class BrokenExpr:
    """A literal that was already reported."""

    span: Span


Expr = (
    IntLiteral | FloatLiteral | DurationLiteral | StringLiteral | NameExpr | ListExpr | BraceExpr | BrokenExpr
)


# Annotations and types --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class RangeExpr:
    """`low..high`, either side may be open."""

    low: Expr | None
    high: Expr | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Argument:
    """`value`, `low..high`, or `name = value`; `key` is the left side of the last form."""

    key: Expr | None
    value: Expr | RangeExpr
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Annotation:
    """`@name` or `@name(...)`. `span` covers all of it."""

    path: Path
    arguments: tuple[Argument, ...]
    has_parentheses: bool
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class TypeExpr:
    """`name`, `name<...>`, with any number of `?` (more than one is refused later).

    `arguments` is None without angle brackets. `annotations` stand behind a type that is an argument of
    another.
    """

    path: Path
    arguments: tuple["TypeExpr | IntLiteral | BrokenExpr", ...] | None
    optional_marks: tuple[Span, ...]
    annotations: tuple[Annotation, ...]
    span: Span


# Declarations -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """A field, alternative, parameter or result; `annotations` are those before and behind it. `number` is
    broken if it was written and not understood.
    """

    name: Name
    number: IntLiteral | BrokenExpr | None
    type: TypeExpr
    default: Expr | None
    annotations: tuple[Annotation, ...]
    doc: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class ReservedRange:
    """`5`, or `7..9` with both bounds included."""

    low: IntLiteral
    high: IntLiteral
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Reserved:
    """`reserved 5, 7..9, "old_name";`"""

    items: tuple[ReservedRange | StringLiteral, ...]
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class EnumMember:
    name: Name
    value: Expr | None
    annotations: tuple[Annotation, ...]
    doc: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class ModuleDecl:
    path: Path
    annotations: tuple[Annotation, ...]
    doc: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class ImportDecl:
    target: StringLiteral
    alias: Name | None
    annotations: tuple[Annotation, ...]
    doc: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class ConstDecl:
    name: Name
    type: TypeExpr
    type_annotations: tuple[Annotation, ...]
    value: Expr
    annotations: tuple[Annotation, ...]
    doc: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class AliasDecl:
    """`within`: as of `StructDecl`."""

    name: Name
    type: TypeExpr
    type_annotations: tuple[Annotation, ...]
    annotations: tuple[Annotation, ...]
    doc: str
    span: Span
    within: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class AgentDecl:
    name: Name
    type: TypeExpr
    annotations: tuple[Annotation, ...]
    doc: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class EnumDecl:
    """An enum, or flags. `within`: as of `StructDecl`."""

    keyword: Literal["enum", "flags"]
    open: bool
    name: Name
    base: TypeExpr | None
    members: tuple[EnumMember, ...]
    broken: bool
    annotations: tuple[Annotation, ...]
    doc: str
    span: Span
    within: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class StructDecl:
    """A struct, error, union or annotation. `has_body` is false for `struct Name;`. `within`: the names of
    the declarations that it is within, `Outer` or `Outer.Inner`; "" for most.
    """

    keyword: Literal["struct", "error", "union", "annotation"]
    name: Name
    fields: tuple[Field, ...]
    reserved: tuple[Reserved, ...]
    has_body: bool
    broken: bool
    annotations: tuple[Annotation, ...]
    doc: str
    span: Span
    within: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class MethodDecl:
    """`results` is a tuple for `-> (a: T, ...)`, a type for `-> T`, None without `->`."""

    name: Name
    params: tuple[Field, ...]
    results: tuple[Field, ...] | TypeExpr | None
    result_annotations: tuple[Annotation, ...]
    arrow: Span | None
    throws: tuple[Path, ...]
    annotations: tuple[Annotation, ...]
    doc: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class ServiceDecl:
    name: Name
    base: Path | None
    agent: Path | None
    methods: tuple[MethodDecl, ...]
    broken: bool
    annotations: tuple[Annotation, ...]
    doc: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class TopicDecl:
    name: Name
    agent: Path | None
    type: TypeExpr
    type_annotations: tuple[Annotation, ...]
    annotations: tuple[Annotation, ...]
    doc: str
    span: Span


Decl = (
    ModuleDecl
    | ImportDecl
    | ConstDecl
    | AliasDecl
    | AgentDecl
    | EnumDecl
    | StructDecl
    | ServiceDecl
    | TopicDecl
)


@dataclass(frozen=True, slots=True, eq=False)
class File:
    """One parsed file. What is declared within another declaration comes before it in `declarations`.
    `broken_names` are names of declarations that did not parse: they exist, but unknown as what.

    `lost_declarations`: something was dropped whose name is not known either; `lost_imports`: an import.
    """

    source: SourceFile
    declarations: tuple[Decl, ...]
    broken_names: frozenset[str] = field(default_factory=frozenset)
    lost_declarations: bool = False
    lost_imports: bool = False
