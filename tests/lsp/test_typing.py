"""What is offered at a place of a text that is being typed: `|` marks the place."""

from collections.abc import Iterator

import pytest
from lsprotocol import types

from tests.lsp.editor import Editor, editor, position

HEAD = """\
module sf1.search;

import "sf1/text.mfidl";
import "sf1/text.mfidl" as t;

const MAX: u32 = 10;
agent shard: u32;
annotation Owner { team: string; }
enum Rank: u8 { none = 0, best = 1 }
error Gone { name: string; }
struct Outer { struct Inner { a: u8; } b: Inner; }
union Either { 1: a: u32; 4: b: u64; reserved 6; }
struct Wide { 1: a: u32; 2: b: u64; reserved 5; }
struct Plain { a: u32; }
service Base { get(a: u32); }
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Editor, str]]:
    root = tmp_path_factory.mktemp("root")
    (root / "sf1/deep").mkdir(parents=True)
    (root / "sf1/text.mfidl").write_text(
        "module sf1.text;\nstruct Document { url: string; }\nerror Lost {}\n"
    )
    path = root / "sf1/search.mfidl"
    path.write_text(HEAD)
    with editor(root) as made:
        uri = made.open(path)
        made.diagnostics(uri)
        yield made, uri


def offered(session: tuple[Editor, str], text: str) -> dict[str, types.CompletionItem]:
    """At the mark, in a text behind the head, from the analysis of the head with the text."""
    made, uri = session
    whole = HEAD + text.replace("|", "", 1)
    made.replace(uri, whole)
    found = made.completions(uri, position(HEAD + text, "|"))
    made.replace(uri, HEAD)
    return found


CASES: dict[str, tuple[str, set[str], set[str]]] = {
    "a declaration": ("|", {"struct", "service", "open enum", "import"}, {"u32", "Wide"}),
    "behind an annotation": ("@deprecated |", {"struct", "service"}, {"u32"}),
    "a half word": ("stru|", {"struct"}, set()),
    "a field's type": ("struct A { a: |", {"u32", "list", "Rank", "Wide", "t", "text"}, {"Gone", "MAX"}),
    "a field's type, half": ("struct A { a: u|; b: u32; }", {"u32"}, {"struct"}),
    "within a list": ("struct A { a: list<|> }", {"u32", "Rank"}, {"MAX", "struct"}),
    "the second of a map": ("struct A { a: map<string, |", {"u32"}, {"MAX"}),
    "of a module": ("struct A { a: t.|", {"Document"}, {"u32", "Lost", "Wide"}),
    "of a module by its full name": ("struct A { a: sf1.text.|", {"Document"}, {"u32"}),
    "within another type": ("struct A { a: Outer.|", {"Inner"}, {"u32"}),
    "a coding": ("struct A { a: i64.|", {"varint", "fixed"}, {"u32"}),
    "an alias": ("type A = |", {"u32", "Wide"}, {"struct"}),
    "a base": ("enum A: |", {"u8"}, {"struct"}),
    "an agent's type": ("agent a: |", {"string"}, {"struct"}),
    "a topic's type": ("topic T : |", {"Wide"}, {"struct"}),
    "a parameter": ("service S { get(a: |", {"u32"}, {"struct"}),
    "a result": ("service S { get() -> |", {"u32", "Wide"}, {"Gone"}),
    "behind parameters": ("service S { get() |", {"->", "throws"}, {"u32"}),
    "an error": ("service S { get() throws |", {"Gone"}, {"Wide", "u32"}),
    "a second error": ("service S { get() throws Gone, |", {"Gone"}, {"Wide"}),
    "an error of a module": ("service S { get() throws t.|", {"Lost"}, {"Document"}),
    "per": ("service S per |", {"shard"}, {"MAX", "u32"}),
    "extends": ("service S extends |", {"Base"}, {"Wide"}),
    "behind a service's name": ("service S |", {"extends", "per"}, {"u32"}),
    "behind a topic's name": ("topic T |", {"per"}, {"extends"}),
    "a default": ("struct A { a: u32 = |", {"MAX", "true"}, {"u32", "Wide"}),
    "a default, a member": ("struct A { a: Rank = Rank.|", {"none", "best"}, {"MAX"}),
    "a constant's value": ("const A: u32 = |", {"MAX"}, {"u32"}),
    "an annotation": ("struct A { @|", {"was", "required", "deprecated", "Owner", "cpp.name"}, {"u32"}),
    "an annotation behind a type": ("struct A { a: u32 @|", {"range"}, {"u32"}),
    "of a language": ("@cpp.|", {"name", "codec", "type"}, {"range", "cpp.name"}),
    "a tier": ("@tier(|) struct A { }", {"memcpy", "febird", "archive", "custom"}, {"u32"}),
    "an argument of one's own": ("@Owner(|", {"team"}, {"u32"}),
    "a policy": ("@overflow(drop_oldest, |", {"block"}, set()),
    "a bound": ("struct A { a: u32 @range(..|", {"MAX"}, {"u32"}),
    "the next number": ("struct A { 1: a: u32; |", {"reserved", "struct"}, {"u32"}),
    "a path": ('import "sf1/|', {"sf1/text.mfidl", "sf1/deep/"}, {"struct", "sf1/search.mfidl"}),
    "a new name": ("struct |", set(), {"u32", "struct"}),
    "a comment": ("// |", set(), {"struct"}),
    "a block comment": ("/* |", set(), {"struct"}),
    "a text": ('const A: string = "|', set(), {"struct", "MAX"}),
    "a number": ("const A: u32 = 1|", set(), {"MAX"}),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_offered(session: tuple[Editor, str], name: str) -> None:
    text, wanted, unwanted = CASES[name]
    found = set(offered(session, text))
    assert wanted <= found
    assert not unwanted & found
    if not wanted:
        assert not found


@pytest.mark.parametrize(
    ("head", "number"), [("struct Wide { 1: a: u32; 2: b: u64; ", 6), ("union Either { ", 7)]
)
def test_the_next_number_is_behind_those_that_are_taken(
    session: tuple[Editor, str], head: str, number: int
) -> None:
    """Reserved ones, too; of the struct as the last analysis has it."""
    made, uri = session
    at = position(HEAD, head, len(head))
    found = made.completions(uri, at)
    assert f"{number}:" in found
    assert found[f"{number}:"].preselect


def test_a_struct_without_numbers_gets_none(session: tuple[Editor, str]) -> None:
    made, uri = session
    head = "struct Plain { "
    assert not [each for each in made.completions(uri, position(HEAD, head, len(head))) if each[0].isdigit()]


def test_what_is_offered_replaces_the_word_that_was_begun(session: tuple[Editor, str]) -> None:
    item = offered(session, "struct A { a: stri|ng; }")["string"]
    assert isinstance(item.text_edit, types.TextEdit)
    begin = types.Position(HEAD.count("\n"), len("struct A { a: "))
    assert item.text_edit.range.start == begin
    assert item.text_edit.range.end.character - begin.character == len("stri")


def test_documentation_of_an_annotation(session: tuple[Editor, str]) -> None:
    item = offered(session, "struct A { @|")["required"]
    assert isinstance(item.documentation, types.MarkupContent)
    assert "must be given when a value is made" in item.documentation.value
