"""What the language server answers, through a real client."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from lsprotocol import types

from tests.lsp.editor import Editor, editor, position

SEARCH = """\
module sf1.search;

import "sf1/text.mfidl";

const MAX_HITS: u32 = 1_000;
type DocId = u32;
agent collection: string;
annotation Owner { team: string; pager: u32 = 0; }
enum Rank: u8 { unknown = 0, bm25 = 1 }

/// A document that was found.
struct Hit { doc: DocId; score: f32; at: u64; }
struct Reply { hits: list<Hit>; rank: Rank = Rank.bm25; body: text.Document; }
error NoSuchCollection { name: string; }

service Index per collection {
  /// Documents that hold all terms.
  @idempotent
  query(terms: list<string>, limit: u32 = MAX_HITS) -> list<Hit> throws NoSuchCollection;
}
"""
TEXT = "module sf1.text;\n\nstruct Document { url: string; body: string; }\n"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("root")
    (folder / "sf1").mkdir()
    (folder / "sf1/search.mfidl").write_text(SEARCH)
    (folder / "sf1/text.mfidl").write_text(TEXT)
    return folder


@pytest.fixture(scope="module")
def session(root: Path) -> Iterator[Editor]:
    with editor(root) as made:
        yield made


@pytest.fixture(scope="module")
def search(session: Editor, root: Path) -> str:
    return session.open(root / "sf1/search.mfidl")


def test_a_good_schema_has_no_diagnostics(session: Editor, search: str) -> None:
    assert session.codes(search) == []


def test_hover_says_tier_size_and_why(session: Editor, search: str) -> None:
    said = session.hover(search, position(SEARCH, "Hit {"))
    assert "struct sf1.search.Hit" in said
    assert "A document that was found." in said
    assert "**memcpy**, 16 bytes: every field has a fixed size" in said
    assert "used by" in said


def test_hover_of_a_field_says_where_it_is(session: Editor, search: str) -> None:
    assert "offset 4, 4 bytes" in session.hover(search, position(SEARCH, "score"))


def test_inlay_hints_have_tiers_offsets_and_sizes(session: Editor, search: str) -> None:
    lines = types.Range(types.Position(0, 0), types.Position(SEARCH.count("\n"), 0))
    params = types.InlayHintParams(types.TextDocumentIdentifier(search), lines)
    found = session.run(session.client.text_document_inlay_hint_async(params)) or []
    labels = {(each.position.line, each.label) for each in found}
    hit = position(SEARCH, "struct Hit").line
    assert {(hit, "memcpy, 16 B"), (hit, "@0, 4 B"), (hit, "@4, 4 B"), (hit, "@8, 8 B")} <= labels


def test_completion_of_a_type(session: Editor, search: str) -> None:
    items = session.completions(search, position(SEARCH, "DocId;", 2))
    assert {"u32", "list", "DocId", "Hit", "Rank", "text"} <= set(items)
    assert not {"NoSuchCollection", "Index", "collection", "MAX_HITS"} & set(items)


def test_definition_in_another_file(session: Editor, search: str, root: Path) -> None:
    params = types.DefinitionParams(types.TextDocumentIdentifier(search), position(SEARCH, "Document;"))
    found = session.run(session.client.text_document_definition_async(params))
    assert isinstance(found, types.Location)
    assert found.uri == (root / "sf1/text.mfidl").as_uri()
    assert found.range.start == position(TEXT, "Document")
