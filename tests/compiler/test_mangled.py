"""No input, however mangled, gives a traceback; and whatever is refused has a place in the file."""

import random
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mfidl.compiler import Exit, Outcome, check
from mfidl.diagnostics import suggest
from mfidl.diagnostics.diagnostic import SHOWN_LIMIT
from mfidl.diagnostics.render import render_json, render_text
from mfidl.diagnostics.suggest import Suggester
from tests.compiler.corpus import ROOT
from tests.compiler.test_tokens import _PIECES

SEEDS = [path.read_text(errors="replace") for path in sorted(ROOT.rglob("*.mfidl"))]
WORDS = [
    *_PIECES,
    *(
        "module m;",
        "import",
        "const",
        "type",
        "agent",
        "enum",
        "open enum",
        "flags",
        "union",
        "error",
        "service",
    ),
    *("topic", "per", "throws", "reserved", "list<", "map<", "array<u8, 3>", "u32", "string", "@range(1..2)"),
    *("{", "}", "};", "a: u32;", "f(a: u32) -> u32;", "@tier(memcpy)", "= [1, 2]", "= { a: 1 }"),
]


def survives(folder: Path, text: str) -> Outcome:
    path = folder / "mangled.mfidl"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    outcome = check([str(path)])
    assert outcome.exit in (Exit.OK, Exit.SCHEMA)
    assert (outcome.exit is Exit.OK) == (not outcome.diagnostics) == (outcome.program is not None)
    render_text(outcome.diagnostics, color=True)
    render_json(outcome.diagnostics)
    assert len(outcome.diagnostics) <= SHOWN_LIMIT + 1  # and the line that counts the others
    places = [each.sort_key()[:3] for each in outcome.diagnostics]
    assert places == sorted(places)
    for each in outcome.diagnostics:
        assert each.span is None or 0 <= each.span.start <= each.span.end <= len(each.span.file.text)
    return outcome


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mangled")


_CALM = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@_CALM
@given(words=st.lists(st.sampled_from(WORDS), max_size=60))
def test_words_in_any_order_are_answered(folder: Path, words: list[str]) -> None:
    survives(folder, "module m;\n" + " ".join(words))


@_CALM
@given(text=st.text(max_size=300))
def test_any_text_is_answered(folder: Path, text: str) -> None:
    survives(folder, text)


@_CALM
@given(data=st.binary(max_size=300))
def test_any_bytes_are_answered(folder: Path, data: bytes) -> None:
    path = folder / "bytes.mfidl"
    path.write_bytes(b"module m;\n" + data)
    outcome = check([str(path)])
    assert outcome.exit in (Exit.OK, Exit.SCHEMA)
    render_text(outcome.diagnostics)


@_CALM
@given(seed=st.integers(0, len(SEEDS) - 1), share=st.floats(0, 1))
def test_a_schema_that_ends_anywhere_is_answered(folder: Path, seed: int, share: float) -> None:
    survives(folder, SEEDS[seed][: int(len(SEEDS[seed]) * share)])


@_CALM
@given(first=st.integers(0, len(SEEDS) - 1), second=st.integers(0, len(SEEDS) - 1), chance=st.randoms())
def test_lines_of_two_schemas_in_any_order_are_answered(
    folder: Path, first: int, second: int, chance: random.Random
) -> None:
    lines = [*SEEDS[first].splitlines(), *SEEDS[second].splitlines()]
    chance.shuffle(lines)
    survives(folder, "module m;\n" + "\n".join(lines[:60]))


_REPEATED = [
    *(
        "x ",
        "x\n",
        "x: ",
        "x:\n",
        "a b\n",
        "u32 a ",
        "u32 a\n",
        "f(",
        "f(\n",
        "f() -> ",
        "struct ",
        "struct\n",
    ),
    *(
        "@a ",
        "@a\n",
        "@a(",
        "@a(\n",
        "@a struct\n",
        "[ ; ",
        "[",
        "[\n",
        "<",
        "{",
        "{\n",
        "}",
        ")",
        "= [ ",
        ", ",
    ),
    *(
        "struct A ( x: u32; ) ",
        "struct A { x: u32 ",
        "enum E: u8 { a\n",
        "service S { f(",
        "reserved 1 ",
        "; ",
    ),
    *(
        "$ ",
        "$",
        "'",
        "'a' ",
        "1'0 ",
        "# a\n",
        "```\n",
        "<!-- a\n",
        "<<<<<<< a\n",
        "=======\n",
        ">>>>>>> a\n",
    ),
    *(
        '"a\n',
        '"a\n";\n',
        "/* ",
        "\u200b",
        "\u0434",
        "\u0434a ",
        "\uff1b",
        "1q ",
        "9",
        "a",
        ".",
        "a.",
        "-> ",
        "foo { } ",
    ),
]


