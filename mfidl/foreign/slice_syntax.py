"""F6. The content of a Slice file (.ice) as written: nothing is resolved.

The grammar is that of Ice 3.7 and 3.8; the lines of the preprocessor are gone (`slice_lines.py`).
"""

import re
from dataclasses import dataclass, field

from mfidl.foreign.scan import Cursor, Refused, Token, scan
from mfidl.foreign.slice_lines import without_preprocessor
from mfidl.source import SourceFile, Span

_WORDS = re.compile(
    r"""
    (?P<doc>/\*\*(?!/)(?:[^*]|\*(?!/))*\*/|///(?!/)[^\n]*)
  | (?P<comment>//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)
  | (?P<name>\\?(?:::)?[A-Za-z_][A-Za-z0-9_]*(?:::\\?[A-Za-z_][A-Za-z0-9_]*)*)
  | (?P<float>[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fF]?
             |[+-]?[0-9]+(?:[eE][+-]?[0-9]+[fF]?|[fF]))
  | (?P<int>[+-]?(?:0[xX][0-9a-fA-F]+|[0-9]+))
  | (?P<text>"(?:[^"\\\n]|\\.)*")
  | (?P<mark>[{}()<>\[\]:;,=*?])
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Type:
    name: str
    span: Span
    proxy: bool = False
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Member:
    name: Token
    type: Type
    default: Token | None = None
    out: bool = False
    tag: int | None = None


@dataclass(frozen=True, slots=True)
class Operation:
    name: Token
    result: Type | None
    parameters: list[Member]
    throws: list[Token]
    idempotent: bool
    doc: str
    metadata: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Definition:
    """`kind` is its word in the language; `scope` is the module around it, `::Ice`."""

    kind: str
    scope: str
    name: Token
    doc: str
    metadata: tuple[str, ...] = ()
    bases: list[Token] = field(default_factory=list)
    members: list[Member] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    enumerators: list[tuple[Token, int | None]] = field(default_factory=list)
    types: list[Type] = field(default_factory=list)
    value: Token | None = None


@dataclass(slots=True)
class Document:
    source: SourceFile
    includes: list[tuple[str, Span]] = field(default_factory=list)
    definitions: list[Definition] = field(default_factory=list)
    left_out: list[tuple[str, Span]] = field(default_factory=list)
    forward: list[tuple[str, Token]] = field(default_factory=list)


def parse(source: SourceFile) -> Document:
    text, includes = without_preprocessor(source)
    made = Document(source, includes)
    plain = SourceFile(source.path, source.name, text)
    try:
        tokens = scan(plain, _WORDS)
    except Refused as refused:  # the place is shown in the text as it was
        raise Refused(Span(source, refused.span.start, refused.span.end), refused.message) from None
    _Parser([_moved(each, source) for each in tokens], made).scope("")
    return made


def _moved(token: Token, source: SourceFile) -> Token:
    return Token(token.kind, token.text, Span(source, token.span.start, token.span.end), token.doc)


class _Parser:
    def __init__(self, tokens: list[Token], made: Document) -> None:
        self._cursor = Cursor(tokens)
        self._made = made

    def scope(self, name: str) -> None:
        """The definitions of a module, or of the file."""
        cursor = self._cursor
        cursor.deeper()
        closing = "}" if name else "the end of the file"
        while cursor.next.text != closing or (not name and cursor.next.kind != "end"):
            first = cursor.next
            metadata = self._metadata()
            doc = first.doc or cursor.next.doc
            if cursor.next.kind == "end" and not name:
                break
            self._definition(name, doc, metadata)
            cursor.take_if(";")
        cursor.shallower()

    def _metadata(self) -> tuple[str, ...]:
        """`["a", "b"]` and, for the whole file, `[["a"]]`."""
        cursor = self._cursor
        found: list[str] = []
        while cursor.take_if("["):
            whole = cursor.take_if("[")
            while not cursor.take_if("]"):
                text = cursor.text().text[1:-1]
                found += [] if whole else [text]
                cursor.take_if(",")
            if whole:
                cursor.expect("]")
        return tuple(found)

    def _definition(self, scope: str, doc: str, metadata: tuple[str, ...]) -> None:
        cursor = self._cursor
        local = cursor.take_if("local")
        first = cursor.name(
            "a definition: module, struct, class, exception, interface, enum, sequence, dictionary"
        )
        if first.text == "module":
            inner = cursor.name()
            cursor.expect("{")
            self.scope(f"{scope}::{_plain(inner.text)}")
            cursor.expect("}")
            return
        parse = {
            "struct": self._body,
            "class": self._body,
            "exception": self._body,
            "interface": self._body,
            "enum": self._enum,
            "sequence": self._container,
            "dictionary": self._container,
            "const": self._const,
        }.get(first.text)
        if parse is None:
            raise Refused(first.span, f"expected a definition, found `{first.text}`")
        made = parse(Definition(first.text, scope, first, doc, metadata))
        if made is None:
            return
        if local is not None:
            self._made.left_out.append((f"local {made.kind} `{made.name.text}`", made.name.span))
            return
        self._made.definitions.append(made)

    def _body(self, made: Definition) -> Definition | None:
        cursor = self._cursor
        name = cursor.name()
        if cursor.take_if("("):
            cursor.whole()
            cursor.expect(")")
        bases: list[Token] = []
        while cursor.take_if("extends", "implements", ":", ","):
            bases.append(cursor.name())
        if not cursor.take_if("{"):
            self._made.forward.append((made.scope, name))  # declared here, defined elsewhere
            return None
        members: list[Member] = []
        operations: list[Operation] = []
        while not cursor.take_if("}"):
            begin = cursor.next
            metadata = self._metadata()
            doc = begin.doc or cursor.next.doc
            self._member(made.kind, members, operations, doc, metadata)
            cursor.take_if(";")
        return Definition(made.kind, made.scope, name, made.doc, made.metadata, bases, members, operations)

    def _member(
        self,
        kind: str,
        members: list[Member],
        operations: list[Operation],
        doc: str,
        metadata: tuple[str, ...],
    ) -> None:
        cursor = self._cursor
        idempotent = cursor.take_if("idempotent", "nonmutating") is not None
        tag, optional = self._tag()
        void = not optional and cursor.next.text == "void"
        result = None if void else self._type(optional)
        if void:
            cursor.take()
        name = cursor.name()
        if cursor.take_if("("):
            parameters: list[Member] = []
            while not cursor.take_if(")"):
                parameters.append(self._parameter())
                cursor.take_if(",")
            throws: list[Token] = []
            if cursor.take_if("throws"):
                throws.append(cursor.name())
                while cursor.take_if(","):
                    throws.append(cursor.name())
            operations.append(Operation(name, result, parameters, throws, idempotent, doc, metadata))
            return
        if result is None or kind == "interface":
            raise cursor.fail("`(`")
        default = cursor.take() if cursor.take_if("=") else None
        documented = Token(name.kind, name.text, name.span, doc)
        members.append(Member(documented, result, default, tag=tag))

    def _parameter(self) -> Member:
        cursor = self._cursor
        self._metadata()
        out = cursor.take_if("out") is not None
        tag, optional = self._tag()
        type_ = self._type(optional)
        return Member(cursor.name(), type_, out=out, tag=tag)

    def _tag(self) -> tuple[int | None, bool]:
        """`optional(3)`, before a type."""
        cursor = self._cursor
        if cursor.next.text == "optional" and cursor.look(1).text == "(":
            cursor.take()
            cursor.take()
            tag = cursor.whole() if cursor.next.kind == "int" else None
            if tag is None:
                cursor.name("a tag")
            cursor.expect(")")
            return tag, True
        return None, False

    def _type(self, optional: bool = False) -> Type:
        cursor = self._cursor
        self._metadata()
        name = cursor.name("a type")
        proxy = cursor.take_if("*") is not None
        optional = cursor.take_if("?") is not None or optional
        return Type(_plain(name.text), name.span, proxy, optional)

    def _enum(self, made: Definition) -> Definition:
        cursor = self._cursor
        name = cursor.name()
        cursor.expect("{")
        found: list[tuple[Token, int | None]] = []
        while not cursor.take_if("}"):
            self._metadata()
            member = cursor.name("an enumerator")
            number = None
            if cursor.take_if("="):
                number = cursor.whole()
            found.append((member, number))
            cursor.take_if(",")
        return Definition("enum", made.scope, name, made.doc, made.metadata, enumerators=found)

    def _container(self, made: Definition) -> Definition:
        cursor = self._cursor
        cursor.expect("<")
        types = [self._type()]
        if made.kind == "dictionary":
            cursor.expect(",")
            types.append(self._type())
        cursor.expect(">")
        return Definition(made.kind, made.scope, cursor.name(), made.doc, made.metadata, types=types)

    def _const(self, made: Definition) -> Definition:
        cursor = self._cursor
        types = [self._type()]
        name = cursor.name()
        cursor.expect("=")
        value = cursor.take()
        while cursor.next.kind == "text":  # literals one behind the other are one
            value = Token("text", value.text[:-1] + cursor.take().text[1:], value.span)
        return Definition("const", made.scope, name, made.doc, made.metadata, types=types, value=value)


def _plain(name: str) -> str:
    """A backslash makes a name of a word of the language."""
    return name.replace("\\", "")
