"""The demo's judge: right answers pass, and each way to be wrong is found."""

from pathlib import Path

import pytest

from corpus.plain_index import Hit
from corpus.scd import Document, write_scd
from driver.child import DemoError
from driver.truth import Answer, Traffic, Truth, parse_answers

ONE = Document(1, "a book", "the book of one")
TWO = Document(2, "a tree", "no pages")


@pytest.fixture
def truth(tmp_path: Path) -> Truth:
    files = {"nouns": tmp_path / "nouns.scd", "others": tmp_path / "others.scd"}
    write_scd(files["nouns"], [ONE])
    write_scd(files["others"], [TWO])
    return Truth(files)


def right() -> Answer:
    return Answer([Hit(1, 1), Hit(2, 1)], [ONE, TWO])


def test_a_right_answer_passes(truth: Truth) -> None:
    truth.check("main", {"a": right()}, ["a"], ["nouns", "others"], 10)


def test_a_skipped_collection_is_not_expected(truth: Truth) -> None:
    truth.check("main", {"a": Answer([Hit(1, 1)], [ONE])}, ["a"], ["nouns"], 10)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer([Hit(1, 2), Hit(2, 1)], [ONE, TWO]), "hit 1 is"),
        (Answer([Hit(2, 1), Hit(1, 1)], [TWO, ONE]), "hit 1 is"),
        (Answer([Hit(1, 1)], [ONE]), "1 hits, but the plain index has 2"),
        (
            Answer([Hit(1, 1), Hit(2, 1)], [ONE, Document(2, "a tree", "cut")]),
            "document 2 differs from its file",
        ),
    ],
)
def test_a_wrong_answer_is_found(truth: Truth, answer: Answer, reason: str) -> None:
    with pytest.raises(DemoError, match=reason):
        truth.check("main", {"a": answer}, ["a"], ["nouns", "others"], 10)


def test_a_missing_answer_is_found(truth: Truth) -> None:
    with pytest.raises(DemoError, match="no answer to 'book'"):
        truth.check("main", {"a": right()}, ["a", "book"], ["nouns", "others"], 10)


def test_a_mains_lines_become_answers() -> None:
    lines = [
        ["query", "a"],
        ["skipped", "others", "UNAVAILABLE", "NOT_EXECUTED"],
        ["hit", "1", "2", "a book", "the book of one"],
        ["query", "zebra"],
        ["traffic", "3", "2", "48", "72"],
    ]

    answers, traffic = parse_answers(lines)

    assert answers == {
        "a": Answer([Hit(1, 2)], [ONE], {"others": "UNAVAILABLE NOT_EXECUTED"}),
        "zebra": Answer(),
    }
    assert traffic == Traffic(3, 2, 48, 72)
