"""Texts that are being typed, odd texts, files that come and go, folders that loop."""

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from lsprotocol import types

from mfidl.compiler import check
from mfidl.diagnostics import Diagnostics
from mfidl.diagnostics.explain import explanations
from mfidl.lint import Settings, lint_files
from mfidl.lsp import workspace
from mfidl.lsp.answers import (
    actions,
    completion,
    diagnostics,
    folding,
    hover,
    inlay,
    navigation,
    symbols,
    tokens,
)
from mfidl.lsp.place import place_at
from mfidl.lsp.store import Store
from mfidl.lsp.text import Document, Lines, path_of, uri_of
from mfidl.lsp.workspace import Snapshot, Workspace
from tests.compiler.test_mangled import SEEDS, WORDS
from tests.lsp.editor import Editor, editor, position

WHOLE = Path(__file__).parents[1] / "compiler/whole_language.mfidl"
PARTS_OF_PREFIXES = 8  # so that they are divided among processes
PARTS = Path(__file__).parents[1] / "compiler/whole_language"


class Desk:
    """A workspace without a protocol: one document at a time."""

    def __init__(self, root: Path) -> None:
        self.store = Store()
        self.workspace = Workspace(self.store)
        self.workspace.roots = [str(root)]
        self._version = 0

    def snapshot(self, path: Path, text: str) -> Snapshot:
        self._version += 1
        document = Document(path.as_uri(), text, self._version, "utf-16")
        self.store.documents[os.path.realpath(path)] = document, text, self._version
        self.workspace.changed()
        made = self.workspace.snapshot(str(path), self._version, text)
        assert made is not None
        return made


