"""What the language server answers, through a real client."""

import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from mfidl.diagnostics import Diagnostics
from mfidl.fmt import format_source
from mfidl.lsp.answers.tokens import MODIFIERS, TYPES
from mfidl.source import SourceFile
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


def ask(session: Editor, method: str, params: object) -> Any:
    return session.run(getattr(session.client, f"{method}_async")(params))


def identifier(uri: str) -> types.TextDocumentIdentifier:
    return types.TextDocumentIdentifier(uri)


def places(found: list[types.Location]) -> list[tuple[str, int, int]]:
    """(file, line, character), sorted."""
    return sorted((Path(each.uri).name, each.range.start.line, each.range.start.character) for each in found)


def place_of(file: str, text: str, word: str, occurrence: int = 1) -> tuple[str, int, int]:
    at = position(text, word, occurrence=occurrence)
    return file, at.line, at.character


def test_hover_of_a_method_has_its_frames(session: Editor, search: str) -> None:
    said = session.hover(search, position(SEARCH, "query("))
    assert "Documents that hold all terms." in said
    assert "query request" in said


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("u32 =", "unsigned whole number of 32 bits"),
        ("idempotent", "running it twice does no harm, so it may be retried"),
        ("MAX_HITS)", "const sf1.search.MAX_HITS: u32 = 1_000"),
        ("bm25;", "bm25 = 1"),
        ("text.", "module sf1.text"),
        ("collection {", "agent sf1.search.collection: string"),
    ],
)
def test_hover_of(session: Editor, search: str, word: str, said: str) -> None:
    assert said in session.hover(search, position(SEARCH, word, 1))


def test_hover_between_words_is_silent(session: Editor, search: str) -> None:
    assert session.hover(search, types.Position(1, 0)) == ""


def test_type_definition_of_a_field(session: Editor, search: str) -> None:
    params = types.TypeDefinitionParams(identifier(search), position(SEARCH, "rank:"))
    found = ask(session, "text_document_type_definition", params)
    assert found.range.start == position(SEARCH, "Rank:")


def test_type_definition_of_a_method_is_its_result(session: Editor, search: str) -> None:
    params = types.TypeDefinitionParams(identifier(search), position(SEARCH, "query("))
    found = ask(session, "text_document_type_definition", params)
    assert found.range.start == position(SEARCH, "Hit {")


def test_references_with_and_without_the_declaration(session: Editor, search: str) -> None:
    for declared in (True, False):
        context = types.ReferenceContext(declared)
        params = types.ReferenceParams(context, identifier(search), position(SEARCH, "Hit>"))
        found = ask(session, "text_document_references", params)
        wanted = [place_of("search.mfidl", SEARCH, "Hit>"), place_of("search.mfidl", SEARCH, "Hit>", 2)]
        if declared:
            wanted.append(place_of("search.mfidl", SEARCH, "Hit {"))
        assert places(found) == sorted(wanted)


def test_references_from_the_file_that_is_imported(session: Editor, root: Path) -> None:
    text = session.open(root / "sf1/text.mfidl")
    params = types.ReferenceParams(
        types.ReferenceContext(False), identifier(text), position(TEXT, "Document")
    )
    found = ask(session, "text_document_references", params)
    assert places(found) == [place_of("search.mfidl", SEARCH, "Document")]
    session.close(text)


def test_highlights_are_of_one_file(session: Editor, search: str) -> None:
    params = types.DocumentHighlightParams(identifier(search), position(SEARCH, "MAX_HITS)"))
    found = ask(session, "text_document_document_highlight", params)
    assert [each.range.start for each in found] == [
        position(SEARCH, "MAX_HITS"),
        position(SEARCH, "MAX_HITS", occurrence=2),
    ]


def applied(text: str, edits: Sequence[types.TextEdit]) -> str:
    """A text of ASCII after edits."""
    lines = text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:at])) for at in range(len(lines) + 1)]

    def offset(at: types.Position) -> int:
        return starts[min(at.line, len(lines))] + at.character

    for edit in sorted(edits, key=lambda each: offset(each.range.start), reverse=True):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text


def rename(session: Editor, uri: str, at: types.Position, name: str) -> dict[str, list[types.TextEdit]]:
    found = ask(session, "text_document_rename", types.RenameParams(identifier(uri), at, name))
    assert found.changes is not None
    return {Path(each).name: list(edits) for each, edits in found.changes.items()}


