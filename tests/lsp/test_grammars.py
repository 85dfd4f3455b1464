"""Grammars of editors, held to the compiler's own words: what each token of a schema is called."""

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mfidl.diagnostics import Diagnostics
from mfidl.lint.subject import named, types
from mfidl.semantics.symbols import BUILTIN_TYPES
from mfidl.source import SourceFile
from mfidl.syntax import ast
from mfidl.syntax import token_types as tt
from mfidl.syntax.parser import parse
from mfidl.syntax.tokens import scan

ROOT = Path(__file__).parents[2]
GRAMMAR = ROOT / "editors/vscode/syntaxes/mfidl.tmLanguage.json"
VIM = ROOT / "editors/vim"
SCHEMAS = [
    ROOT / "tests/compiler/whole_language.mfidl",
    *sorted((ROOT / "examples").rglob("*.mfidl")),
]
WORDS_AS_NAMES = """\
module a.module;
struct enum { struct: u32; error: enum; 7: reserved: string; type: bool; u32: list<u32>; true: u8; }
union type { 1: import: u8; }
service service { throws(per: u32, extends: flags) -> list<enum>; union(); }
flags flags: u8 { open, topic }
"""

# What a token is, from the compiler's point of view.
Kinds = dict[int, str]


def kinds_of(source: SourceFile) -> Kinds:
    """By the offset of a token: what it is, for those of which the compiler is sure."""
    diagnostics = Diagnostics()
    file = parse(source, diagnostics)
    assert not diagnostics
    found: Kinds = {}
    tokens = scan(source).tokens
    before = tt.EOF
    for token in tokens:
        if token.type in (tt.INTEGER, tt.HEX, tt.FLOAT, tt.DURATION):
            found[token.start] = "number"
        elif token.type == tt.STRING:
            found[token.start] = "string"
        elif before == tt.AT:
            found[token.start] = "annotation"
        before = token.type
    for _, declaration in named(file):
        found[declaration.span.start] = "keyword"
        found[declaration.name.span.start] = "name"
        for member in _members(declaration):
            found[member.name.span.start] = "name"
    for each in file.declarations:
        if isinstance(each, ast.ModuleDecl | ast.ImportDecl):
            found[each.span.start] = "keyword"
    for type_ in types(file):
        if type_.path.text in BUILTIN_TYPES:
            found[type_.span.start] = "type"
    return found


def _members(declaration: ast.Decl) -> Iterator[ast.Field | ast.EnumMember | ast.MethodDecl]:
    match declaration:
        case ast.StructDecl():
            yield from declaration.fields
        case ast.EnumDecl():
            yield from declaration.members
        case ast.ServiceDecl():
            for method in declaration.methods:
                yield method
                yield from method.params


# TextMate ---------------------------------------------------------------------------------------------------


class Highlighter:
    """What an editor does with such a grammar, for what this one uses: `match` with captures, `begin` and
    `end`, `include`. Its expressions mean the same to Oniguruma and to Python.
    """

    def __init__(self, grammar: dict[str, Any]) -> None:
        self._grammar = grammar

    def scopes(self, text: str) -> list[str]:
        """Of each character, the innermost."""
        made: list[str] = []
        stack: list[tuple[dict[str, Any], str]] = []
        for line in text.splitlines(keepends=True):
            row = [stack[-1][1] if stack else ""] * len(line)
            at = 0
            while at < len(line):
                at = self._step(line, at, row, stack)
            made += row
        return made

    def _step(self, line: str, at: int, row: list[str], stack: list[tuple[dict[str, Any], str]]) -> int:
        rules = self._rules(stack[-1][0].get("patterns", []) if stack else self._grammar["patterns"])
        best: tuple[int, int, dict[str, Any], re.Match[str]] | None = None
        ends = [stack[-1][0]] if stack else []
        body = line.rstrip("\n")
        for order, rule in enumerate([*ends, *rules]):
            is_end = bool(ends) and order == 0
            pattern = rule["end"] if is_end else rule.get("match") or rule["begin"]
            found = re.compile(pattern).search(body, at)
            if found is not None and (best is None or found.start() < best[0]):
                best = found.start(), order, rule, found
        if best is None:
            return len(line)
        start, order, rule, found = best
        if ends and order == 0:
            self._paint(row, start, found.end(), stack.pop()[1])
            self._paint(row, found.end(), len(row), stack[-1][1] if stack else "")
            return found.end() if found.end() > at else max(at + 1, found.end())
        name = rule.get("name", "")
        if "begin" in rule:
            stack.append((rule, name))
            self._paint(row, start, len(row), name)
        elif name:
            self._paint(row, start, found.end(), name)
        for group, capture in rule.get("captures", {}).items():
            if found.group(int(group)) is not None:
                self._paint(row, *found.span(int(group)), capture["name"])
        return max(found.end(), at + 1)

    @staticmethod
    def _paint(row: list[str], start: int, end: int, name: str) -> None:
        row[start:end] = [name] * (end - start)

    def _rules(self, patterns: list[dict[str, Any]]) -> list[dict[str, Any]]:
        made: list[dict[str, Any]] = []
        for each in patterns:
            if "include" in each:
                included = self._grammar["repository"][each["include"][1:]]
                inner = [included] if "match" in included or "begin" in included else included["patterns"]
                made += self._rules(inner)
            else:
                made.append(each)
        return made


