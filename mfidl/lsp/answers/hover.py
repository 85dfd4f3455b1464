"""Hover: what a name is, its documentation, and what `mfidlc explain` says of it."""

import re
from collections.abc import Iterator

from lsprotocol import types

from mfidl import model
from mfidl.explain import Explainer
from mfidl.explain.service_text import service_lines, topic_lines
from mfidl.explain.text import type_lines
from mfidl.lsp.answers.meaning import Declared, Member, declared_at, meaning_at
from mfidl.lsp.answers.sizes import bytes_text, field_size
from mfidl.lsp.workspace import Snapshot
from mfidl.semantics.annotations import KNOWN
from mfidl.semantics.symbols import BUILTIN_TYPES, Kind, Symbol
from mfidl.syntax import ast

_WORD = re.compile(r"@?[A-Za-z_][A-Za-z_0-9]*(?:\.[A-Za-z_][A-Za-z_0-9]*)*")


def hover(snapshot: Snapshot, offset: int) -> types.Hover | None:
    meaning = meaning_at(snapshot, offset)
    if meaning is None:
        return _of_word(snapshot, offset)
    declared = declared_at(snapshot, meaning.target)
    if declared is None:
        return None
    parts = list(_of_declared(snapshot, declared, meaning.target.file.path))
    return _answer("\n\n".join(each for each in parts if each), snapshot.lines.of(meaning.span))


def _answer(text: str, place: types.Range) -> types.Hover:
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), place)


def _of_word(snapshot: Snapshot, offset: int) -> types.Hover | None:
    """Of a built-in type or annotation."""
    line = snapshot.lines.line_of(offset)
    start, end = snapshot.lines.bounds(line)
    for found in _WORD.finditer(snapshot.lines.text, start, end):
        if not found.start() <= offset <= found.end():
            continue
        place = snapshot.lines.range(found.start(), found.end())
        word = found.group()
        known = KNOWN.get(word[1:]) if word.startswith("@") else None
        if known is not None:
            return _answer(f"{_code(known.usage)}\n\n{known.meaning}", place)
        if word in BUILTIN_TYPES:
            return _answer(f"{_code(word)}\n\n{BUILTIN_TYPES[word]}", place)
    return None


def _of_declared(snapshot: Snapshot, declared: Declared, path: str) -> Iterator[str]:
    symbol, member = declared.symbol, declared.member
    if symbol is None:
        yield _code(f"module {_module_of(snapshot, path)}")
        yield declared.doc
        yield path
        return
    explainer = None if snapshot.facts is None else snapshot.facts.explainer(symbol.scope.module.name)
    if member is not None:
        yield _code(_member_text(symbol, member))
        yield declared.doc
        if explainer is not None:
            yield from _of_member(explainer, symbol, member)
        return
    yield _code(f"{keyword(symbol)} {symbol.full_name}{_type_of(symbol.declaration)}")
    yield declared.doc
    if explainer is not None:
        yield from _of_symbol(explainer, symbol)


def _module_of(snapshot: Snapshot, path: str) -> str:
    return next((each.name for each in snapshot.analysis.modules if each.file.source.path == path), path)


def keyword(symbol: Symbol) -> str:
    """As it is declared."""
    return "type" if symbol.kind is Kind.ALIAS else symbol.kind.name.lower()


def _type_of(declaration: ast.Decl | None) -> str:
    match declaration:
        case ast.ConstDecl():
            return f": {declaration.type.span.text()} = {declaration.value.span.text()}"
        case ast.AgentDecl() | ast.TopicDecl():
            return f": {declaration.type.span.text()}"
        case ast.AliasDecl():
            return f" = {declaration.type.span.text()}"
        case _:
            return ""


def _member_text(symbol: Symbol, member: Member) -> str:
    text = " ".join(member.span.text().split())
    return f"{text}  // {keyword(symbol)} {symbol.full_name}"


def _of_symbol(explainer: Explainer, symbol: Symbol) -> Iterator[str]:
    module = explainer.module
    if symbol.kind is Kind.SERVICE:
        service = next((each for each in module.services if each.full_name == symbol.full_name), None)
        if service is not None:
            yield _code("\n".join(service_lines(explainer.service(service))), "text")
    elif symbol.kind is Kind.TOPIC:
        topic = next((each for each in module.topics if each.full_name == symbol.full_name), None)
        if topic is not None:
            yield _code("\n".join(topic_lines(explainer.topic(topic))), "text")
    else:
        declaration = next((each for each in module.declarations if each.full_name == symbol.full_name), None)
        if declaration is not None:
            if isinstance(declaration, model.Struct | model.Union):
                yield _in_short(declaration)
            yield _code("\n".join(type_lines(explainer.type(declaration))), "text")


def _in_short(declaration: model.Struct | model.Union) -> str:
    layout = declaration.plan.layout
    size = f", {bytes_text(layout.size)}" if layout is not None else ""
    return f"**{declaration.tier.value}**{size}: {declaration.plan.reason}"


def _of_member(explainer: Explainer, symbol: Symbol, member: Member) -> Iterator[str]:
    if isinstance(member, ast.MethodDecl):
        service = next(
            (each for each in explainer.module.services if each.full_name == symbol.full_name), None
        )
        method = (
            next((each for each in service.methods if each.name == member.name.text), None)
            if service
            else None
        )
        if service is not None and method is not None:
            yield _code("\n".join(service_lines(explainer.method(service, method))), "text")
    elif isinstance(member, ast.Field):
        size = field_size(explainer, symbol.full_name, member.name.text)
        if size is not None:
            yield size.sentence


def _code(text: str, language: str = "mfidl") -> str:
    return f"```{language}\n{text.rstrip()}\n```"