def test_rename_changes_all_files(session: Editor, search: str) -> None:
    changes = rename(session, search, position(SEARCH, "Document;"), "Page")
    assert applied(TEXT, changes.pop("text.mfidl")) == TEXT.replace("Document", "Page")
    assert applied(SEARCH, changes.pop("search.mfidl")) == SEARCH.replace("text.Document", "text.Page")
    assert not changes


def test_rename_of_a_member(session: Editor, search: str) -> None:
    changes = rename(session, search, position(SEARCH, "bm25 ="), "best")
    assert applied(SEARCH, changes["search.mfidl"]) == SEARCH.replace("bm25", "best")


@pytest.mark.parametrize(
    ("word", "name", "said"),
    [
        ("Hit {", "Reply", "`Reply` is declared already"),
        ("Hit {", "2", "is no name"),
        ("Hit {", "u32", "`u32` is a built-in type"),
        ("score", "doc", "`Hit` has a `doc` already"),
        ("limit", "terms", "has a `terms` already"),
        ("sf1.search", "other", "the name of a module is that of its file"),
        ("struct Hit", "other", "there is no name of this schema here"),
    ],
)
def test_rename_is_refused(session: Editor, search: str, word: str, name: str, said: str) -> None:
    with pytest.raises(JsonRpcException, match=re.escape(said)):
        rename(session, search, position(SEARCH, word, 1), name)


def test_the_outline_has_members_below_their_types(session: Editor, search: str) -> None:
    found = ask(session, "text_document_document_symbol", types.DocumentSymbolParams(identifier(search)))
    outline = {each.name: [child.name for child in each.children or ()] for each in found}
    assert outline == {
        "MAX_HITS": [],
        "DocId": [],
        "collection": [],
        "Owner": ["team", "pager"],
        "Rank": ["unknown", "bm25"],
        "Hit": ["doc", "score", "at"],
        "Reply": ["hits", "rank", "body"],
        "NoSuchCollection": ["name"],
        "Index": ["query"],
    }


@pytest.mark.usefixtures("search")
def test_symbols_of_the_workspace(session: Editor) -> None:
    found = ask(session, "workspace_symbol", types.WorkspaceSymbolParams("docu"))
    assert [(each.name, each.container_name) for each in found] == [("Document", "sf1.text")]
    methods = ask(session, "workspace_symbol", types.WorkspaceSymbolParams("index.query"))
    assert [(each.name, each.kind) for each in methods] == [("query", types.SymbolKind.Method)]


def tokens(session: Editor, uri: str, text: str) -> list[tuple[str, str, str]]:
    """(text, type, modifiers) of all semantic tokens."""
    data = ask(
        session, "text_document_semantic_tokens_full", types.SemanticTokensParams(identifier(uri))
    ).data
    lines = text.splitlines()
    made, line, character = [], 0, 0
    for at in range(0, len(data), 5):
        delta, step, length, kind, modifiers = data[at : at + 5]
        line, character = line + delta, step + (0 if delta else character)
        raw = lines[line].encode("utf-16-le")[2 * character : 2 * (character + length)]
        words = [word for bit, word in enumerate(MODIFIERS) if modifiers >> bit & 1]
        made.append((raw.decode("utf-16-le"), TYPES[kind], " ".join(words)))
    return made


def test_semantic_tokens(session: Editor, search: str) -> None:
    found = tokens(session, search, SEARCH)
    assert {
        ("sf1.search", "namespace", "declaration"),
        ("MAX_HITS", "variable", "declaration readonly"),
        ("MAX_HITS", "variable", "readonly"),
        ("u32", "type", "defaultLibrary"),
        ("Hit", "struct", "declaration"),
        ("Hit", "struct", ""),
        ("text", "namespace", ""),
        ("Document", "struct", ""),
        ("bm25", "enumMember", ""),
        ("idempotent", "decorator", "defaultLibrary"),
        ("query", "method", "declaration"),
        ("terms", "parameter", "declaration"),
        ("collection", "variable", ""),
        ("Index", "interface", "declaration"),
    } <= set(found)


def test_semantic_tokens_of_a_range_are_those_of_all_within(session: Editor, search: str) -> None:
    line = position(SEARCH, "struct Hit").line
    asked = types.Range(types.Position(line, 0), types.Position(line + 1, 0))
    params = types.SemanticTokensRangeParams(identifier(search), asked)
    data = ask(session, "text_document_semantic_tokens_range", params).data
    assert data[0] == line
    assert sum(data[5::5]) == 0


