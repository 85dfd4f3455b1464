"""`@pattern` runs in linear time, with the verdicts of `re`.

The test of C++, tests/cpp/codec/pattern_test.cpp, reads the same vectors.
"""

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from mf.codec import rules
from mf.patterns import Matcher
from mf.patterns.matcher import _Program
from mf.patterns.steps import steps_of
from tests.vectors.make_patterns import made

VECTORS = json.loads((Path(__file__).parents[2] / "vectors/patterns.json").read_text())["patterns"]
PATTERNS = [
    "",
    "[a-z][a-z0-9_]*",
    "([a-z0-9]+[-.]?)+",
    "[a-z]+(-[a-z0-9]+)*",
    r"\w+|\s?",
    "(a|b|ab)*(c|bcd)(d*)",
    "(a?){3}a{3}",
    "(a*)*",
    "(a|a)*b?",
    "(?i)q[^x]a{1,3}?",
    r"(?m)^a$(\n^b$)*",
    r"^\bab\b.?$",
    r"(?s).a.*|\Bb\B",
    r"a\Z|\Ab?",
    r"[^\W\d_]{0,2}[é-ü]?",
    "x*x*x*y?",
]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda each: each["pattern"])
def test_a_pattern_has_the_steps_and_the_verdicts_that_both_languages_have(vector: dict[str, Any]) -> None:
    steps = steps_of(vector["pattern"])
    assert [[step.kind.value, step.first, step.second] for step in steps] == vector["steps"]
    for text, verdict in vector["texts"]:
        assert (Matcher(vector["pattern"]).fullmatch(text) is not None) == verdict, text[:40]
        assert (_Program(steps).run(text) is not None) == verdict, text[:40]


def test_the_vectors_are_those_that_re_gives() -> None:
    assert made()["patterns"] == VECTORS


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_has_the_verdicts_of_re(pattern: str) -> None:
    draw = random.Random(pattern)
    expected, found, program = re.compile(pattern, re.ASCII), Matcher(pattern), _Program(steps_of(pattern))
    for _ in range(2000):
        text = "".join(draw.choice("aabbcdqxyA9-_ .\né") for _ in range(draw.randrange(7)))
        verdict = expected.fullmatch(text) is not None
        assert (found.fullmatch(text) is not None) == verdict, text
        assert (program.run(text) is not None) == verdict, text


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("([a-z0-9]+[-.]?)+", "a" * 56 + "!"),
        ("(a*)*", "a" * 5000 + "!"),
        ("(a|a)*", "a" * 5000 + "!"),
        ("(a|b|ab)*", "ab" * 5000 + "!"),
        ("(a?){100}a{100}", "a" * 99),
        (r"(\w+\b ?)*", "ab " * 2000 + "!"),
        ("x*x*x*x*x*y", "x" * 3000),
        ("[a-z]+(-[a-z0-9]+)*", "a" + "-a" * 50_000 + "!"),
    ],
)
def test_a_text_that_makes_matchers_backtrack_takes_linear_time(pattern: str, text: str) -> None:
    """One that goes back would not be done before the test's time is over."""
    assert rules.Matches(pattern).violation(text) == f"{text[:40]!a} does not match {pattern!r}"


def test_re_matches_a_pattern_whose_next_character_always_decides() -> None:
    assert isinstance(Matcher("[a-z][a-z0-9_]*").fullmatch, type(re.compile("").fullmatch))
    assert Matcher("([a-z]+[-.]?)+").fullmatch.__self__.__class__ is _Program  # type: ignore[attr-defined]
