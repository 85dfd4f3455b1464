"""L02: doc comments that are missing, lost, or not meant for users."""

import re
from collections.abc import Iterator

from mfidl.diagnostics import Diagnostics, Note
from mfidl.lint.subject import Finding, Subject, named
from mfidl.source import Span
from mfidl.syntax import ast
from mfidl.syntax.tokens import Token, tokenize

_DOC = re.compile(r"///(?!/)[^\r\n]*|//[^\r\n]*|/\*(?s:.*?)\*/")
_NOTE = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
_TYPES = frozenset(("struct", "error", "union", "enum", "flags", "type"))


def services_without_doc(subject: Subject) -> Iterator[Finding]:
    for each, _ in subject.services():
        if not each.doc:
            yield Finding("L0201", each.name.span, {"name": each.name.text})


def methods_without_doc(subject: Subject) -> Iterator[Finding]:
    for method, _, _ in subject.methods():
        if not method.doc:
            yield Finding("L0202", method.name.span, {"name": method.name.text})


def types_without_doc(subject: Subject) -> Iterator[Finding]:
    for kind, each in named(subject.file):
        if kind in _TYPES and not each.doc:
            yield Finding("L0203", each.name.span, {"kind": kind, "name": each.name.text})


_Documented = ast.Decl | ast.Field | ast.MethodDecl | ast.EnumMember


def _documented(file: ast.File) -> Iterator[_Documented]:
    for each in file.declarations:
        yield each
        match each:
            case ast.StructDecl():
                yield from each.fields
            case ast.EnumDecl():
                yield from each.members
            case ast.ServiceDecl():
                for method in each.methods:
                    yield method
                    yield from method.params
                    yield from method.results if isinstance(method.results, tuple) else ()
            case _:
                pass


def _docs(file: ast.File) -> Iterator[tuple[Token, list[Span]]]:
    """Tokens with a doc comment, and the lines of it."""
    at = 0
    for token in tokenize(file.source, Diagnostics()):
        gap = file.source.text[at : token.start]
        lines = [
            Span(file.source, at + found.start(), at + found.end())
            for found in _DOC.finditer(gap)
            if found.group().startswith("///") and not found.group().startswith("////")
        ]
        if lines:
            yield token, lines
        at = token.end


def doc_comments_lost(subject: Subject) -> Iterator[Finding]:
    heard = set()
    for each in _documented(subject.file):
        starts = [each.span.start, *(annotation.span.start for annotation in each.annotations)]
        heard.add(min(starts))
    for token, lines in _docs(subject.file):
        if token.start not in heard:
            hint = "put it before the declaration, its annotations included, or make it an ordinary comment"
            yield Finding("L0204", lines[0], help=hint)


def doc_comments_behind_code(subject: Subject) -> Iterator[Finding]:
    for _, lines in _docs(subject.file):
        line = lines[0].file.position(lines[0].start)[0]
        before = lines[0].file.line_text(line)[: lines[0].column() - 1]
        if before.strip("\ufeff \t"):
            hint = "put it on a line of its own before what it is about, or begin it with `//`"
            yield Finding("L0205", lines[0], help=hint)


def notes_in_doc_comments(subject: Subject) -> Iterator[Finding]:
    for _, lines in _docs(subject.file):
        for line in lines:
            found = _NOTE.search(line.text())
            if found:
                span = Span(line.file, line.start + found.start(), line.start + found.end())
                yield Finding("L0206", span, {"word": found.group()})


def doc_comments_twice(subject: Subject) -> Iterator[Finding]:
    """Among the declarations of a file, and among the members of one of them."""
    groups: list[list[_Documented]] = [list(subject.file.declarations)]
    for each in subject.file.declarations:
        match each:
            case (
                ast.StructDecl(fields=members)
                | ast.EnumDecl(members=members)
                | ast.ServiceDecl(methods=members)
            ):
                groups.append(list(members))
            case _:
                pass
    for group in groups:
        yield from _twice(group)


def _twice(group: list[_Documented]) -> Iterator[Finding]:
    seen: dict[str, ast.Name] = {}
    for each in group:
        if isinstance(each, ast.ModuleDecl | ast.ImportDecl) or len(each.doc.split()) < 3:
            continue
        first = seen.setdefault(each.doc, each.name)
        if first is not each.name:
            values: dict[str, object] = {"name": each.name.text, "other": first.text}
            yield Finding("L0207", each.name.span, values, notes=(Note("the other is here", first.span),))