def test_folding(session: Editor, search: str) -> None:
    found = ask(session, "text_document_folding_range", types.FoldingRangeParams(identifier(search)))
    service = position(SEARCH, "service Index").line
    assert (service, SEARCH.count("\n") - 2) in {(each.start_line, each.end_line) for each in found}


def test_links_of_imports(session: Editor, search: str, root: Path) -> None:
    found = ask(session, "text_document_document_link", types.DocumentLinkParams(identifier(search)))
    assert [(each.target, each.range.start) for each in found] == [
        ((root / "sf1/text.mfidl").as_uri(), position(SEARCH, "sf1/text"))
    ]


def test_signature_of_a_known_annotation_and_of_one_of_the_schema(session: Editor, root: Path) -> None:
    text = (
        "module a;\n"
        "annotation Owner { team: string; pager: u32 = 0; }\n"
        '@Owner(team = "a", )\n'
        "struct S { a: u32 @range(1..) = 1; }\n"
    )
    (root / "a.mfidl").write_text(text)
    uri = session.open(root / "a.mfidl")
    session.diagnostics(uri)
    for word, label, active in (
        ("range(1", "@range(low..high), either side may be left out", "low..high"),
        ('"a", ', "@Owner(team: string, pager: u32 = 0)", "pager: u32 = 0"),
    ):
        params = types.SignatureHelpParams(identifier(uri), position(text, word, len(word)))
        found = ask(session, "text_document_signature_help", params)
        assert found.signatures[0].label == label
        assert found.signatures[0].parameters[found.active_parameter].label == active
    outside = types.SignatureHelpParams(identifier(uri), position(text, "struct S"))
    assert ask(session, "text_document_signature_help", outside) is None
    session.close(uri)


UGLY = "module b;\nstruct A { a:u32; }\n\nstruct B   {   b : u32;}\n"


def test_formatting_is_that_of_fmt(session: Editor, root: Path) -> None:
    path = root / "b.mfidl"
    path.write_text(UGLY)
    uri = session.open(path)
    params = types.DocumentFormattingParams(identifier(uri), types.FormattingOptions(2, True))
    edits = ask(session, "text_document_formatting", params)
    source = SourceFile("b", "b", UGLY)
    assert applied(UGLY, edits) == format_source(source, Diagnostics())
    line = types.Range(types.Position(3, 0), types.Position(3, 5))
    some = types.DocumentRangeFormattingParams(identifier(uri), line, types.FormattingOptions(2, True))
    changed = applied(UGLY, ask(session, "text_document_range_formatting", some))
    assert changed.startswith("module b;\nstruct A { a:u32; }\n")
    assert "struct B" in changed
    assert changed != UGLY
    session.replace(uri, "module b;\nstruct {")
    assert ask(session, "text_document_formatting", params) == ()
    session.close(uri)


def code_actions(session: Editor, uri: str, at: types.Range, *only: str) -> dict[str, types.CodeAction]:
    context = types.CodeActionContext([], only=list(only) or None)
    params = types.CodeActionParams(identifier(uri), at, context)
    return {each.title: each for each in ask(session, "text_document_code_action", params) or ()}


def edited(action: types.CodeAction, text: str) -> str:
    assert action.edit is not None
    assert action.edit.changes is not None
    (edits,) = action.edit.changes.values()
    return applied(text, edits)


LINTED = """\
module c;

import "sf1/text.mfidl";
import "sf1/search.mfidl";

struct Wide { a: u8; b: u64; c: u8; }
struct Hits { of: list<search.Hit>; }
"""


def test_code_actions_of_lint(session: Editor, root: Path) -> None:
    path = root / "c.mfidl"
    path.write_text(LINTED)
    uri = session.open(path)
    assert session.codes(uri) == ["L0301", "L0601"]
    whole = types.Range(types.Position(0, 0), types.Position(9, 0))
    found = code_actions(session, uri, whole)
    wide = "struct Wide"
    allowed = LINTED.replace(wide, f"// lint: allow(L0601)\n{wide}")
    assert edited(found["Allow L0601 here"], LINTED) == allowed
    assert edited(found["Organise imports"], LINTED) == LINTED.replace('import "sf1/text.mfidl";\n', "")
    unused = 'Remove `import "sf1/text.mfidl";`'
    assert edited(found[unused], LINTED) == LINTED.replace('import "sf1/text.mfidl";\n', "")
    only = code_actions(session, uri, whole, "source.organizeImports")
    assert list(only) == ["Organise imports"]
    session.replace(uri, allowed)
    assert session.codes(uri) == ["L0301"]
    session.close(uri)


