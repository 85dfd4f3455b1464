"""SCD files: what is written is read back, and every mistake is named with its line."""

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.scd import MAX_LINE, Document, ScdError, parse_scd, read_scd, write_scd

GOOD = b"<DOCID>7\n<Title>seven\n<Content>after six\n"


def parse(data: bytes) -> list[Document]:
    return list(parse_scd(io.BytesIO(data)))


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    documents = [
        Document(1, "one, unit", 'the "smallest" <b>whole</b> number'),
        Document(4294967295, "", "é"),
    ]

    assert write_scd(tmp_path / "x.scd", documents) == 2

    assert list(read_scd(tmp_path / "x.scd")) == documents


texts = st.text(max_size=60)


@given(st.lists(st.builds(Document, st.integers(0, 2**32 - 1), texts, texts), unique_by=lambda d: d.doc))
def test_any_document_survives_but_for_its_white_space(
    tmp_path_factory: pytest.TempPathFactory, documents: list[Document]
) -> None:
    path = tmp_path_factory.mktemp("scd") / "x.scd"
    write_scd(path, documents)

    assert list(read_scd(path)) == [
        Document(d.doc, " ".join(d.title.split()), " ".join(d.content.split())) for d in documents
    ]


def test_a_text_goes_on_until_the_next_tag_and_line_ends_may_be_those_of_dos() -> None:
    (document,) = parse(b"\n<DOCID> 7 \r\n<Title>seven\r\n<Content>after six\r\n\r\n <Title>-like\r\n")

    assert document == Document(7, "seven", "after six\n\n <Title>-like")


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        (b"hello\n" + GOOD, 1, "text before the first <DOCID>"),
        (b"\n<Title>x\n" + GOOD, 2, "<Title> before the first <DOCID>"),
        (GOOD + b"<DOCID>x1\n<Title>a\n<Content>b\n", 4, "not 'x1'"),
        (GOOD + b"<DOCID>4294967296\n<Title>a\n<Content>b\n", 4, "up to 4294967295"),
        (GOOD + "<DOCID>٣\n<Title>a\n<Content>b\n".encode(), 4, "whole number"),
        (GOOD + b"<DOCID>-1\n<Title>a\n<Content>b\n", 4, "whole number"),
        (GOOD + GOOD, 4, "DOCID 7 was used before"),
        (GOOD + b"<DOCID>8\n<Content>b\n", 5, "<Content> comes where <Title> is expected"),
        (GOOD + b"<DOCID>8\n<Title>a\n", 4, "has no <Content>"),
        (GOOD + b"<DOCID>8\n<DOCID>9\n<Title>a\n<Content>b\n", 4, "has no <Title>"),
        (b"<DOCID>8\n<Title>a\n<Title>a\n<Content>b\n", 3, "<Title> comes where <Content> is expected"),
        (GOOD + b"<Content>again\n", 4, "<Content> comes where <DOCID> is expected"),
        (b"<DOCID>8\n<Titel>a\n<Content>b\n", 2, "<Titel> is no field"),
        (b"<DOCID>8\n<Title>a\n<Content>b\xff\n", 3, "byte 11 of this line is not UTF-8"),
        (b"<DOCID>8\n<Title>" + b"a" * MAX_LINE + b"\n<Content>b\n", 2, "more than"),
    ],
)
def test_a_mistake_is_named_with_its_line(data: bytes, line: int, message: str) -> None:
    with pytest.raises(ScdError) as caught:
        parse(data)

    assert caught.value.line == line
    assert str(caught.value).startswith(f"scd:{line}: ")
    assert message in str(caught.value)


def test_with_a_callback_a_broken_record_is_reported_once_and_the_others_are_kept() -> None:
    errors: list[ScdError] = []
    data = (
        b"<DOCID>1\n<Title>a\n<Content>b\n"
        b"<DOCID>2\n<Titel>a\n<Content>b\n<Title>c\n"
        b"<DOCID>3\n<Title>" + b"x" * (3 * MAX_LINE) + b"\n<Content>c\n"
        b"<DOCID>4\n<Title>a\n"
        b"<DOCID>1\n<Title>a\n<Content>b\n"
        b"<DOCID>5\n<Title>d\n<Content>e\n"
    )

    documents = list(parse_scd(io.BytesIO(data), on_error=errors.append))

    assert [document.doc for document in documents] == [1, 5]
    assert [error.line for error in errors] == [5, 9, 11, 13]


@given(
    st.binary(max_size=200)
    | st.lists(st.sampled_from([b"<DOCID>", b"<Title>", b"<Content>", b"1", b"\n", b"\xff", b"x"])).map(
        b"".join
    )
)
def test_no_bytes_raise_anything_but_a_scd_error(data: bytes) -> None:
    errors: list[ScdError] = []

    documents = list(parse_scd(io.BytesIO(data), on_error=errors.append))

    assert all(0 <= document.doc < 2**32 for document in documents)
    assert len(documents) + len(errors) <= data.count(b"\n") + 1
    assert documents or errors or not data.strip()