def every_answer(desk: Desk, snapshot: Snapshot, offset: int) -> None:
    """Asks everything at one place; nothing may raise."""
    lines, end = snapshot.lines, len(snapshot.lines.text)
    diagnostics.by_file(snapshot)
    hover.hover(snapshot, offset)
    inlay.inlay_hints(snapshot, 0, end)
    navigation.definition(snapshot, offset)
    navigation.type_definition(snapshot, offset)
    navigation.highlights(snapshot, offset)
    navigation.links(snapshot)
    symbols.document_symbols(snapshot)
    tokens.semantic_tokens(snapshot, 0, end)
    folding.folding(snapshot)
    actions.actions(desk.workspace, snapshot, 0, end, None)
    place = place_at(lines.text, offset)
    completion.complete(desk.workspace, snapshot, snapshot.path, place, lines, True)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The example with the whole language, with what it imports, twice and under other names: 500 lines."""
    root = tmp_path_factory.mktemp("root")
    for path in PARTS.rglob("*.mfidl"):
        target = root / path.relative_to(PARTS)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(path.read_text())
    text = WHOLE.read_text()
    path = root / "whole_language.mfidl"
    path.write_text(text)
    return path, text


@pytest.mark.parametrize("part", range(PARTS_OF_PREFIXES))
def test_prefixes_of_a_long_file(whole: tuple[Path, str], part: int) -> None:
    """Every prefix that ends within two of its lines, and some that end with a line; every question at its
    end.
    """
    path, text = whole
    filler = "".join(f"struct Filler{at} {{\n  a: u32;\n  b: list<Filler{at}>;\n}}\n" for at in range(120))
    long = text + filler
    assert long.count("\n") >= 500
    ends = [at + 1 for at, each in enumerate(long) if each == "\n"]
    prefixes = [*ends[::10], *range(ends[len(ends) // 4], ends[len(ends) // 4 + 2])]
    desk = Desk(path.parent)
    for end in prefixes[part::PARTS_OF_PREFIXES]:
        every_answer(desk, desk.snapshot(path, long[:end]), end)


def test_every_prefix_of_a_short_file(tmp_path: Path) -> None:
    text = (
        'module a; // \N{GRINNING FACE}\nimport "b.mfidl" as b;\n'
        "@tier(archive)\nstruct S { 1: a: list<u32 @range(1..)> = [1, 2]; }\n"
        "enum E: u8 { a = 0, b }\nunion U { 1: a: S; }\n"
        "service T per x { @deadline(1s) f(a: b.X = { y: 1 }) -> (c: E) throws G; }\n"
    )
    (tmp_path / "b.mfidl").write_text("module b;\nstruct X { y: u32; }\n")
    desk, path = Desk(tmp_path), tmp_path / "a.mfidl"
    for end in range(len(text) + 1):
        every_answer(desk, desk.snapshot(path, text[:end]), end)
        every_answer(desk, desk.snapshot(path, text[end:]), 0)


@pytest.mark.parametrize("code", sorted(code for code, each in explanations().items() if each.example))
def test_the_diagnostics_are_those_of_check(code: str, tmp_path: Path) -> None:
    """For the example of each code: codes, places, and words, with those of notes and help."""
    explained = explanations()[code]
    assert explained.example is not None
    for name, text in explained.files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    path = tmp_path / "main.mfidl"
    path.write_text(explained.example)
    wanted = check([str(path)], [str(tmp_path)]).diagnostics
    if not any(each.severity == "error" for each in wanted):
        wanted = [*wanted, *lint_files([str(path)], [str(tmp_path)], Settings()).diagnostics]
    found = diagnostics.by_file(Desk(tmp_path).snapshot(path, explained.example))
    shown = [(each.code, each.message.split("\n")[0]) for told in found.values() for each in told]
    assert sorted(shown, key=str) == sorted(
        ((each.code, each.message.split("\n")[0]) for each in wanted), key=str
    )
    for each in wanted:
        if each.help is not None:
            assert any(f"help: {each.help}" in told.message for every in found.values() for told in every)


# Positions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_positions_with_every_line_end(end: str) -> None:
    text = end.join(["module a;", "// \N{GRINNING FACE}x", "struct S { a: u32; }", ""])
    lines = Lines(text)
    assert len(lines) == 4
    for offset in range(len(text) + 1):
        if text[offset - 1 : offset + 1] != "\r\n":
            assert lines.offset(lines.position(offset)) == offset
    assert lines.position(text.index("x")) == types.Position(1, 5)
    assert lines.position(text.index("struct")) == types.Position(2, 0)


def test_positions_outside_are_those_at_the_end() -> None:
    lines = Lines("a\r\nbc")
    assert lines.offset(types.Position(0, 99)) == 1
    assert lines.offset(types.Position(99, 0)) == 5


def test_other_characters_end_no_line() -> None:
    assert len(Lines("// a\x0bb\x0cc\x1cd\x85e\u2028f")) == 1


@pytest.mark.parametrize(("encoding", "units"), [("utf-8", 4), ("utf-16", 2), ("utf-32", 1)])
def test_units_of_each_encoding(encoding: str, units: int) -> None:
    assert Lines("\N{GRINNING FACE}x", encoding).position(1).character == units


def test_changes_of_a_document() -> None:
    document = Document("file:///a.mfidl", "a \N{GRINNING FACE} b\r\nc\r\n", 1, "utf-16")
    place = types.Range(types.Position(0, 5), types.Position(0, 6))
    document.change(types.TextDocumentContentChangePartial(place, "d\r\ne"))
    assert document.text == "a \N{GRINNING FACE} d\r\ne\r\nc\r\n"
    assert document.edited == 1


@pytest.mark.parametrize("path", ["/a b/c#d.mfidl", "/\N{SNOWMAN}/a.mfidl", "/a/%20.mfidl"])
def test_a_uri_of_every_path_leads_back(path: str) -> None:
    assert path_of(uri_of(path)) == path


def test_a_document_that_is_no_file() -> None:
    path = path_of("untitled:Untitled-1")
    assert not Path(path).exists()
    assert uri_of(path) == "untitled:Untitled-1"


# Through the protocol ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two roots, of which each has a schema of the other's name, and a loop of links."""
    one, other = (tmp_path_factory.mktemp(each) for each in ("one", "other"))
    for root, type_ in ((one, "u32"), (other, "string")):
        (root / "lib").mkdir()
        (root / "lib/ids.mfidl").write_text(f"module lib.ids;\ntype Id = {type_};\n")
        (root / "deep/er").mkdir(parents=True)
        (root / "deep/er/main.mfidl").write_text(
            'module main;\nimport "lib/ids.mfidl";\nstruct S { id: ids.Id; }\n'
        )
        (root / "loop").symlink_to(root, target_is_directory=True)
        (root / "lib/self").symlink_to("self")
        (root / "lib/self.mfidl").symlink_to("self.mfidl")
    return one, other


