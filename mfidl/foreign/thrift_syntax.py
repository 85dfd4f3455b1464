"""F6. The content of a .thrift file as written: nothing is resolved.

The grammar is that of Apache Thrift's compiler. Lists may have `,`, `;` or nothing between their elements.
Annotations in parentheses say nothing of values, and are skipped.
"""

import re
from dataclasses import dataclass, field

from mfidl.foreign.scan import Cursor, Token, scan
from mfidl.source import SourceFile, Span

_WORDS = re.compile(
    r"""
    (?P<doc>/\*\*(?!/)(?:[^*]|\*(?!/))*\*/)
  | (?P<comment>//[^\n]*|\#[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)
  | (?P<float>[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?[0-9]+[eE][+-]?[0-9]+)
  | (?P<int>[+-]?(?:0[xX][0-9a-fA-F]+|[0-9]+))
  | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
  | (?P<mark>[{}()<>\[\]:;,=*&@-])
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Type:
    """`name` is a word of the language, a name, or `list`, `set`, `map` with their arguments."""

    name: str
    span: Span
    arguments: tuple["Type", ...] = ()


@dataclass(frozen=True, slots=True)
class Constant:
    """`kind`: int, float, text, name, list or map; `parts` are elements, or keys and values in turn."""

    kind: str
    text: str
    span: Span
    parts: tuple["Constant", ...] = ()


@dataclass(frozen=True, slots=True)
class Field:
    name: Token
    type: Type
    number: int | None
    need: str
    default: Constant | None


@dataclass(frozen=True, slots=True)
class Function:
    name: Token
    result: Type | None
    parameters: list[Field]
    throws: list[Field]
    oneway: bool
    doc: str


@dataclass(frozen=True, slots=True)
class Definition:
    """`kind`: const, typedef, enum, senum, struct, union, exception or service."""

    kind: str
    name: Token
    doc: str
    type: Type | None = None
    value: Constant | None = None
    members: list[tuple[Token, int | None]] = field(default_factory=list)
    fields: list[Field] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    extends: Token | None = None


@dataclass(slots=True)
class Document:
    source: SourceFile
    includes: list[tuple[str, Span]] = field(default_factory=list)
    definitions: list[Definition] = field(default_factory=list)


def parse(source: SourceFile) -> Document:
    return _Parser(source).document()


class _Parser:
    def __init__(self, source: SourceFile) -> None:
        self._cursor = Cursor(scan(source, _WORDS))
        self._made = Document(source)

    def document(self) -> Document:
        cursor = self._cursor
        while cursor.next.kind != "end":
            first = cursor.next
            match first.text:
                case "include":
                    cursor.take()
                    path = cursor.text()
                    self._made.includes.append((path.text[1:-1], path.span))
                case "cpp_include":
                    cursor.take()
                    cursor.text()
                case "namespace":
                    cursor.take()
                    cursor.take()
                    while cursor.take_if("-"):  # smalltalk's have one
                        cursor.name()
                    if cursor.next.kind == "text":
                        cursor.take()
                    else:
                        cursor.name()
                    self._annotations()
                case _:
                    self._made.definitions.append(self._definition())
                    cursor.take_if(";", ",")
        return self._made

    def _definition(self) -> Definition:
        cursor = self._cursor
        first = cursor.name("a definition: const, typedef, enum, struct, union, exception or service")
        match first.text:
            case "const":
                type_ = self._type()
                name = cursor.name()
                cursor.expect("=")
                return Definition("const", name, first.doc, type_, self._constant())
            case "typedef":
                type_ = self._type()
                name = cursor.name()
                self._annotations()
                return Definition("typedef", name, first.doc, type_)
            case "enum" | "senum":
                return self._enum(first)
            case "struct" | "union" | "exception":
                name = cursor.name()
                cursor.take_if("xsd_all")
                fields = self._fields("{", "}")
                self._annotations()
                return Definition(first.text, name, first.doc, fields=fields)
            case "service":
                return self._service(first)
        raise cursor.fail(f"a definition in place of `{first.text}`")

    def _enum(self, first: Token) -> Definition:
        cursor = self._cursor
        name = cursor.name()
        cursor.expect("{")
        members: list[tuple[Token, int | None]] = []
        while not cursor.take_if("}"):
            member = cursor.take() if cursor.next.kind == "text" else cursor.name("a member")
            members.append((member, cursor.whole() if cursor.take_if("=") else None))
            self._annotations()
            cursor.take_if(",", ";")
        self._annotations()
        return Definition(first.text, name, first.doc, members=members)

    def _service(self, first: Token) -> Definition:
        cursor = self._cursor
        name = cursor.name()
        extends = cursor.name() if cursor.take_if("extends") else None
        cursor.expect("{")
        functions: list[Function] = []
        while not cursor.take_if("}"):
            begin = cursor.next
            oneway = cursor.take_if("oneway", "async") is not None
            result = None if cursor.take_if("void") else self._type()
            function = cursor.name("the name of a function")
            parameters = self._fields("(", ")")
            throws = self._fields("(", ")") if cursor.take_if("throws") else []
            self._annotations()
            cursor.take_if(",", ";")
            functions.append(Function(function, result, parameters, throws, oneway, begin.doc))
        self._annotations()
        return Definition("service", name, first.doc, functions=functions, extends=extends)

    def _fields(self, opening: str, closing: str) -> list[Field]:
        cursor = self._cursor
        cursor.deeper()
        cursor.expect(opening)
        made: list[Field] = []
        while not cursor.take_if(closing):
            begin = cursor.next
            number = None
            if begin.kind == "int":
                number = cursor.whole()
                cursor.expect(":")
            need = cursor.take_if("required", "optional")
            type_ = self._type()
            cursor.take_if("&")  # held by reference
            name = cursor.name()
            default = self._constant() if cursor.take_if("=") else None
            cursor.take_if("xsd_optional")
            cursor.take_if("xsd_nillable")
            if cursor.take_if("xsd_attrs"):
                self._fields("{", "}")
            self._annotations()
            cursor.take_if(",", ";")
            documented = Token(name.kind, name.text, name.span, begin.doc)
            made.append(Field(documented, type_, number, need.text if need else "", default))
        cursor.shallower()
        return made

    def _type(self) -> Type:
        cursor = self._cursor
        cursor.deeper()
        first = cursor.name("a type")
        arguments: tuple[Type, ...] = ()
        if first.text in ("list", "set", "map"):
            self._cpp_type()
            cursor.expect("<")
            arguments = (self._type(),)
            if first.text == "map":
                cursor.expect(",")
                arguments += (self._type(),)
            cursor.expect(">")
            self._cpp_type()
        self._annotations()
        cursor.shallower()
        return Type(first.text, first.span, arguments)

    def _cpp_type(self) -> None:
        if self._cursor.take_if("cpp_type"):
            self._cursor.text()

    def _constant(self) -> Constant:
        cursor = self._cursor
        cursor.deeper()
        token = cursor.next
        if token.kind not in ("int", "float", "text", "name") and token.text not in ("[", "{"):
            raise cursor.fail("a value")
        cursor.take()
        made = Constant(token.kind, token.text, token.span)
        if token.kind == "mark":
            closing = "]" if token.text == "[" else "}"
            parts: list[Constant] = []
            while not cursor.take_if(closing):
                parts.append(self._constant())
                if token.text == "{":
                    cursor.expect(":")
                    parts.append(self._constant())
                cursor.take_if(",", ";")
            kind = "list" if token.text == "[" else "map"
            made = Constant(kind, token.text, token.span, tuple(parts))
        cursor.shallower()
        return made

    def _annotations(self) -> None:
        """`(cpp.ref = "", key = "value")`, skipped."""
        cursor = self._cursor
        if not cursor.take_if("("):
            return
        while not cursor.take_if(")"):
            cursor.name("an annotation")
            if cursor.take_if("="):
                if cursor.next.kind not in ("text", "int", "name"):
                    raise cursor.fail("the value of an annotation")
                cursor.take()
            cursor.take_if(",", ";")
