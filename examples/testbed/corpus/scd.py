"""SCD, the document format of the report's search engine: a text file of records in UTF-8.

    record   = "<DOCID>" number  "<Title>" text  "<Content>" text     in this order, each tag opens a line
    number   = a decimal u32, unique in its file
    text     = the rest of the line, and every following line that does not open with a tag
    tag      = "<" letters ">"

White space around a text does not count. The reader holds one record at a time, and names the line of every
mistake. Given a callback it reports a broken record, skips to the next <DOCID> and goes on.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

MAX_DOC = 2**32 - 1
MAX_LINE = 1 << 20  # bytes; a longer line is a mistake, not a reason to read on

FIELDS = ("DOCID", "Title", "Content")
_TAG = re.compile(r"<([A-Za-z]+)>")


@dataclass(frozen=True, slots=True)
class Document:
    doc: int
    title: str
    content: str


class ScdError(ValueError):
    """One mistake in an SCD file, and the line (from 1) where it stands."""

    def __init__(self, name: str, line: int, message: str) -> None:
        super().__init__(f"{name}:{line}: {message}")
        self.name = name
        self.line = line


@dataclass(slots=True)
class _Field:
    tag: str
    line: int
    text: str


def write_scd(path: Path, documents: Iterable[Document]) -> int:
    """Writes a new file and returns how many documents it holds. Runs of white space become one space."""
    count = 0
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for document in documents:
            title, content = " ".join(document.title.split()), " ".join(document.content.split())
            out.write(f"<DOCID>{document.doc}\n<Title>{title}\n<Content>{content}\n")
            count += 1
    return count


def read_scd(path: Path, on_error: Callable[[ScdError], None] | None = None) -> Iterator[Document]:
    """The documents of a file, in order. Without `on_error` the first mistake is raised."""
    with path.open("rb") as stream:
        yield from parse_scd(stream, str(path), on_error)


def parse_scd(
    stream: BinaryIO, name: str = "scd", on_error: Callable[[ScdError], None] | None = None
) -> Iterator[Document]:
    seen: set[int] = set()
    for record in _records(stream, name, on_error):
        try:
            document = _document(record, name)
            if document.doc in seen:
                raise ScdError(name, record[0].line, f"DOCID {document.doc} was used before in this file")
        except ScdError as error:
            if on_error is None:
                raise
            on_error(error)
            continue
        seen.add(document.doc)
        yield document


def _records(
    stream: BinaryIO, name: str, on_error: Callable[[ScdError], None] | None
) -> Iterator[list[_Field]]:
    """The fields of one record at a time; after a broken line, nothing up to the next <DOCID>."""
    record: list[_Field] = []
    skipping = False
    for number, raw in _lines(stream):
        try:
            text = _decode(raw, name, number)
            tag = _TAG.match(text)
            if tag is not None and tag[1] == "DOCID":
                if record:
                    yield record
                record, skipping = [_Field("DOCID", number, text[tag.end() :])], False
            elif skipping:
                continue
            elif tag is not None:
                _start_field(record, tag, text, name, number)
            elif record:
                record[-1].text += "\n" + text
            elif text.strip():
                raise ScdError(name, number, "text before the first <DOCID>")
        except ScdError as error:
            if on_error is None:
                raise
            on_error(error)
            record, skipping = [], True
    if record:
        yield record


def _start_field(record: list[_Field], tag: re.Match[str], text: str, name: str, number: int) -> None:
    if tag[1] not in FIELDS:
        known = ", ".join(f"<{field}>" for field in FIELDS)
        raise ScdError(name, number, f"<{tag[1]}> is no field of a record; the fields are {known}")
    if not record:
        raise ScdError(name, number, f"<{tag[1]}> before the first <DOCID>")
    expected = FIELDS[len(record)] if len(record) < len(FIELDS) else "DOCID"
    if tag[1] != expected:
        raise ScdError(name, number, f"<{tag[1]}> comes where <{expected}> is expected")
    record.append(_Field(tag[1], number, text[tag.end() :]))


def _document(record: list[_Field], name: str) -> Document:
    first = record[0]
    if len(record) < len(FIELDS):
        raise ScdError(name, first.line, f"the record that starts here has no <{FIELDS[len(record)]}>")
    digits = first.text.strip()
    # isdecimal() alone would let other scripts' digits pass.
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 10 and int(digits) <= MAX_DOC):
        raise ScdError(name, first.line, f"DOCID must be a whole number up to {MAX_DOC}, not '{digits[:40]}'")
    return Document(int(digits), record[1].text.strip(), record[2].text.strip())


def _lines(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Numbered lines without their ends; of an overlong line only the start, enough to see that it is."""
    number = 0
    while raw := stream.readline(MAX_LINE + 1):
        number += 1
        rest = raw
        while len(rest) > MAX_LINE and not rest.endswith(b"\n"):
            rest = stream.readline(MAX_LINE + 1)
        yield number, raw.rstrip(b"\r\n")


def _decode(raw: bytes, name: str, number: int) -> str:
    if len(raw) > MAX_LINE:
        raise ScdError(name, number, f"a line of more than {MAX_LINE} bytes")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ScdError(name, number, f"byte {error.start + 1} of this line is not UTF-8") from None
