"""Semantic tokens: what each name means. Words, numbers, texts and comments are left to grammars."""

from collections.abc import Iterator

from lsprotocol import types

from mfidl.lsp.answers.meaning import declared_names
from mfidl.lsp.workspace import Snapshot
from mfidl.semantics.symbols import BUILTIN_TYPES, Kind
from mfidl.syntax import token_types as tt
from mfidl.syntax.tokens import scan

_TYPES = {
    "module": "namespace",
    "alias": "namespace",
    Kind.STRUCT: "struct",
    Kind.ERROR: "struct",
    Kind.UNION: "struct",
    Kind.ENUM: "enum",
    Kind.FLAGS: "enum",
    Kind.ALIAS: "type",
    Kind.CONST: "variable",
    Kind.AGENT: "variable",
    Kind.SERVICE: "interface",
    Kind.TOPIC: "event",
    Kind.ANNOTATION: "decorator",
    "field": "property",
    "member": "enumMember",
    "method": "method",
    "parameter": "parameter",
    "builtin": "type",
    "decorator": "decorator",
}
TYPES = list(dict.fromkeys(_TYPES.values()))
MODIFIERS = ["declaration", "readonly", "defaultLibrary"]
LEGEND = types.SemanticTokensLegend(TYPES, MODIFIERS)
_DECLARATION, _READONLY, _LIBRARY = 1, 2, 4


def semantic_tokens(snapshot: Snapshot, start: int, end: int) -> types.SemanticTokens:
    """Of the names between two offsets."""
    lines = snapshot.lines
    data: list[int] = []
    line, character = 0, 0
    for begin, stop, kind, modifiers in sorted(_all(snapshot)):
        if stop <= start or begin >= end:
            continue
        position = lines.position(begin)
        delta = position.line - line
        data += [
            delta,
            position.character - (0 if delta else character),
            lines.length(begin, stop),
            kind,
            modifiers,
        ]
        line, character = position.line, position.character
    return types.SemanticTokens(data)


def _all(snapshot: Snapshot) -> Iterator[tuple[int, int, int, int]]:
    """(start, end, index of the type, modifiers); each place once."""
    if snapshot.module is None:
        return
    found: dict[int, tuple[int, str, int]] = {}
    for use in snapshot.own_uses:
        name = _TYPES.get(use.kind)
        if name is not None:
            found[use.span.start] = use.span.end, name, _READONLY if use.kind is Kind.CONST else 0
    for span, kind in declared_names(snapshot):
        name = _TYPES.get(kind)
        if name is not None:
            modifiers = _DECLARATION | (_READONLY if kind is Kind.CONST else 0)
            found.setdefault(span.start, (span.end, name, modifiers))
    for start, end, name in _words(snapshot):
        found.setdefault(start, (end, name, _LIBRARY))
    text = snapshot.lines.text
    for start, (end, name, modifiers) in found.items():
        if end > start and "\n" not in text[start:end]:
            yield start, end, TYPES.index(name), modifiers


def _words(snapshot: Snapshot) -> Iterator[tuple[int, int, str]]:
    """Built-in types and annotations."""
    assert snapshot.module is not None
    tokens = scan(snapshot.module.file.source).tokens
    before = tt.EOF
    for token in tokens:
        if token.type == tt.NAME and before == tt.AT:
            yield token.start, token.end, "decorator"
        elif token.text in BUILTIN_TYPES and before in (tt.COLON, tt.LESS, tt.ASSIGN, tt.ARROW, tt.COMMA):
            yield token.start, token.end, "type"
        before = token.type
