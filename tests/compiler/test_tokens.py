"""The regular expression and the generated lexer read the same language."""

import random
import runpy
from pathlib import Path

import pytest
from antlr4 import InputStream, Token
from hypothesis import given
from hypothesis import strategies as st

from mfidl.source import SourceFile
from mfidl.syntax import token_types as tt
from mfidl.syntax._antlr.MfidlLexer import MfidlLexer
from mfidl.syntax.tokens import scan
from tests.compiler.corpus import ROOT

_DROPPED = (tt.BAD, tt.OPEN_COMMENT)


def of_grammar(text: str) -> list[tuple[int, int, int]]:
    """(type, start, end) of every token that reaches the parser, from the generated lexer."""
    lexer = MfidlLexer(InputStream(text))
    lexer.removeErrorListeners()
    found = []
    while (token := lexer.nextToken()).type != Token.EOF:
        if token.channel == Token.DEFAULT_CHANNEL and token.type not in _DROPPED:
            found.append((token.type, token.start, token.stop + 1))
    return found


def of_expression(text: str) -> list[tuple[int, int, int]]:
    tokens = scan(SourceFile("t", "t", text)).tokens
    return [(token.type, token.start, token.end) for token in tokens[:-1]]


# The expression also bounds the depth; the grammar does not.
SCHEMAS = [path for path in sorted(ROOT.rglob("*.mfidl")) if path.parent.name != "nesting"]


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.stem)
def test_both_lexers_agree_on_the_corpus(path: Path) -> None:
    text = path.read_text(errors="replace")
    assert of_expression(text) == of_grammar(text)


_PIECES = [
    *("struct", "x", "_a1", "0", "1_000", "0x1F", "0x", "1.5", "1e5", "1e", "1.5e-3", "200ms", "5min", "7d"),
    *("10q", "1.5s", "1..2", "..", ".", "->", "-", '"a"', '"\\""', '"\\', "@", "//c\n", "/*c*/", "///d\n"),
    *("<", ">>", "?", ";", ":", ",", "=", " ", "\n", "#", "é", "/", "////\n", "[", "]", "(", ")"),
]


@given(st.lists(st.sampled_from(_PIECES), max_size=30).map("".join))
def test_both_lexers_agree_on_any_mixture(text: str) -> None:
    if text.count("<") + text.count("[") + text.count("(") <= 64:
        assert of_expression(text) == of_grammar(text)


def test_both_lexers_agree_on_a_thousand_mixtures() -> None:
    """Evenly drawn, unlike Hypothesis's: a comment before other words is met often enough."""
    chance = random.Random(7)
    for _ in range(1000):
        text = "".join(chance.choice(_PIECES) for _ in range(chance.randint(0, 30)))
        assert of_expression(text) == of_grammar(text), text


def test_the_table_of_token_numbers_is_that_of_the_generated_lexer() -> None:
    script = runpy.run_path(str(Path(__file__).parents[2] / "grammar" / "token_types.py"))
    assert script["token_types"]() == script["TARGET"].read_text()
