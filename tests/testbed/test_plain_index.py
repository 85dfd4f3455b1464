"""The plain index answers as its specification says; the reference here is a loop over all documents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.plain_index import Hit, PlainIndex, document_terms, merge, tokens
from corpus.scd import Document


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" -- ", []),
        ("The cat's 2nd hat", ["the", "cat", "s", "2nd", "hat"]),
        ("naïve café", ["na", "ve", "caf"]),  # a non-ASCII letter separates
        ("\u212a and \u0130x", ["and", "x"]),  # Kelvin sign, dotted I: no ASCII letter comes of them
        ("a_b\x00C\tD", ["a", "b", "c", "d"]),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


def test_hits_are_ranked_by_score_then_by_document_number() -> None:
    index = PlainIndex(
        [
            Document(9, "book", "a book about a book"),
            Document(3, "reader", "one who reads the book"),
            Document(5, "at", "book"),
            Document(1, "nothing", "of the sort"),
        ]
    )

    assert index.query("Book", 10) == [Hit(9, 3), Hit(3, 1), Hit(5, 1)]
    assert index.query("book at book", 2) == [Hit(9, 3), Hit(5, 2)]
    assert index.query("unheard", 10) == []
    assert index.query("", 10) == []
    assert index.query("book", 0) == []
    assert index.frequency("book") == 3
    assert len(index) == 4


def test_a_document_is_indexed_once() -> None:
    index = PlainIndex([Document(1, "a", "b")])

    with pytest.raises(ValueError, match="document 1 is in the index already"):
        index.add(Document(1, "a", "b"))


words = st.sampled_from(["a", "the", "book", "at", "Cat", "é"])
texts = st.lists(words, max_size=6).map(" ".join)
collections = st.lists(
    st.builds(Document, st.integers(0, 99), texts, texts),
    unique_by=lambda document: document.doc,
    max_size=20,
)


@given(collections, texts, st.integers(0, 8))
def test_an_answer_is_what_a_loop_over_all_documents_finds(
    documents: list[Document], text: str, limit: int
) -> None:
    asked = set(tokens(text))
    scores = {d.doc: sum(term in asked for term in document_terms(d)) for d in documents}
    expected = sorted(((-score, doc) for doc, score in scores.items() if score))[:limit]

    assert PlainIndex(documents).query(text, limit) == [Hit(doc, -negative) for negative, doc in expected]


@given(collections, texts, st.integers(0, 8))
def test_the_merged_answers_of_two_halves_are_the_answer_of_the_whole(
    documents: list[Document], text: str, limit: int
) -> None:
    halves = [PlainIndex(documents[::2]), PlainIndex(documents[1::2])]

    merged = merge((half.query(text, limit) for half in halves), limit)

    assert merged == PlainIndex(documents).query(text, limit)