@pytest.mark.parametrize("text", _REPEATED, ids=repr)
@pytest.mark.parametrize(
    "head", ["module m;\n", "module m;\nstruct A { ", "module m;\nconst A: list<u8> = [1; "]
)
def test_twice_the_text_takes_about_twice_the_steps(folder: Path, head: str, text: str) -> None:
    once, twice = (steps(folder, head + text * count) for count in (150, 300))
    assert twice <= 2.6 * once + 2000


_WRONG_NAMES = [
    ("", "struct A{0} {{ a: Nope{0}; }}\n", ""),
    ("", "const A{0}: u8 = NOPE{0};\n", ""),
    ("", "const A{0}: string = nope{0};\n", ""),
    ("", "type A{0} = nowhere{0}.B;\n", ""),
    ("", "enum A{0}: u8 {{ a = 0 }}\nconst B{0}: A{0} = Nope{0}.a;\n", ""),
    ("struct S { x: u8; }\nconst A: S = {\n", "a{0}: 1,\n", "};\n"),
]


@pytest.mark.parametrize(("head", "text", "tail"), _WRONG_NAMES, ids=lambda part: repr(part)[:24])
def test_twice_the_wrong_names_take_about_twice_the_steps(
    folder: Path, monkeypatch: pytest.MonkeyPatch, head: str, text: str, tail: str
) -> None:
    monkeypatch.setattr(Suggester, "LOOKS", 2000)  # so that few names are enough
    once, twice = (
        steps(folder, f"module m;\n{head}{''.join(map(text.format, range(count)))}{tail}")
        for count in (300, 600)
    )
    assert twice <= 2.4 * once + 2000


def test_a_run_looks_at_a_bounded_number_of_names_to_suggest_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []

    def distance(_word: str, candidate: str, limit: int) -> int:
        looked.append(candidate)
        return limit + 1

    monkeypatch.setattr(suggest, "_distance", distance)
    survives(folder, "module m;\n" + "".join(f"struct A{i} {{ a: Nope{i}; }}\n" for i in range(1000)))
    assert 0 < len(looked) <= Suggester.LOOKS


def steps(folder: Path, text: str) -> int:
    """How many functions are called to check a text."""
    path = folder / "repeated.mfidl"
    path.write_text(text)
    counted = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        check([str(path)])
    finally:
        sys.setprofile(None)
    return counted


@_CALM
@given(seed=st.integers(0, len(SEEDS) - 1), chance=st.randoms(use_true_random=False))
def test_a_mutilated_schema_is_answered(folder: Path, seed: int, chance: random.Random) -> None:
    text = SEEDS[seed]
    for _ in range(chance.randint(1, 4)):
        start = chance.randint(0, len(text))
        end = min(len(text), start + chance.randint(0, 12))
        text = text[:start] + chance.choice(["", text[start:end] * 2, chance.choice(WORDS)]) + text[end:]
    survives(folder, text)


@pytest.mark.parametrize(
    "text",
    [
        "module m; type A = " + "list<" * 100_000 + "u8" + ">" * 100_000 + ";",
        "module m; const A: u32 = " + "[" * 100_000 + ";",
        "module m; const A: u32 = " + "{" * 100_000,
        "module m; struct A { " + "{" * 100_000,
        "module m; service S { f" + "(" * 100_000,
        "module m; @a" + "(" * 100_000,
        "}" * 100_000,
    ],
)
def test_nesting_a_hundred_thousand_deep_is_one_error(folder: Path, text: str) -> None:
    outcome = survives(folder, text)
    assert 1 <= len(outcome.diagnostics) <= 3


def test_long_chains_of_names_are_refused_and_not_followed_for_ever(folder: Path) -> None:
    aliases = "".join(f"type A{i} = A{i + 1};\n" for i in range(2000))
    constants = "".join(f"const C{i}: u32 = C{i + 1};\n" for i in range(2000))
    outcome = survives(folder, f"module m;\n{aliases}type A2000 = u32;\n{constants}const C2000: u32 = 1;")
    assert {each.code for each in outcome.diagnostics} <= {"E0108"}


def test_huge_numbers_and_patterns_are_bounded(folder: Path) -> None:
    digits = "9" * 100_000
    survives(
        folder, f"module m; const A: u64 = {digits}; const B: f64 = {digits}; const C: duration = {digits}d;"
    )
    nested = "(" * 400 + "a" + ")*" * 400
    survives(folder, f'module m; struct A {{ a: string @pattern("{nested}"); }}')


def test_control_characters_never_reach_the_terminal(folder: Path) -> None:
    outcome = survives(folder, 'module m; struct A { x: \x1b[31mred; y: "\x07\u202e"; }')
    text = render_text(outcome.diagnostics)
    assert outcome.diagnostics
    assert not any(ord(c) < 32 and c != "\n" for c in text)
    assert "\u202e" not in text