@pytest.fixture(scope="module")
def session(roots: tuple[Path, Path]) -> Iterator[Editor]:
    with editor(*roots) as made:
        yield made


def test_each_root_has_its_own_schemas(session: Editor, roots: tuple[Path, Path]) -> None:
    for root, tier in zip(roots, ("memcpy", "febird"), strict=True):
        uri = session.open(root / "deep/er/main.mfidl")
        assert session.codes(uri) == []
        assert f"**{tier}**" in session.hover(uri, position(session.texts[uri], "S {"))
        context = types.ReferenceContext(True)
        at = position(session.texts[uri], "Id;")
        params = types.ReferenceParams(context, types.TextDocumentIdentifier(uri), at)
        found = session.run(session.client.text_document_references_async(params))
        assert {each.uri for each in found} == {uri, (root / "lib/ids.mfidl").as_uri()}
        session.close(uri)


def test_a_loop_of_links_is_a_file_that_is_not_there(session: Editor, roots: tuple[Path, Path]) -> None:
    path = roots[0] / "looped.mfidl"
    path.write_text('module looped;\nimport "lib/self.mfidl";\n')
    uri = session.open(path)
    assert session.codes(uri) == ["E0203"]
    found = session.run(session.client.workspace_symbol_async(types.WorkspaceSymbolParams("lib.ids")))
    assert len(found) == 2
    session.close(uri)


def test_a_file_that_vanishes_and_comes_back(session: Editor, roots: tuple[Path, Path]) -> None:
    root = roots[0]
    (root / "part.mfidl").write_text("module part;\nstruct P { a: u32; }\n")
    (root / "user.mfidl").write_text('module user;\nimport "part.mfidl";\nstruct U { p: part.P; }\n')
    uri = session.open(root / "user.mfidl")
    assert session.codes(uri) == []
    for present in (False, True):
        if present:
            (root / "part.mfidl").write_text("module part;\nstruct P { a: u32; b: u8; }\n")
        else:
            (root / "part.mfidl").unlink()
        kind = types.FileChangeType.Created if present else types.FileChangeType.Deleted
        event = types.FileEvent((root / "part.mfidl").as_uri(), kind)
        session.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
        said = session.hover(uri, position(session.texts[uri], "P;"))
        assert ("b" in said) is present
        found = session.completions(uri, position(session.texts[uri], "U {", 4))
        assert "struct" in found
    (root / "user.mfidl").unlink()  # what is open stays
    session.insert(uri, types.Position(3, 0), "struct V { u: U; }\n")
    assert session.codes(uri) == []
    session.close(uri)


def test_what_an_open_file_says_counts_for_those_that_import_it(
    session: Editor, roots: tuple[Path, Path]
) -> None:
    """Although it is not saved."""
    root = roots[0]
    (root / "kept.mfidl").write_text("module kept;\nstruct P { a: u32; }\n")
    (root / "using.mfidl").write_text(
        'module using;\nimport "kept.mfidl";\nstruct U { p: kept.P; q: kept.Q; }\n'
    )
    using = session.open(root / "using.mfidl")
    assert session.codes(using) == ["E0301"]
    kept = session.open(root / "kept.mfidl")
    session.published.clear()
    session.insert(kept, types.Position(2, 0), "struct Q { a: u32; }\n")
    assert session.codes(using) == []
    session.close(kept)
    session.close(using)


