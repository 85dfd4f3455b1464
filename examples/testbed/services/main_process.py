"""Main, which asks the queries: their terms from the text analysis, hits from the index of one or several
collections, and each hit's document.

python -m services.main_process --controller mf://HOST:PORT --query TEXT [--query TEXT]...

Commands on standard input and answers on standard output as cpp/commands.hpp says. A collection that does not
answer is skipped and named; the others are served.
"""

import argparse
import heapq
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from time import perf_counter_ns

import mf
from services.traffic import add_calls
from services.ways import CALLS_PER_MESSAGE, call_all
from testbed.document import DOCUMENTS_SERVICE, Document, DocumentsClient, DocumentsGetRequest, Traffic, Way
from testbed.index import INDEX_SERVICE, Hit, IndexClient, IndexQueryRequest
from testbed.text import ANALYZER_SERVICE, AnalyzerClient, AnalyzerTokensRequest

WAYS = {"single": Way.single, "message": Way.message_batch, "application": Way.application_batch}


@dataclass(frozen=True, slots=True)
class Question:
    way: Way  # of fetching the documents
    collections: list[str]
    limit: int


@dataclass(slots=True)
class Answer:
    hits: list[Hit] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)  # one a hit
    skipped: dict[str, mf.Error | mf.DeclaredError] = field(default_factory=dict)


class Questions:
    def __init__(self, client: mf.Client) -> None:
        self._analyzer = AnalyzerClient(client)
        self._index = IndexClient(client)
        self._documents = DocumentsClient(client)

    def ask(self, text: str, question: Question, count: Traffic | None = None) -> Answer:
        """Raises what the text analysis or the document server end with. Counting takes time of its own."""
        terms = self._analyzer.tokens(text)
        if count is not None:
            add_calls(count, ANALYZER_SERVICE, "tokens", [AnalyzerTokensRequest(text)], [terms], 1)
        answer = self._find(terms, question, count)
        # Document numbers are unique, so the best of each collection's best are the best of all.
        answer.hits = heapq.nsmallest(question.limit, answer.hits, key=lambda hit: (-hit.score, hit.doc))
        answer.documents = self._fetch(answer.hits, question.way, count)
        return answer

    def _find(self, terms: list[str], question: Question, count: Traffic | None) -> Answer:
        answer = Answer()
        if len(question.collections) == 1:
            (collection,) = question.collections
            try:
                found = {collection: self._index.at(collection).query(terms, question.limit)}
            except mf.Error as failure:
                found = {}
                answer.skipped[collection] = failure
        else:
            outcomes = self._index.on(question.collections).query(terms, question.limit)
            found = outcomes.ok
            answer.skipped = outcomes.failed
        for hits in found.values():
            answer.hits += hits
            if count is not None:
                asked = IndexQueryRequest(terms, question.limit)
                add_calls(count, INDEX_SERVICE, "query", [asked], [hits], 1)
        return answer

    def _fetch(self, hits: list[Hit], way: Way, count: Traffic | None) -> list[Document]:
        requests = [DocumentsGetRequest(hit.doc) for hit in hits]
        documents = call_all(
            way,
            requests,
            lambda request: self._documents.get(request.doc),
            self._documents.get_batch,
            self._documents.get_bulk,
        )
        if count is not None:
            add_calls(count, DOCUMENTS_SERVICE, "get", requests, documents, CALLS_PER_MESSAGE[way])
        return documents


def _traffic(traffic: Traffic) -> str:
    return f"{traffic.calls}\t{traffic.messages}\t{traffic.sent}\t{traffic.received}"


class Commands:
    """One function a command; each gives its answer's lines."""

    def __init__(self, client: mf.Client, queries: list[str]) -> None:
        self._queries = queries
        self._questions = Questions(client)
        self._documents = DocumentsClient(client)
        self._index = IndexClient(client)

    def run(self, line: str) -> Iterator[str]:
        name, *words = line.split()
        commands: dict[str, Callable[..., Iterator[str]]] = {
            "load": self.load,
            "index": self.index,
            "stats": self.stats,
            "check": self.check,
            "time": self.time,
        }
        yield from commands[name](*words)

    def load(self, collection: str, path: str) -> Iterator[str]:
        yield f"loaded\t{self._documents.load(collection, path)}"

    def index(self, collection: str, way: str) -> Iterator[str]:
        self._index.at(collection).clear()
        report = self._documents.index(collection, WAYS[way])
        times = f"{report.analysis // 1000}\t{report.indexing // 1000}"
        yield f"indexed\t{report.documents}\t{times}\t{_traffic(report.traffic)}"

    def stats(self, collection: str) -> Iterator[str]:
        stats = self._index.at(collection).stats()
        yield f"stats\t{stats.documents}\t{stats.terms}"

    def check(self, way: str, collections: str, limit: str) -> Iterator[str]:
        question, count = Question(WAYS[way], collections.split(","), int(limit)), Traffic()
        for text in self._queries:
            answer = self._questions.ask(text, question, count)
            yield f"query\t{text}"
            for collection, failure in answer.skipped.items():
                if not isinstance(failure, mf.Error):
                    raise failure  # query() declares no errors
                yield f"skipped\t{collection}\t{failure.code.name}\t{failure.execution.name}"
            for hit, document in zip(answer.hits, answer.documents, strict=True):
                yield f"hit\t{hit.doc}\t{hit.score}\t{document.title}\t{document.content}"
        yield f"traffic\t{_traffic(count)}"

    def time(self, way: str, collections: str, limit: str, rounds: str) -> Iterator[str]:
        question = Question(WAYS[way], collections.split(","), int(limit))
        for text in self._queries:
            times = []
            for _ in range(int(rounds)):
                start = perf_counter_ns()
                self._questions.ask(text, question)
                times.append(perf_counter_ns() - start)
            yield f"time\t{text}\t{statistics.median_high(times) // 1000}"


def main() -> None:
    parser = argparse.ArgumentParser(description="The testbed's Main")
    parser.add_argument("--controller", required=True, metavar="mf://HOST:PORT")
    parser.add_argument("--query", action="append", default=[], metavar="TEXT", dest="queries")
    arguments = parser.parse_args()
    with mf.Client(arguments.controller) as client:
        commands = Commands(client, arguments.queries)
        for line in sys.stdin:
            try:
                for answer in commands.run(line):
                    sys.stdout.write(answer + "\n")
            except Exception as failure:  # the driver must hear of it, whatever it is
                sys.stdout.write(f"failed\t{type(failure).__name__}: {failure}\n")
            print("done", flush=True)


if __name__ == "__main__":
    main()
