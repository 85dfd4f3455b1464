"""F6. The content of the schemas to write, before they are text: the common output of all readers of foreign
files.

A declaration is known by its `key`, its full name in the foreign language; in the schema it is called `name`.
Types and values refer to declarations by key, so that names, imports and qualifiers are settled in one place,
when everything was read (`settle.py`, `text.py`).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from mfidl.source import SourceFile, Span

# Types -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Builtin:
    word: str


@dataclass(frozen=True, slots=True)
class Ref:
    key: str


@dataclass(frozen=True, slots=True)
class ListOf:
    element: "Type"


@dataclass(frozen=True, slots=True)
class SetOf:
    element: "Type"


@dataclass(frozen=True, slots=True)
class MapOf:
    key: "Type"
    value: "Type"


@dataclass(frozen=True, slots=True)
class OptionalOf:
    inner: "Type"


@dataclass(frozen=True, slots=True)
class StreamOf:
    element: "Type"


Type = Builtin | Ref | ListOf | SetOf | MapOf | OptionalOf | StreamOf


def optional(type_: Type) -> Type:
    """`T?`, of which there is no second one."""
    return type_ if isinstance(type_, OptionalOf) else OptionalOf(type_)


def present(type_: Type) -> Type:
    """The type of a value that is there."""
    return type_.inner if isinstance(type_, OptionalOf) else type_


# Values ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Literal:
    """As it is written in a schema."""

    text: str


@dataclass(frozen=True, slots=True)
class Named:
    """A constant; with a member, a member of an enum."""

    key: str
    member: str = ""


@dataclass(frozen=True, slots=True)
class ListValue:
    elements: tuple["Value", ...]


@dataclass(frozen=True, slots=True)
class MapValue:
    entries: tuple[tuple["Value", "Value"], ...]


@dataclass(frozen=True, slots=True)
class StructValue:
    fields: tuple[tuple[str, "Value"], ...]


Value = Literal | Named | ListValue | MapValue | StructValue


def string_literal(text: str) -> Literal:
    """A string, with what cannot stand in quotes as escapes."""
    escaped = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}
    written = (escaped.get(c) or (c if c.isprintable() else f"\\u{{{ord(c):x}}}") for c in text)
    return Literal('"' + "".join(written) + '"')


def bytes_literal(data: bytes) -> Literal:
    plain = b'\\"'
    written = (chr(byte) if 32 <= byte < 127 and byte not in plain else f"\\x{byte:02x}" for byte in data)
    return Literal('"' + "".join(written) + '"')


# Declarations ----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Member:
    """A field, alternative, parameter or result. `annotations` are written before the name."""

    name: str
    type: Type
    span: Span | None
    number: int | None = None
    default: Value | None = None
    annotations: list[str] = field(default_factory=list)
    doc: str = ""


@dataclass(slots=True)
class Declaration:
    """`holder` is the key of the struct that it is declared within; "" for none."""

    key: str
    name: str
    span: Span | None
    annotations: list[str] = field(default_factory=list)
    doc: str = ""
    holder: str = ""


@dataclass(slots=True)
class Struct(Declaration):
    """`kind`: struct, error or union. `reserved` holds items of the statement of that name."""

    kind: str = "struct"
    members: list[Member] = field(default_factory=list)
    reserved: list[str] = field(default_factory=list)


@dataclass(slots=True)
class EnumMember:
    name: str
    number: int
    annotations: list[str] = field(default_factory=list)
    doc: str = ""
    span: Span | None = None


@dataclass(slots=True)
class Enum(Declaration):
    """`second_names` has the names that are left out because their numbers have one, with that one;
    `left_out` has those whose numbers cannot be written.
    """

    open: bool = True
    members: list[EnumMember] = field(default_factory=list)
    second_names: dict[str, str] = field(default_factory=dict)
    left_out: set[str] = field(default_factory=set)

    def member_of(self, number: int) -> str | None:
        return next((each.name for each in self.members if each.number == number), None)

    def member_called(self, name: str) -> EnumMember | None:
        """The member that has this name, or whose number has it, too."""
        name = self.second_names.get(name, name)
        return next((each for each in self.members if each.name == name), None)

    def declares(self, name: str) -> bool:
        """Whether the foreign file gives the enum a member of this name, left out or not."""
        return name in self.left_out or self.member_called(name) is not None


@dataclass(slots=True)
class Alias(Declaration):
    type: Type = Builtin("bytes")


@dataclass(slots=True)
class Const(Declaration):
    type: Type = Builtin("bytes")
    value: Value = Literal('""')


@dataclass(slots=True)
class Method:
    """One result is unnamed if its name is empty. `throws` holds keys."""

    name: str
    span: Span | None
    parameters: list[Member] = field(default_factory=list)
    results: list[Member] = field(default_factory=list)
    throws: list[str] = field(default_factory=list)
    annotations: list[str] = field(default_factory=list)
    doc: str = ""


@dataclass(slots=True)
class Service(Declaration):
    """`base` is the key of the service that it extends."""

    methods: list[Method] = field(default_factory=list)
    base: str | None = None


@dataclass(slots=True)
class File:
    """`name` is its path below the folders of the run, which the schema gets below the folder of the output.
    `scope`: the package or module that its declarations are in, and `span` where that is named.
    """

    source: SourceFile
    name: str
    scope: tuple[str, ...]
    doc: str = ""
    declarations: list[Declaration] = field(default_factory=list)
    module: str = ""
    span: Span | None = None

    def __post_init__(self) -> None:
        self.module = _module(*self.scope, self._steps()[-1])

    @property
    def path(self) -> str:
        """Below the folder of the output; characters that an import or another system cannot name are `_`."""
        steps = (
            "".join(c if c.isprintable() and c not in '"\\:' else "_" for c in each) for each in self._steps()
        )
        return "/".join(steps) + ".mfidl"

    @property
    def place(self) -> Span:
        """Where its module is named, or its begin."""
        return self.span or Span(self.source, 0, 0)

    def be_named_in_full(self) -> None:
        """Take the folders into the name of the module, because another file has the short one."""
        self.module = _module(*self.scope, *self._steps())

    def _steps(self) -> tuple[str, ...]:
        return PurePosixPath(self.name).with_suffix("").parts


class Project:
    """All files of a run, imported ones first, and where each key is declared."""

    def __init__(self) -> None:
        self.files: list[File] = []
        self.left_out: set[str] = set()
        self._places: dict[str, tuple[File, Declaration]] = {}

    def add(self, file: File) -> None:
        self.files.append(file)
        for each in file.declarations:
            self.place(file, each)

    def place(self, file: File, declaration: Declaration) -> None:
        """Make a declaration of this file known by its key."""
        self._places[declaration.key] = (file, declaration)

    def leave_out(self, declaration: Declaration) -> None:
        """Removes a declaration that cannot be written. Nothing may refer to it yet."""
        self._places.pop(declaration.key)
        self.left_out.add(declaration.key)

    def knows(self, key: str) -> bool:
        return key in self._places

    def file_of(self, key: str) -> File:
        return self._places[key][0]

    def of(self, key: str) -> Declaration:
        return self._places[key][1]

    def within(self, scope: str) -> list[Declaration]:
        """The declarations whose keys are a name in this module of Slice."""
        prefix = f"{scope}::"
        return [
            each
            for key, (_, each) in self._places.items()
            if key.startswith(prefix) and "::" not in key[len(prefix) :]
        ]

    def path(self, key: str) -> tuple[str, ...]:
        """The names of what a declaration is within, and its own."""
        declaration = self.of(key)
        around = self.path(declaration.holder) if declaration.holder else ()
        return (*around, declaration.name)

    def bare(self, type_: Type) -> Type:
        """The meaning of an alias in the end; the checks of the schema refuse one that means itself."""
        seen: set[str] = set()
        while isinstance(type_, Ref) and type_.key not in seen:
            seen.add(type_.key)
            declared = self.of(type_.key)
            if not isinstance(declared, Alias):
                break
            type_ = declared.type
        return type_


def members_of(declaration: Declaration) -> Iterator[Member]:
    """All that has a type and a name in a declaration."""
    match declaration:
        case Struct():
            yield from declaration.members
        case Service():
            for method in declaration.methods:
                yield from method.parameters
                yield from method.results
        case _:
            pass


def references(declaration: Declaration) -> Iterator[str]:
    """The keys of all that a declaration refers to."""
    for member in members_of(declaration):
        yield from _in_type(member.type)
        yield from _in_value(member.default)
    match declaration:
        case Alias():
            yield from _in_type(declaration.type)
        case Const():
            yield from _in_type(declaration.type)
            yield from _in_value(declaration.value)
        case Service():
            if declaration.base is not None:
                yield declaration.base
            for method in declaration.methods:
                yield from method.throws
        case _:
            pass


def _in_type(type_: Type) -> Iterator[str]:
    match type_:
        case Ref(key):
            yield key
        case ListOf(inner) | SetOf(inner) | OptionalOf(inner) | StreamOf(inner):
            yield from _in_type(inner)
        case MapOf(key_type, value):
            yield from _in_type(key_type)
            yield from _in_type(value)
        case Builtin():
            pass


def _in_value(value: Value | None) -> Iterator[str]:
    match value:
        case Named(key, _):
            yield key
        case ListValue(elements):
            for each in elements:
                yield from _in_value(each)
        case MapValue(entries):
            for key_value, held in entries:
                yield from _in_value(key_value)
                yield from _in_value(held)
        case StructValue(fields):
            for _, each in fields:
                yield from _in_value(each)
        case _:
            pass


def is_name(text: str) -> bool:
    """Whether the language of schemas has it as a name."""
    return text.isascii() and text.isidentifier()


def camel(name: str) -> str:
    """`two_words` as the name of a type, `TwoWords`; unchanged where that is no name, as for `_2fa`."""
    made = "".join(part[:1].upper() + part[1:] for part in name.split("_"))
    return made if made and not made[0].isdigit() else name


def _module(*parts: str) -> str:
    return ".".join(map(_word, parts))


def _word(text: str) -> str:
    """A name that can be a part of a module's."""
    made = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in text)
    return made if made and not made[0].isdigit() else f"_{made}"