def test_errors_of_a_file_that_is_imported_are_shown_there(session: Editor, roots: tuple[Path, Path]) -> None:
    root = roots[0]
    (root / "wrong.mfidl").write_text("module wrong;\nstruct P { a: u33; }\n")
    (root / "right.mfidl").write_text('module right;\nimport "wrong.mfidl";\n')
    uri = session.open(root / "right.mfidl")
    assert session.codes(uri) == []
    wrong = (root / "wrong.mfidl").as_uri()
    assert [[str(d.code) for d in each.diagnostics] for each in session.published if each.uri == wrong] == [
        ["E0301"]
    ]
    session.published.clear()
    session.close(uri)
    session.open(root / "right.mfidl")  # the server has handled the close when it answers for this
    session.diagnostics(uri)
    found = [list(each.diagnostics) for each in session.published if each.uri == wrong]
    assert [len(each) for each in found][:2] == [0, 1]
    session.close(uri)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_byte_order_mark_tabs_and_emoji(session: Editor, roots: tuple[Path, Path], end: str) -> None:
    text = end.join(["\ufeffmodule odd;", "\t/* \N{GRINNING FACE} */\tstruct S { a: u33; }", ""])
    path = roots[0] / "odd.mfidl"
    path.write_text(text)
    uri = session.open(path, text)
    (found,) = session.diagnostics(uri)
    start = len("\t/* xx */\tstruct S { a: ")
    assert found.range == types.Range(types.Position(1, start), types.Position(1, start + 3))
    session.close(uri)


def test_a_document_that_was_never_saved(session: Editor) -> None:
    uri = "untitled:Untitled-1"
    item = types.TextDocumentItem(uri, "mfidl", 1, "module a;\nstruct S { a: u33; }\n")
    session.published.clear()
    session.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    session.completions(uri, types.Position(1, 0))
    assert "struct a.S" in session.hover(uri, types.Position(1, 7))
    session.close(uri)


def test_a_text_that_is_too_large_and_one_with_a_zero(session: Editor, roots: tuple[Path, Path]) -> None:
    path = roots[0] / "large.mfidl"
    path.write_text("module large;\n")
    uri = session.open(path, "// " + "x" * (4 << 20))
    assert session.codes(uri) == ["E0003"]
    session.replace(uri, "module a;\0")
    assert session.codes(uri) == ["E0006"]
    session.close(uri)


# Flicker ----------------------------------------------------------------------------------------------------


def test_typing_a_line_does_not_change_what_others_show(session: Editor, roots: tuple[Path, Path]) -> None:
    """Every state of a line that is typed between two others with diagnostics."""
    head = "module calm;\n\nstruct Wide { a: u8; b: u64; c: u8; }\n"
    tail = "struct Other { x: u8; y: u64; z: u8; }\n" * 1
    line = "struct New { @deprecated a: list<string @length(..3)>; b: map<u8, u16> = { 1: 2 }; }"
    path = roots[0] / "calm.mfidl"
    path.write_text(head + "\n" + tail)
    uri = session.open(path)
    assert session.codes(uri) == ["L0601", "L0601"]
    for at, letter in enumerate(line):
        session.insert(uri, types.Position(3, at), letter)
        shown = session.diagnostics(uri)
        outside = [(str(each.code), each.range.start.line) for each in shown if each.range.start.line != 3]
        assert outside == [("L0601", 2), ("L0601", 4)], line[: at + 1]
    assert session.codes(uri) == ["L0601", "L0601"]
    session.close(uri)


def test_typing_a_declaration_over_lines_and_deleting_a_brace_changes_no_other(
    session: Editor, roots: tuple[Path, Path]
) -> None:
    """What the compiler makes of the whole is shown when nothing was typed for a while."""
    head = "module still;\n\nstruct Wide { a: u8; b: u64; c: u8; }\n"
    tail = "struct Other { x: u8; y: u64; z: u33; }\n"
    path = roots[0] / "still.mfidl"
    path.write_text(head + "\n" + tail)
    uri = session.open(path)
    assert [(each.code, each.range.start.line) for each in session.diagnostics(uri)] == [("E0301", 4)]
    line, column = 3, 0
    for letter in "service S {\n  @oneway f(a: u8,\n    b: u8);\n}":
        session.insert(uri, types.Position(line, column), letter)
        line, column = (line + 1, 0) if letter == "\n" else (line, column + 1)
        shown = [(each.code, each.range.start.line) for each in session.diagnostics(uri)]
        assert [each for each in shown if each[1] < 3 or each[1] > line] == [("E0301", line + 1)]
    session.published.clear()
    session.insert(uri, types.Position(line, 0), "", types.Position(line, 1))
    assert [(each.code, each.range.start.line) for each in session.diagnostics(uri)] == [("E0301", line + 1)]
    session.published.clear()
    calm = [each.code for each in session.diagnostics(uri)]
    assert any(str(each).startswith("E01") for each in calm)
    session.close(uri)