def test_code_action_of_a_fix(session: Editor, root: Path) -> None:
    text = "module d;\nstruct S { a: strng; }\n"
    (root / "d.mfidl").write_text(text)
    uri = session.open(root / "d.mfidl")
    assert session.codes(uri) == ["E0301"]
    at = position(text, "strng")
    found = code_actions(session, uri, types.Range(at, at))
    assert edited(found["Write `string` in place of `strng`"], text) == text.replace("strng", "string")
    session.close(uri)


def test_code_action_imports_a_module_of_the_workspace(session: Editor, root: Path) -> None:
    text = "module g;\nstruct S { a: text.Document; }\n"
    (root / "g.mfidl").write_text(text)
    uri = session.open(root / "g.mfidl")
    assert session.codes(uri) == ["E0306"]
    at = position(text, "text.")
    after = edited(code_actions(session, uri, types.Range(at, at))['Import "sf1/text.mfidl"'], text)
    assert after == text.replace("g;", 'g;\nimport "sf1/text.mfidl";')
    session.replace(uri, after)
    assert session.codes(uri) == []
    session.close(uri)


def test_code_action_imports_what_an_imported_module_imports(session: Editor, root: Path) -> None:
    text = 'module h;\nimport "sf1/search.mfidl";\nstruct S { a: search.Hit; b: text.Document; }\n'
    (root / "h.mfidl").write_text(text)
    uri = session.open(root / "h.mfidl")
    assert session.codes(uri) == ["E0307"]
    at = position(text, "text.")
    after = edited(code_actions(session, uri, types.Range(at, at))['Insert `import "sf1/text.mfidl";`'], text)
    assert after == text.replace('search.mfidl";', 'search.mfidl";\nimport "sf1/text.mfidl";')
    session.replace(uri, after)
    assert session.codes(uri) == []
    session.close(uri)


def test_code_action_deprecate(session: Editor, root: Path) -> None:
    text = "module e;\nstruct S { a: u32; }\n\nservice T {\n  @idempotent get(a: u32);\n}\n"
    (root / "e.mfidl").write_text(text)
    uri = session.open(root / "e.mfidl")
    for name, before in (("S", "struct S"), ("a", "a: u32; }"), ("get", "@idempotent")):
        at = position(text, f"{name}:" if name == "a" else name if name == "get" else "S {")
        action = code_actions(session, uri, types.Range(at, at))[f"Deprecate `{name}`"]
        after = edited(action, text)
        assert after == text.replace(before, f"@deprecated {before}")
        session.replace(uri, after)
        assert [each for each in session.codes(uri) if each.startswith("E")] == []
        session.replace(uri, text)
        session.diagnostics(uri)
    session.close(uri)


def resolved(session: Editor, uri: str, what: str) -> list[str]:
    found = ask(session, "text_document_code_lens", types.CodeLensParams(identifier(uri)))
    chosen = [each for each in found if each.data["what"] == what]
    made = [ask(session, "code_lens_resolve", each) for each in chosen]
    return [each.command.title for each in made]


def test_code_lenses_count_uses(session: Editor, search: str) -> None:
    found = resolved(session, search, "uses")
    assert found[:3] == ["used 1 time", "used 1 time", "used 1 time"]
    assert "not used" in found
    assert "used 2 times" in found


def git(folder: Path, *arguments: str) -> None:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(folder), *arguments]
    subprocess.run(command, check=True, capture_output=True, timeout=60)


def test_a_lens_says_what_breaks_against_the_main_branch(session: Editor, tmp_path: Path) -> None:
    path = tmp_path / "a.mfidl"
    path.write_text("module a;\nstruct S { a: u32; }\ntopic T : S;\n")
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "a")
    uri = session.open(path)
    assert resolved(session, uri, "breaking") == ["breaks nothing of main"]
    session.replace(uri, "module a;\nstruct S { a: u64; }\ntopic T : S;\n")
    (title,) = resolved(session, uri, "breaking")
    assert title.endswith("against main")
    told = ask(session, "workspace_execute_command", types.ExecuteCommandParams("mfidl.breaking", [uri]))
    assert any("B0" in each for each in told)
    session.close(uri)
