"""The grammar for tree-sitter, held to the compiler's own: what parses, what is declared, what tokens are
called.

editors/tree-sitter/src is generated: `cargo install tree-sitter-cli --version 0.25.10`, then in that folder
`tree-sitter generate --abi 14` and `sha256sum grammar.js > src/generated_from.txt`.
"""

import ctypes
import hashlib
import subprocess
from pathlib import Path

import pytest
from tree_sitter import Language, Parser, Query, QueryCursor, Tree

from mfidl.diagnostics import Diagnostics
from mfidl.diagnostics.explain import explanations
from mfidl.lint.subject import named
from mfidl.source import SourceFile
from mfidl.syntax.parser import parse
from tests.lsp.test_grammars import SCHEMAS, WORDS_AS_NAMES, _members, wrong

FOLDER = Path(__file__).parents[2] / "editors/tree-sitter"
EXAMPLES = {code: each.mended for code, each in explanations().items() if each.mended is not None}
REFUSED = ("E0101", "E0102", "E0105")
CAPTURES = {
    "number": ("number",),
    "string": ("string",),
    "annotation": ("attribute",),
    "keyword": ("keyword",),
    "type": ("type.builtin",),
    "name": ("type", "constant", "variable", "property", "function"),
}


@pytest.fixture(scope="module")
def language(tmp_path_factory: pytest.TempPathFactory) -> Language:
    library = tmp_path_factory.mktemp("grammar") / "mfidl.so"
    source = FOLDER / "src"
    command = ["gcc", "-shared", "-fPIC", "-O0", f"-I{source}", str(source / "parser.c"), "-o", str(library)]
    subprocess.run(command, check=True, capture_output=True, timeout=110)
    made = ctypes.CDLL(str(library)).tree_sitter_mfidl
    made.restype = ctypes.c_void_p
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype = ctypes.py_object
    capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return Language(capsule(made(), b"tree_sitter.Language", None))


def test_the_parser_was_generated_from_this_grammar() -> None:
    made = hashlib.sha256((FOLDER / "grammar.js").read_bytes()).hexdigest()
    assert (FOLDER / "src/generated_from.txt").read_text() == f"{made}  grammar.js\n"


def tree_of(language: Language, text: str) -> Tree:
    return Parser(language).parse(text.encode())


def declared(text: str) -> set[tuple[int, str]]:
    """The names of declarations and their members, by the compiler."""
    file = parse(SourceFile("a", "a", text), Diagnostics())
    names = [each.name for _, declaration in named(file) for each in (declaration, *_members(declaration))]
    return {(len(text[: each.span.start].encode()), each.text) for each in names}


def names_in(language: Language, text: str) -> set[tuple[int, str]]:
    """The same by the grammar: all fields `name` but those of paths, and of results, which are parameters."""
    found: set[tuple[int, str]] = set()
    pending = [tree_of(language, text).root_node]
    while pending:
        node = pending.pop()
        pending += [
            each
            for each in node.children
            if node.field_name_for_child(node.children.index(each)) != "results"
        ]
        name = node.child_by_field_name("name")
        if name is not None and name.type == "identifier" and name.text is not None:
            found.add((name.start_byte, name.text.decode()))
    return found


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.stem)
def test_it_reads_the_schemas_of_the_tree(path: Path, language: Language) -> None:
    text = path.read_text()
    assert not tree_of(language, text).root_node.has_error
    assert names_in(language, text) == declared(text)


@pytest.mark.parametrize("code", sorted(EXAMPLES))
def test_it_reads_what_the_compiler_reads(code: str, language: Language) -> None:
    """The mended example of each code."""
    text = EXAMPLES[code]
    assert text is not None
    found = Diagnostics()
    parse(SourceFile("a", "a", text), found)
    assert bool(found) == tree_of(language, text).root_node.has_error
    assert names_in(language, text) == declared(text)


@pytest.mark.parametrize("code", REFUSED)
def test_it_refuses_what_the_compiler_refuses(code: str, language: Language) -> None:
    text = explanations()[code].example
    assert text is not None
    assert tree_of(language, text).root_node.has_error


def test_every_word_may_be_a_name(language: Language) -> None:
    assert not tree_of(language, WORDS_AS_NAMES).root_node.has_error
    assert names_in(language, WORDS_AS_NAMES) == declared(WORDS_AS_NAMES)


@pytest.mark.parametrize(
    "text", [WORDS_AS_NAMES, *(path.read_text() for path in SCHEMAS)], ids=range(len(SCHEMAS) + 1)
)
def test_highlights_call_each_token_what_the_compiler_does(text: str, language: Language) -> None:
    query = Query(language, (FOLDER / "queries/highlights.scm").read_text())
    called: dict[int, str] = {}
    for _, captures in QueryCursor(query).matches(tree_of(language, text).root_node):
        for name, nodes in captures.items():
            for node in nodes:  # of patterns that fit one place the last one wins, as editors have it
                called[node.start_byte] = name
    source = SourceFile("a", "a", text)
    by_offset = {at: called.get(len(text[:at].encode()), "") for at in range(len(text))}
    assert wrong(source, by_offset.__getitem__, CAPTURES) == []


def test_folds_are_of_nodes_of_the_grammar(language: Language) -> None:
    Query(language, (FOLDER / "queries/folds.scm").read_text())
