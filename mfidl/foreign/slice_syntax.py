"""F6. The content of a Slice file (.ice) as written: nothing is resolved. The grammar is grammar/Slice.g4,
behind the preprocessor (`slice_preprocessor.py`).
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from mfidl.foreign.comments import documented, text_of
from mfidl.foreign.scan import Name, Refused, Refusing, Word, scan
from mfidl.foreign.slice_preprocessor import COMMENTS, Macros, Preprocessed, preprocess
from mfidl.source import SourceFile, Span, UnreadableSource, read_source
from mfidl.syntax._antlr.SliceLexer import SliceLexer
from mfidl.syntax._antlr.SliceParser import SliceParser

_INCLUDE_DEPTH_LIMIT = 48
_DEFINITION = "a definition: module, struct, class, exception, interface, enum, sequence, dictionary or const"


@dataclass(frozen=True, slots=True)
class Type:
    """`is_escaped`: a backslash makes a name of a word of the language."""

    name: str
    span: Span
    proxy: bool = False
    optional: bool = False
    is_escaped: bool = False


@dataclass(frozen=True, slots=True)
class Value:
    """`kind`: int, float, bool, text or name. A text has several parts if it is written as several literals.
    A name has lost its backslash: `\\true` is a name, `true` is a bool.
    """

    kind: str
    text: str
    span: Span
    parts: tuple[Name, ...] = ()


@dataclass(frozen=True, slots=True)
class Member:
    name: Name
    type: Type
    default: Value | None = None
    out: bool = False
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Enumerator:
    name: Name
    number: Value | None
    doc: str


@dataclass(frozen=True, slots=True)
class Operation:
    name: Name
    result: Type | None
    parameters: list[Member]
    throws: list[Name]
    idempotent: bool
    doc: str
    metadata: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Definition:
    """`kind` is its word in the language; `scope` is the module around it, `::Ice`."""

    kind: str
    scope: str
    name: Name
    doc: str
    metadata: tuple[str, ...] = ()
    bases: list[Name] = field(default_factory=list)
    members: list[Member] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    enumerators: list[Enumerator] = field(default_factory=list)
    types: list[Type] = field(default_factory=list)
    value: Value | None = None


@dataclass(slots=True)
class Document:
    """`known` are the names that are declared here, and defined elsewhere, or left out; `module` is the place
    of the first module's name.
    """

    source: SourceFile
    includes: list[tuple[str, Span]] = field(default_factory=list)
    definitions: list[Definition] = field(default_factory=list)
    left_out: list[tuple[str, Span]] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    doc: str = ""
    module: Span | None = None


class Reader:
    """Reads the files of one run. `find` gives the path of an included file, from its name and that of the
    file that includes it.
    """

    def __init__(self, find: Callable[[str, str], str | None]) -> None:
        self._find = find
        self._read: dict[str, Preprocessed] = {}  # by real path
        self._reading: list[str] = []

    def parse(self, source: SourceFile) -> Document:
        preprocessed = self._preprocessed(source)
        found = documented(preprocessed.words, COMMENTS)
        return _Builder(Document(source, preprocessed.includes, doc=found.head), found.words).document()

    def _preprocessed(self, source: SourceFile) -> Preprocessed:
        real = os.path.realpath(source.path)
        if real not in self._read:
            self._reading.append(real)
            words = scan(source, SliceLexer)
            made = preprocess(words, lambda target: self._macros(target, source.path))
            self._reading.pop()
            self._read[real] = made
        return self._read[real]

    def _macros(self, target: str, beside: str) -> Macros:
        """Those that an included file defines. What is wrong with it is reported when it is read itself."""
        path = self._find(target, beside)
        if (
            path is None
            or os.path.realpath(path) in self._reading
            or len(self._reading) > _INCLUDE_DEPTH_LIMIT
        ):
            return {}
        depth = len(self._reading)
        try:
            return self._preprocessed(read_source(path, path)).macros
        except (Refused, UnreadableSource):
            del self._reading[depth:]
            return {}


class _Parser(Refusing, SliceParser):  # type: ignore[misc]
    wanted: ClassVar = {
        "file": _DEFINITION,
        "item": _DEFINITION,
        "definition": _DEFINITION,
        "type": "a type",
        "value": "a value",
        "name": "a name",
        "parameter": "a parameter",
        "NAME": "a name",
        "STRING": "a text in quotes",
        "INTEGER": "a whole number",
        "FLOAT": "a number",
    }


class _Builder:
    """Turns contexts into the dataclasses above. One per file."""

    def __init__(self, made: Document, words: list[Word]) -> None:
        self._made = made
        self._words = words
        self._declared_docs: dict[str, str] = {}  # what is said where a name is declared without a definition

    def document(self) -> Document:
        self._scope("", _Parser(self._words).file_().items)
        return self._made

    def _scope(self, scope: str, items: Sequence[Any]) -> None:
        """The definitions of a module, or of the file."""
        attributes: list[Any] = []
        for item in items:
            if item.metadata is not None:
                attributes.append(item.metadata)
                continue
            if item.declaration is not None:
                first = attributes[0].start if attributes else item.start
                self._definition(scope, item.declaration, first, attributes)
            attributes = []

    def _definition(self, scope: str, context: Any, first: Word, attributes: list[Any]) -> None:
        if context.a is not None:
            self._module(scope, context.a, first)
            return
        metadata = _metadata(attributes)
        if context.b is not None:
            made = self._body(scope, context.b, first, metadata)
        elif context.c is not None:
            made = self._enum(scope, context.c, first, metadata)
        elif context.d is not None:
            made = self._container(scope, context.d, first, metadata)
        else:
            made = self._constant(scope, context.e, first, metadata)
        if made is None:
            return
        if context.local is not None:
            self._made.left_out.append((f"local {made.kind} `{made.name.text}`", made.name.span))
            self._made.known.append(f"{scope}::{made.name.text}")
            return
        self._made.definitions.append(made)

    def _module(self, scope: str, context: Any, first: Word) -> None:
        """`module A::B` is two of them."""
        doc = self._doc_around(first, context, context.items)
        if doc not in self._made.doc:
            self._made.doc = "\n\n".join(filter(None, (self._made.doc, doc)))
        name = _name(context.id_)
        self._made.module = self._made.module or name.span
        self._scope(f"{scope}::{name.text.removeprefix('::')}", context.items)

    def _body(self, scope: str, context: Any, first: Word, metadata: tuple[str, ...]) -> Definition | None:
        name, kind = self._declared(context.id_), context.kind.text
        key = f"{scope}::{name.text}"
        if context.opening is None:
            self._made.known.append(key)  # declared here, defined elsewhere
            self._declared_docs[key] = self._doc_to_semicolon(first, context)
            return None
        said = self._declared_docs.pop(key, ""), self._doc_around(first, context, context.members)
        made = Definition(kind, scope, name, "\n".join(filter(None, said)), metadata)
        made.bases.extend(_name(each) for each in context.bases)
        for each in context.members:
            self._member(made, each)
        return made

    def _member(self, made: Definition, context: Any) -> None:
        behind = self._words[context.id_.stop.index + 1]
        is_operation = context.opening is not None
        if not is_operation and (context.of is None or made.kind == "interface"):
            raise Refused(behind.span, f"expected `(`, found `{behind.text}`")
        if is_operation and made.kind in ("struct", "exception"):
            raise Refused(behind.span, f"expected `;`, found `(`: a {made.kind} has no operations")
        if is_operation:
            made.operations.append(self._operation(context))
            return
        made.members.append(
            Member(
                self._declared(context.id_),
                _type(context.of, context.tag),
                None if context.init is None else _value(context.init),
                doc=self._doc(context.start, context.stop),
            )
        )

    def _operation(self, context: Any) -> Operation:
        said = self._doc(context.start, context.opening), self._doc(context.closing, context.stop)
        return Operation(
            self._declared(context.id_),
            None if context.of is None else _type(context.of, context.tag),
            [self._parameter(each) for each in context.parameters],
            [_name(each) for each in context.errors],
            context.idempotent is not None,
            "\n".join(filter(None, said)),
            _metadata(context.metadata),
        )

    def _parameter(self, context: Any) -> Member:
        name, type_ = self._declared(context.id_), _type(context.of, context.tag)
        return Member(name, type_, out=bool(context.out), doc=self._doc(context.start, context.stop))

    def _enum(self, scope: str, context: Any, first: Word, metadata: tuple[str, ...]) -> Definition:
        doc = self._doc_around(first, context, context.members)
        made = Definition("enum", scope, self._declared(context.id_), doc, metadata)
        for each in context.members:
            number = None if each.number is None else _value(each.number)
            doc = self._doc(each.start, each.stop)
            made.enumerators.append(Enumerator(self._declared(each.id_), number, doc))
        return made

    def _container(self, scope: str, context: Any, first: Word, metadata: tuple[str, ...]) -> Definition:
        types = [_type(each, None) for each in context.types]
        doc = self._doc_to_semicolon(first, context)
        return Definition(context.kind.text, scope, self._declared(context.id_), doc, metadata, types=types)

    def _constant(self, scope: str, context: Any, first: Word, metadata: tuple[str, ...]) -> Definition:
        name, doc = self._declared(context.id_), self._doc_to_semicolon(first, context)
        types = [_type(context.of, None)]
        return Definition("const", scope, name, doc, metadata, types=types, value=_value(context.init))

    # Names and comments ------------------------------------------------------------------------------------

    def _declared(self, context: Any) -> Name:
        name = _name(context)
        if "::" in name.text:
            raise Refused(name.span, f"`{name.text}` cannot be declared: it names a module, too")
        return name

    def _doc(self, first: Word, last: Word) -> str:
        return text_of(self._words, first.index, last.index)

    def _doc_around(self, first: Word, context: Any, members: Sequence[Any]) -> str:
        """What is said before the members of a definition, and behind all of them."""
        last = members[-1].stop if members else context.opening
        behind = self._doc_to_semicolon(self._words[last.index + 1], context)
        return "\n".join(filter(None, (self._doc(first, context.opening), behind)))

    def _doc_to_semicolon(self, first: Word, context: Any) -> str:
        behind = self._words[context.stop.index + 1]
        return self._doc(first, behind if behind.text == ";" else context.stop)


def _name(context: Any) -> Name:
    return Name(context.start.text.replace("\\", ""), context.start.span)


def _type(context: Any, tag: Any) -> Type:
    word = context.id_
    return Type(
        word.text.replace("\\", ""),
        word.span,
        context.proxy is not None,
        tag is not None or context.maybe is not None,
        "\\" in word.text,
    )


def _value(context: Any) -> Value:
    first: Word = context.start
    if context.number is not None:
        return Value("int" if first.type == SliceLexer.INTEGER else "float", first.text, first.span)
    if context.id_ is not None:
        kind = "bool" if first.text in ("true", "false") else "name"
        return Value(kind, first.text.replace("\\", ""), first.span)
    return Value("text", "", first.span, tuple(Name(each.text, each.span) for each in context.texts))


def _metadata(attributes: Sequence[Any]) -> tuple[str, ...]:
    return tuple(text.text[1:-1] for attribute in attributes for text in attribute.texts)
