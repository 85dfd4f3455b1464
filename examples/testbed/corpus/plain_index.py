"""A plain inverted index, specified to the last integer, to check the testbed's answers against.

The specification, which the services (C++ and Python) follow as well:

    token     a longest run of ASCII letters and digits in the UTF-8 bytes of a text, A-Z taken as a-z;
              every other byte separates, those of non-ASCII characters included. No stemming, no stop words.
    terms     of a document: the tokens of its title, then those of its content
    tf        how often a term stands among a document's terms
    query     a text; its terms are its tokens, each counted once, however often it stands there
    match     a document in which at least one term of the query stands
    score     of a match: the sum of tf over the terms of the query (an unsigned whole number)
    answer    the first `limit` matches by descending score, equal scores by ascending document number

The answer over several collections is the same rule over all their documents; since document numbers are
unique, merging the collections' answers by it gives exactly that.
"""

import heapq
import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from corpus.scd import Document

_TOKEN = re.compile(rb"[a-z0-9]+")


class Hit(NamedTuple):
    doc: int
    score: int


def tokens(text: str) -> list[str]:
    # bytes.lower() changes ASCII letters only; str.lower() would turn the Kelvin sign into a k.
    return [token.decode("ascii") for token in _TOKEN.findall(text.encode("utf-8").lower())]


def document_terms(document: Document) -> list[str]:
    return tokens(document.title) + tokens(document.content)


def _rank(hit: Hit) -> tuple[int, int]:
    return (-hit.score, hit.doc)


def merge(answers: Iterable[Iterable[Hit]], limit: int) -> list[Hit]:
    """One answer from those of several collections."""
    return heapq.nsmallest(limit, (hit for answer in answers for hit in answer), key=_rank)


class PlainIndex:
    def __init__(self, documents: Iterable[Document] = ()) -> None:
        self._postings: dict[str, dict[int, int]] = {}
        self._documents: set[int] = set()
        for document in documents:
            self.add(document)

    def __len__(self) -> int:
        return len(self._documents)

    def add(self, document: Document) -> None:
        if document.doc in self._documents:
            raise ValueError(f"document {document.doc} is in the index already")
        self._documents.add(document.doc)
        for term, tf in Counter(document_terms(document)).items():
            self._postings.setdefault(term, {})[document.doc] = tf

    def frequency(self, term: str) -> int:
        """In how many documents the term stands."""
        return len(self._postings.get(term, ()))

    def query(self, text: str, limit: int) -> list[Hit]:
        scores: Counter[int] = Counter()
        for term in set(tokens(text)):
            scores.update(self._postings.get(term, {}))
        return heapq.nsmallest(limit, (Hit(doc, score) for doc, score in scores.items()), key=_rank)
