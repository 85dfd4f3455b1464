"""`// lint: allow(L0503)`: after code it applies to that line; on a line of its own, to what begins after it.

The latter ends with the line of the first word that is not part of a comment or annotation.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mfidl.diagnostics import Diagnostics, did_you_mean
from mfidl.fmt.outline import behind_annotations
from mfidl.lint.codes import CATALOGUE
from mfidl.lint.subject import Finding
from mfidl.source import SourceFile, Span
from mfidl.syntax.tokens import Token, tokenize

_COMMENT = re.compile(r"//[^\r\n]*|/\*(?s:.*?)\*/")
_ALLOW = re.compile(r"\s*lint:\s*allow\(([^)]*)\)")
_WORD = re.compile(r"[^\s,]+")


@dataclass(slots=True)
class Allowance:
    """One code of one comment, and the lines to which it applies."""

    code: str
    span: Span
    first_line: int
    last_line: int
    used: bool = False


def allowances(source: SourceFile) -> list[Allowance]:
    """In the order of the file."""
    tokens = tokenize(source, Diagnostics())
    first: dict[int, int] = {}  # line to the index of its first token
    for index, token in enumerate(tokens):
        first.setdefault(source.position(token.start)[0], index)
    found: list[Allowance] = []
    for comment in _comments(source, tokens):
        matched = _ALLOW.match(comment.text(), 2)
        if matched is None:
            continue
        line = last = comment.line()
        if line not in first or tokens[first[line]].start > comment.start:
            behind = next(index for at, index in sorted(first.items()) if at >= line)
            last = source.position(tokens[behind_annotations(tokens, behind)].start)[0]
        for word in _WORD.finditer(matched.group(1)):
            start = comment.start + matched.start(1) + word.start()
            span = Span(source, start, start + len(word.group()))
            found.append(Allowance(word.group(), span, line, last))
    return found


def _comments(source: SourceFile, tokens: list[Token]) -> Iterator[Span]:
    at = 0
    for token in tokens:
        for comment in _COMMENT.finditer(source.text, at, token.start):
            yield Span(source, comment.start(), comment.end())
        at = token.end


def without_allowed(findings: Iterable[Finding], allowed: list[Allowance]) -> Iterator[Finding]:
    for finding in findings:
        line = finding.span.line()
        matching = [
            each
            for each in allowed
            if each.code == finding.code and each.first_line <= line <= each.last_line
        ]
        for each in matching:
            each.used = True
        if not matching:
            yield finding


def about_allowances(allowed: list[Allowance], ran: Iterable[str]) -> Iterator[Finding]:
    """Reports unknown codes, and allowances that were not used although their rule ran."""
    running = set(ran)
    for each in allowed:
        if each.code not in CATALOGUE:
            yield Finding("L0901", each.span, {"code": each.code}, did_you_mean(each.code, CATALOGUE))
        elif not each.used and each.code in running:
            yield Finding("L0902", each.span, {"code": each.code}, "remove it")
