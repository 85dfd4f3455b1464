"""What every answer must be, from the plain index; and what makes of a Main's words an answer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from corpus.plain_index import Hit, PlainIndex, merge
from corpus.scd import Document, read_scd
from driver.child import DemoError


@dataclass(frozen=True, slots=True)
class Traffic:
    calls: int
    messages: int
    sent: int
    received: int

    def __add__(self, other: "Traffic") -> "Traffic":
        return Traffic(
            self.calls + other.calls,
            self.messages + other.messages,
            self.sent + other.sent,
            self.received + other.received,
        )

    @classmethod
    def parse(cls, fields: Sequence[str]) -> "Traffic":
        calls, messages, sent, received = map(int, fields)
        return cls(calls, messages, sent, received)


@dataclass(slots=True)
class Answer:
    hits: list[Hit] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)  # collection: code and execution


def parse_answers(lines: Iterable[list[str]]) -> tuple[dict[str, Answer], Traffic]:
    answers: dict[str, Answer] = {}
    answer, traffic = Answer(), Traffic(0, 0, 0, 0)
    for kind, *fields in lines:
        if kind == "query":
            answer = answers[fields[0]] = Answer()
        elif kind == "skipped":
            answer.skipped[fields[0]] = " ".join(fields[1:])
        elif kind == "hit":
            doc, score, title, content = fields
            answer.hits.append(Hit(int(doc), int(score)))
            answer.documents.append(Document(int(doc), title, content))
        elif kind == "traffic":
            traffic = Traffic.parse(fields)
    return answers, traffic


class Truth:
    """The collections' documents and plain indexes."""

    def __init__(self, files: dict[str, Path]) -> None:
        self.documents: dict[int, Document] = {}
        self._indexes: dict[str, PlainIndex] = {}
        self._known: dict[tuple[str, str, int], list[Hit]] = {}
        for collection, path in files.items():
            documents = list(read_scd(path))
            self.documents.update((document.doc, document) for document in documents)
            self._indexes[collection] = PlainIndex(documents)

    def size(self, collection: str) -> int:
        return len(self._indexes[collection])

    def check(
        self, who: str, answers: dict[str, Answer], queries: list[str], served: list[str], limit: int
    ) -> None:
        """Raises DemoError unless there is a right answer to every query, over the collections served."""
        for text in queries:
            if text not in answers:
                raise DemoError(f"{who}: no answer to '{text}'")
            answer = answers[text]
            expected = merge((self._hits(text, collection, limit) for collection in served), limit)
            if answer.hits != expected:
                raise DemoError(f"{who}: '{text}': {_difference(answer.hits, expected)}")
            for document in answer.documents:
                if document != self.documents[document.doc]:
                    raise DemoError(f"{who}: '{text}': document {document.doc} differs from its file")

    def _hits(self, text: str, collection: str, limit: int) -> list[Hit]:
        key = (text, collection, limit)
        if key not in self._known:
            self._known[key] = self._indexes[collection].query(text, limit)
        return self._known[key]


def _difference(hits: list[Hit], expected: list[Hit]) -> str:
    for rank, (hit, right) in enumerate(zip(hits, expected, strict=False), start=1):
        if hit != right:
            return f"hit {rank} is {hit}, but the plain index has {right}"
    return f"{len(hits)} hits, but the plain index has {len(expected)}"