SCOPES = {
    "number": ("constant.numeric",),
    "string": ("string.quoted", "constant.character.escape"),
    "annotation": ("storage.type.annotation",),
    "keyword": ("storage.type", "storage.modifier", "keyword."),
    "type": ("support.type",),
    "name": ("entity.name", "variable.other", ""),
}


@pytest.fixture(scope="module")
def highlighter() -> Highlighter:
    return Highlighter(json.loads(GRAMMAR.read_text()))


def wrong(
    source: SourceFile, called: Callable[[int], str], expected: dict[str, tuple[str, ...]]
) -> list[str]:
    """The tokens that are called something else than the compiler would."""
    found = []
    for offset, kind in kinds_of(source).items():
        scope = called(offset)
        if not any(scope.startswith(each) and (each or not scope) for each in expected[kind]):
            line, column = source.position(offset)
            found.append(f"{line}:{column} {source.text[offset : offset + 12]!r} is {kind}, not {scope!r}")
    return found


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.stem)
def test_textmate_calls_each_token_what_the_compiler_does(path: Path, highlighter: Highlighter) -> None:
    source = SourceFile("a", "a", path.read_text())
    scopes = highlighter.scopes(source.text)
    assert wrong(source, scopes.__getitem__, SCOPES) == []


def test_textmate_takes_no_name_for_a_keyword(highlighter: Highlighter) -> None:
    source = SourceFile("a", "a", WORDS_AS_NAMES)
    scopes = highlighter.scopes(source.text)
    assert wrong(source, scopes.__getitem__, SCOPES) == []


def test_textmate_knows_comments(highlighter: Highlighter) -> None:
    text = "/// doc\nmodule a; // line @x\n/* struct\n 1 */ struct S { }\n"
    scopes = highlighter.scopes(text)
    assert scopes[text.index("doc")] == "comment.line.documentation.mfidl"
    assert scopes[text.index("@x")] == "comment.line.double-slash.mfidl"
    assert scopes[text.index("1")] == "comment.block.mfidl"
    assert scopes[text.index("struct S")] == "storage.type.mfidl"


def test_the_words_of_textmate_are_those_of_the_compiler() -> None:
    text = GRAMMAR.read_text()
    types_ = re.search(r"b\(\?:(bool[^)]*)\)", text)
    assert types_ is not None
    assert set(types_.group(1).split("|")) == set(BUILTIN_TYPES)
    for word in tt.KEYWORDS:
        assert re.search(rf"[(|b]{word}[)|\\]", text), word


# Vim --------------------------------------------------------------------------------------------------------

GROUPS = {
    "number": ("mfidlNumber",),
    "string": ("mfidlString",),
    "annotation": ("mfidlAnnotation",),
    "keyword": ("mfidlKeyword", "mfidlInclude"),
    "type": ("mfidlType",),
    "name": ("mfidlMember", "mfidlMethod", "mfidlDeclared", "mfidlName"),
}
_SCRIPT = """
set rtp^={folder}
filetype plugin on
syntax on
edit {file}
let g:said = []
for at in split('{offsets}', ',')
  let place = split(at, ':')
  call add(g:said, synIDattr(synID(place[0], place[1], 0), 'name'))
endfor
call writefile(g:said, '{out}')
qall!
"""


@pytest.mark.parametrize(
    "text", ["words", *SCHEMAS], ids=lambda path: path if isinstance(path, str) else path.stem
)
def test_vim_calls_each_token_what_the_compiler_does(text: str | Path, tmp_path: Path) -> None:
    """Run by Neovim, whose patterns are Vim's."""
    source = SourceFile("a", "a", WORDS_AS_NAMES if isinstance(text, str) else text.read_text())
    file, out, script = tmp_path / "a.mfidl", tmp_path / "out", tmp_path / "script.vim"
    file.write_text(source.text)
    offsets = list(kinds_of(source))
    places = []
    for offset in offsets:
        line, column = source.position(offset)
        before = source.line_text(line)[: column - 1]
        places.append(f"{line}:{len(before.encode()) + 1}")
    script.write_text(_SCRIPT.format(folder=VIM, file=file, out=out, offsets=",".join(places)))
    command = ["nvim", "--headless", "-n", "-i", "NONE", "-u", str(script)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    groups = dict(zip(offsets, out.read_text().splitlines(), strict=True))
    assert wrong(source, groups.__getitem__, GROUPS) == []
