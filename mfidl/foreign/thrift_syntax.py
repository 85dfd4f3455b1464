"""F6. The content of a .thrift file as written: nothing is resolved. The grammar is grammar/Thrift.g4."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from mfidl.foreign.comments import documented, text_of
from mfidl.foreign.numbers import whole
from mfidl.foreign.scan import Name, Refused, Refusing, Word, scan
from mfidl.source import SourceFile, Span
from mfidl.syntax._antlr.ThriftLexer import ThriftLexer
from mfidl.syntax._antlr.ThriftParser import ThriftParser

_COMMENTS = frozenset((ThriftLexer.LINE_COMMENT, ThriftLexer.BLOCK_COMMENT))
_DEFINITION = "a definition: const, typedef, enum, struct, union, exception or service"


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
class EnumMember:
    name: Name
    number: Name | None
    doc: str


@dataclass(frozen=True, slots=True)
class Field:
    name: Name
    type: Type
    number: int | None
    need: str
    default: Constant | None
    doc: str


@dataclass(frozen=True, slots=True)
class Function:
    name: Name
    result: Type | None
    parameters: list[Field]
    throws: list[Field]
    oneway: bool
    doc: str


@dataclass(frozen=True, slots=True)
class Definition:
    """`kind`: const, typedef, enum, senum, struct, union, exception or service."""

    kind: str
    name: Name
    doc: str
    type: Type | None = None
    value: Constant | None = None
    members: list[EnumMember] = field(default_factory=list)
    fields: list[Field] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    extends: Name | None = None


@dataclass(slots=True)
class Document:
    source: SourceFile
    includes: list[tuple[str, Span]] = field(default_factory=list)
    definitions: list[Definition] = field(default_factory=list)
    doc: str = ""


def parse(source: SourceFile) -> Document:
    found = documented(scan(source, ThriftLexer), _COMMENTS)
    return _Builder(source, found.words, found.head).document()


class _Parser(Refusing, ThriftParser):  # type: ignore[misc]
    wanted: ClassVar = {
        "file": _DEFINITION,
        "part": _DEFINITION,
        "definition": _DEFINITION,
        "type": "a type",
        "constant": "a value",
        "name": "a name",
        "annotations": "the value of an annotation",
        "NAME": "a name",
        "STRING": "a text in quotes",
        "INTEGER": "a whole number",
        "FLOAT": "a number",
        "BLOCK_COMMENT": "a comment",
    }


class _Builder:
    """Turns contexts into the dataclasses above. One per file."""

    def __init__(self, source: SourceFile, words: list[Word], head: str) -> None:
        self._words = words
        self._made = Document(source, doc=head)
        self._build = {
            ThriftParser.ConstContext: self._const,
            ThriftParser.TypedefContext: self._typedef,
            ThriftParser.EnumContext: self._enum,
            ThriftParser.SenumContext: self._senum,
            ThriftParser.StructContext: self._struct,
            ThriftParser.ServiceContext: self._service,
        }

    def document(self) -> Document:
        made = self._made
        for part in _Parser(self._words).file_().parts:
            header, definition = part.statement, part.declaration
            if header is None:
                made.definitions.append(self._build[type(definition)](definition, part))
                continue
            made.doc = "\n\n".join(filter(None, (made.doc, self._doc(part.start, part.stop))))
            if header.target is not None:
                path = header.target
                made.includes.append((path.text[1:-1], path.span))
        return made

    # Definitions -------------------------------------------------------------------------------------------

    def _const(self, context: Any, part: Any) -> Definition:
        type_, value = self._type(context.of), self._constant(context.init)
        return Definition("const", self._declared(context.id_), self._doc_of(part), type_, value)

    def _typedef(self, context: Any, part: Any) -> Definition:
        name = self._declared(context.id_)
        return Definition("typedef", name, self._doc_of(part), self._type(context.of))

    def _enum(self, context: Any, part: Any) -> Definition:
        members = [self._enum_member(each) for each in context.members]
        doc = self._doc_around(context, context.members, part)
        return Definition("enum", self._declared(context.id_), doc, members=members)

    def _senum(self, context: Any, part: Any) -> Definition:
        return Definition("senum", self._declared(context.id_), self._doc_of(part))

    def _struct(self, context: Any, part: Any) -> Definition:
        doc, fields = self._doc_around(context, context.fields, part), self._fields(context.fields)
        return Definition(context.kind.text, self._declared(context.id_), doc, fields=fields)

    def _service(self, context: Any, part: Any) -> Definition:
        doc = self._doc_around(context, context.functions, part)
        extends = None if context.base is None else _name(context.base)
        functions = [self._function(each) for each in context.functions]
        return Definition("service", self._declared(context.id_), doc, functions=functions, extends=extends)

    # Members -----------------------------------------------------------------------------------------------

    def _enum_member(self, context: Any) -> EnumMember:
        number = None if context.number is None else Name(context.number.text, context.number.span)
        return EnumMember(self._declared(context.id_), number, self._doc_of(context))

    def _fields(self, contexts: Sequence[Any]) -> list[Field]:
        return [self._field(each) for each in contexts]

    def _field(self, context: Any) -> Field:
        return Field(
            self._declared(context.id_),
            self._type(context.of),
            None if context.number is None else whole(context.number.text, context.number.span),
            "" if context.need is None else context.need.text,
            None if context.init is None else self._constant(context.init),
            self._doc_of(context),
        )

    def _function(self, context: Any) -> Function:
        said = self._doc(context.start, context.opening), self._doc(context.closing, context.stop)
        return Function(
            self._declared(context.id_),
            None if context.result is None else self._type(context.result),
            self._fields(context.parameters),
            self._fields(context.errors),
            context.oneway is not None,
            "\n".join(filter(None, said)),
        )

    # Types and values --------------------------------------------------------------------------------------

    def _type(self, context: Any) -> Type:
        first = context.container if context.id_ is None else context.id_
        return Type(first.text, first.span, tuple(self._type(each) for each in context.arguments))

    def _constant(self, context: Any) -> Constant:
        first: Word = context.start
        if context.number is not None:
            kind = "int" if first.type == ThriftLexer.INTEGER else "float"
            return Constant(kind, first.text, first.span)
        if context.text is not None:
            return Constant("text", first.text, first.span)
        if context.id_ is not None:
            return Constant("name", first.text, first.span)
        parts = tuple(self._constant(each) for each in context.parts)
        return Constant("map" if context.map_ is not None else "list", first.text, first.span, parts)

    # Names and comments ------------------------------------------------------------------------------------

    def _declared(self, context: Any) -> Name:
        """A name that is declared, which has no points."""
        name = _name(context)
        if "." in name.text:
            raise Refused(name.span, f"`{name.text}` cannot be declared: a name has no points")
        return name

    def _doc(self, first: Word, last: Word) -> str:
        return text_of(self._words, first.index, last.index)

    def _doc_of(self, context: Any) -> str:
        return self._doc(context.start, context.stop)

    def _doc_around(self, context: Any, members: Sequence[Any], part: Any) -> str:
        """What is said before the members of a definition, and behind all of them."""
        last = members[-1].stop if members else context.opening
        said = self._doc(context.start, context.opening), self._doc(self._words[last.index + 1], part.stop)
        return "\n".join(filter(None, said))


def _name(context: Any) -> Name:
    return Name(context.start.text, context.start.span)