def test_what_is_kept_of_files_is_bounded(tmp_path: Path) -> None:
    store = Store(kept_characters=1000)
    for at in range(50):
        path = tmp_path / f"a{at}.mfidl"
        path.write_text(f"module a{at};\n" + "// " + "x" * 100 + "\n")
        store.parsed(str(path), str(path), Diagnostics())
    assert store.characters <= 1000


def test_the_files_of_a_workspace_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for at in range(20):
        (tmp_path / f"a{at:02}.mfidl").write_text(f"module a{at:02};\n")
    desk = Desk(tmp_path)
    monkeypatch.setattr(workspace, "FILES_LIMIT", 7)
    assert len(desk.workspace.files()) == 7
    monkeypatch.setattr(workspace, "BYTES_LIMIT", 30)
    desk.workspace.forget_files()
    assert [Path(each).name for each in desk.workspace.files()] == ["a00.mfidl", "a01.mfidl"]


def test_more_documents_than_analyses_are_kept(session: Editor, roots: tuple[Path, Path]) -> None:
    """The ones that were dropped are made again when they are asked for."""
    uris = []
    for at in range(12):
        path = roots[0] / f"many{at}.mfidl"
        path.write_text(f"module many{at};\nstruct S{at} {{ a: u32; }}\n")
        uris.append(session.open(path))
    for uri in uris:
        assert session.codes(uri) == []
    for at, uri in enumerate(uris):
        assert f"struct many{at}.S{at}" in session.hover(uri, types.Position(1, 8))
        session.close(uri)


def test_no_mangled_text_makes_an_answer_fail(tmp_path: Path) -> None:
    """Seeded; pieces of the language put in, cut out and doubled in the schemas of the corpus."""
    chance = random.Random(20)
    desk, path = Desk(tmp_path), tmp_path / "mangled.mfidl"
    for _ in range(150):
        text = chance.choice(SEEDS)
        for _ in range(chance.randint(1, 6)):
            at = chance.randint(0, len(text))
            cut = chance.choice((0, 0, chance.randint(1, 12)))
            text = (
                text[:at] + chance.choice((chance.choice(WORDS), text[at : at + 80], "")) + text[at + cut :]
            )
        snapshot = desk.snapshot(path, text)
        offset = chance.randint(0, len(text))
        every_answer(desk, snapshot, offset)
        navigation.references(desk.workspace, snapshot, offset, True)


def test_hints_stay_while_a_text_is_not_valid(session: Editor, roots: tuple[Path, Path]) -> None:
    """From the last valid one, at the places where things are now."""
    text = "module kept_hints;\nstruct S { a: u32; b: u64; }\n"
    path = roots[0] / "kept_hints.mfidl"
    path.write_text(text)
    uri = session.open(path)
    assert session.codes(uri) == []
    session.insert(uri, types.Position(1, 0), "const A: u3")
    session.insert(uri, types.Position(1, 11), "\n")
    whole = types.Range(types.Position(0, 0), types.Position(4, 0))
    params = types.InlayHintParams(types.TextDocumentIdentifier(uri), whole)
    found = session.run(session.client.text_document_inlay_hint_async(params)) or []
    assert [(each.position.line, each.label) for each in found] == [
        (2, "memcpy, 16 B"),
        (2, "@0, 4 B"),
        (2, "@8, 8 B"),
    ]
    session.close(uri)
