"""Access files: the cases that C++ runs, too."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest

import mf
from mf.access.glob import glob_matches, globs_overlap
from mf.access.parse import load_rules, parse_rules
from mf.access.rules import Action, Rules, Wish
from mf.core.identity import NO_IDENTITY

VECTORS = Path(__file__).parents[2] / "vectors" / "access"


class Case(NamedTuple):
    name: str
    file: str
    expected: tuple[str, ...]


def cases(file: str) -> list[Case]:
    return list(read_cases(file))


def read_cases(file: str) -> Iterator[Case]:
    for case in (VECTORS / file).read_text().split("\n== ")[1:]:
        name, *lines = case.splitlines()
        text = "".join(f"{line[2:]}\n" for line in lines if line.startswith("| "))
        expected = tuple(line for line in lines if line and line[0] not in "|#")
        yield Case(name, text, expected)


def identity(name: str) -> mf.Identity:
    kinds = {"uid": mf.IdentityKind.UID, "token": mf.IdentityKind.TOKEN}
    kind = kinds.get(name.split(":")[0], mf.IdentityKind.CERTIFICATE)
    return NO_IDENTITY if name == "none" else mf.Identity(kind, name)


def decided(rules: Rules, question: str) -> str:
    who, action, *words = question.split()
    parts = {"": ""}
    if words and words[0] not in ("per", "at", "weight"):
        parts["object"] = words.pop(0)
    parts.update(zip(words[::2], words[1::2], strict=True))
    wish = Wish(
        Action(action),
        parts.get("object", ""),
        parts.get("per", ""),
        parts.get("at", ""),
        int(parts.get("weight", 1)),
    )
    decision = rules.decide(identity(who), wish)
    return f"{'allow' if decision.allowed else 'deny'} {decision.line}"


@pytest.mark.parametrize("case", cases("decisions.txt"), ids=lambda case: case.name)
def test_rules_decide_as_the_vectors_say(case: Case) -> None:
    rules = parse_rules(case.file.encode(), "access.conf")
    for line in case.expected:
        question, _, answer = line.partition(" -> ")
        assert decided(rules, question) == answer, line


@pytest.mark.parametrize("case", cases("mistakes.txt"), ids=lambda case: case.name)
def test_each_mistake_is_named_with_its_line(case: Case) -> None:
    with pytest.raises(mf.Error) as refused:
        parse_rules(case.file.encode(), "access.conf")
    assert refused.value.code is mf.Code.INVALID_ARGUMENT
    assert refused.value.message == "\n".join(f"access.conf:{line}" for line in case.expected)


def test_many_mistakes_are_counted() -> None:
    with pytest.raises(mf.Error) as refused:
        parse_rules(b"allow\n" * 50, "access.conf")
    assert refused.value.message.splitlines()[-1] == "access.conf: and 30 more"
    assert len(refused.value.message.splitlines()) == 21


@pytest.mark.parametrize(
    ("line", "why"),
    [(b"allow uid:1 call \xff", "the line is not UTF-8"), (b"allow a\0b", "the line holds a NUL character")],
)
def test_bytes_that_are_no_text_are_refused(line: bytes, why: str) -> None:
    with pytest.raises(mf.Error, match=f"a:1: {why}"):
        parse_rules(line, "a")


def test_a_file_is_read_and_its_mistakes_name_it(tmp_path: Path) -> None:
    path = tmp_path / "access.conf"
    path.write_text("allow uid:1 list\n")
    assert decided(load_rules(path), "uid:1 list") == "allow 1"
    path.write_text("allow uid:1 lst\n")
    with pytest.raises(mf.Error, match=f"{path}:1: 'lst' is no action; did you mean 'list'"):
        load_rules(path)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(mf.Error, match="cannot be read: No such file or directory") as refused:
        load_rules(tmp_path / "absent")
    assert refused.value.code is mf.Code.INVALID_ARGUMENT
    with pytest.raises(mf.Error, match="cannot be used: it is no regular file"):
        load_rules(tmp_path)


@pytest.mark.parametrize("mode", [0o664, 0o646, 0o666])
def test_a_file_that_others_may_write_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "access.conf"
    path.write_text("allow uid:1 list\n")
    path.chmod(mode)
    with pytest.raises(
        mf.Error, match=f"{path} cannot be used: others may write to it .mode {mode:04o}"
    ) as refused:
        load_rules(path)
    assert refused.value.code is mf.Code.INVALID_ARGUMENT
    path.chmod(0o644)
    assert decided(load_rules(path), "uid:1 list") == "allow 1"


def test_a_file_of_another_user_is_refused(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file to another user")
    path = tmp_path / "access.conf"
    path.write_text("allow uid:1 list\n")
    os.chown(path, 12345, 12345)
    with pytest.raises(mf.Error, match="its owner, user 12345, could replace it"):
        load_rules(path)


def test_a_byte_order_mark_is_skipped() -> None:
    assert decided(parse_rules(b"\xef\xbb\xbfallow uid:1 list", "a"), "uid:1 list") == "allow 1"


def test_carriage_returns_and_a_missing_last_newline_are_no_mistakes() -> None:
    rules = parse_rules(b"allow uid:1 call a.*\r\nallow uid:2 list", "a")
    assert decided(rules, "uid:1 call a.b") == "allow 1"
    assert decided(rules, "uid:2 list") == "allow 2"


def test_ten_thousand_lines_answer_like_one() -> None:
    lines = (
        f"allow spiffe://example.org/service{i} call sf1.module{i}.* per agent{i}\n" for i in range(10_000)
    )
    rules = parse_rules("".join(lines).encode(), "a")
    assert len(rules) == 10_000
    for i in (0, 77, 9_999):
        who = f"spiffe://example.org/service{i} call"
        assert decided(rules, f"{who} sf1.module{i}.Index.find per agent{i}") == f"allow {i + 1}"
        assert decided(rules, f"{who} sf1.module{i}x.Index.find per agent{i}") == "deny 0"


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("", "", True),
        ("*", "", True),
        ("a", "ab", False),
        ("a*", "a", True),
        ("*a", "ba", True),
        ("a*a", "a", False),
        ("a*a", "aa", True),
        ("a*b*a", "aba", True),
        ("a*b*b*a", "abxa", False),
        ("**", "x", True),
        ("*ab*ab", "abab", True),
        ("*ab*ab", "ab", False),
    ],
)
def test_stars_stand_for_any_characters(pattern: str, text: str, fits: bool) -> None:
    assert glob_matches(pattern, text) is fits


def test_patterns_overlap_if_there_is_a_text_that_both_match() -> None:
    """All patterns of at most four characters are compared with all texts of at most six."""

    def texts(letters: str, most: int) -> list[str]:
        return ["".join(each) for size in range(most + 1) for each in product(letters, repeat=size)]

    matched = {
        each: {text for text in texts("ab", 6) if glob_matches(each, text)} for each in texts("ab*", 4)
    }
    for one, other in product(matched, repeat=2):
        overlap = not matched[one].isdisjoint(matched[other])
        assert globs_overlap(one, other) is overlap, (one, other)
