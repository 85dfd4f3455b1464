"""Writes patterns.json: patterns, their steps, and which texts they match. The verdicts are those of Python's
`re`, in which neither matcher has a part; a text on which `re` would go back without end has its verdict
from here.

    python -m tests.vectors.make_patterns
"""

import json
import random
import re
from pathlib import Path

from mf.patterns.steps import steps_of

DRAWN = [
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
    "(?i)[k-s]é?",
    r"(?m)^a$(\n^b$)*",
    r"^\bab\b.?$",
    r"(?s).a.*|\Bb\B",
    r"a\Z|\Ab?",
    r"a$",
    r"[^\W\d_]{0,2}[é-ü]?",
    r"\D\S\d",
    "[^a]",
    ".",
    "x*x*x*y?",
    "日本[語话]?|\U0001f600+",
]
"""Each with texts that are drawn."""
LETTERS = "aabbcdqxyAKks9-_ .\né日本語\U0001f600"
GIVEN = {
    "(ab){2,3}c{0}d": ["ababd", "abababd", "abd", "ababcd", "ababababd"],
    r"[a-z]+\.[a-z]{2,3}": ["a.de", "a.d", "a.", ".de", "abc.com", "abc.coms", "a.de\n", "\na.de"],
    r"\d{4}-\d{2}-\d{2}": ["2026-11-28", "2026-1-28", "٢٠٢٦-11-28", "2026-11-280"],
    r"a.b": ["a\nb", "a\rb", "a\x00b", "a\x7fb", "a\U0010ffffb", "a\ud7ffb"],
    "(?s)a.b": ["a\nb", "a\n\nb"],
    r"\s+": [" \t\n\v\f\r", "\x1c", "\x85", "\u00a0", "\u2003"],
    r"\w+": ["az_AZ09", "é", "İ", "ſ"],
    "(?i)k": ["k", "K", "\u212a"],
    "(?i)[a-z]": ["ſ", "\u212a", "S", "["],
}
SLOW = {
    "([a-z0-9]+[-.]?)+": [("a" * 56 + "!", False), ("a" * 5000, True)],
    "(a*)*": [("a" * 5000 + "!", False), ("a" * 5000, True)],
    "(a|b|ab)*": [("ab" * 5000 + "!", False), ("ab" * 5000, True)],
    "(a?){100}a{100}": [("a" * 99, False), ("a" * 100, True), ("a" * 200, True), ("a" * 201, False)],
    r"(\w+\b ?)*": [("ab " * 2000 + "!", False), ("ab " * 2000, True)],
    "x*x*x*x*x*y": [("x" * 3000, False), ("x" * 3000 + "y", True)],
}


def texts_of(pattern: str) -> list[tuple[str, bool]]:
    if pattern in SLOW:
        return SLOW[pattern]
    draw = random.Random(pattern)
    letters = LETTERS + re.sub(r"\W", "", pattern) * 6
    texts = GIVEN.get(pattern) or ["".join(draw.choices(letters, k=draw.randrange(9))) for _ in range(2000)]
    expected = re.compile(pattern, re.ASCII)
    verdicts = {text: expected.fullmatch(text) is not None for text in ["", *texts]}
    matched = [text for text, verdict in verdicts.items() if verdict][:20]
    others = [text for text, verdict in verdicts.items() if not verdict][:20]
    return [(text, verdicts[text]) for text in verdicts if text in {*matched, *others}]


def made() -> dict[str, object]:
    patterns = [
        {
            "pattern": pattern,
            "steps": [[step.kind.value, step.first, step.second] for step in steps_of(pattern)],
            "texts": [[text, verdict] for text, verdict in texts_of(pattern)],
        }
        for pattern in dict.fromkeys([*(each for each in DRAWN if each not in SLOW), *GIVEN, *SLOW])
    ]
    about = "Patterns, the steps that the compiler makes of them, and whether they match the whole of texts."
    return {"about": about, "patterns": patterns}


if __name__ == "__main__":
    path = Path(__file__).parent / "patterns.json"
    path.write_text(json.dumps(made(), indent=1) + "\n")
