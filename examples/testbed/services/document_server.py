"""The document server: keeps documents, and as a client of the others has them analyzed and indexed.

python -m services.document_server --controller mf://HOST:PORT

Its address on standard output says that it listens. cpp/documents.cpp is the same service in C++.
Handlers run on several threads; a collection is immutable once it is loaded.
"""

import argparse
from pathlib import Path
from time import perf_counter_ns

import mf
from corpus.scd import ScdError, read_scd
from mf.codec.times import Duration
from services.traffic import add_calls
from services.ways import CALLS_PER_MESSAGE, call_all
from testbed.document import (
    Document,
    DocumentsServant,
    IndexingFailed,
    IndexingReport,
    NoSuchDocument,
    Traffic,
    UnreadableFile,
    Way,
)
from testbed.index import INDEX_SERVICE, DuplicateDocument, IndexAddRequest, IndexClient
from testbed.text import ANALYZER_SERVICE, AnalyzerClient, AnalyzerTokensRequest


class Documents(DocumentsServant):
    def __init__(self, client: mf.Client) -> None:
        self._analyzer = AnalyzerClient(client)
        self._index = IndexClient(client)
        self._collections: dict[str, dict[int, Document]] = {}

    def load(self, collection: str, path: str) -> int:
        try:
            documents = {
                document.doc: Document(document.doc, document.title, document.content)
                for document in read_scd(Path(path))
            }
        except (OSError, ScdError) as error:
            raise UnreadableFile(str(error)) from None
        self._collections[collection] = documents
        return len(documents)

    def index(self, collection: str, way: Way) -> IndexingReport:
        documents = self._collections.get(collection)
        if documents is None:
            raise IndexingFailed(collection, "no documents are loaded for it; call load() first")
        try:
            return self._index_documents(collection, list(documents.values()), way)
        except mf.Error as error:
            raise IndexingFailed(collection, str(error)) from None
        except DuplicateDocument as error:
            raise IndexingFailed(collection, f"document {error.doc} is in the index already") from None

    def get(self, doc: int) -> Document:
        for documents in self._collections.values():
            if doc in documents:
                return documents[doc]
        raise NoSuchDocument(doc)

    def _index_documents(self, collection: str, documents: list[Document], way: Way) -> IndexingReport:
        analyzer, index = self._analyzer, self._index.at(collection)
        texts = [AnalyzerTokensRequest(f"{document.title}\n{document.content}") for document in documents]
        start = perf_counter_ns()
        terms = call_all(
            way,
            texts,
            lambda request: analyzer.tokens(request.text),
            analyzer.tokens_batch,
            analyzer.tokens_bulk,
        )
        analyzed = perf_counter_ns()
        additions = [
            IndexAddRequest(document.doc, of_document)
            for document, of_document in zip(documents, terms, strict=True)
        ]
        added = call_all(
            way,
            additions,
            lambda request: index.add(request.doc, request.terms),
            index.add_batch,
            index.add_bulk,
        )
        indexed = perf_counter_ns()
        traffic = Traffic()
        add_calls(traffic, ANALYZER_SERVICE, "tokens", texts, terms, CALLS_PER_MESSAGE[way])
        add_calls(traffic, INDEX_SERVICE, "add", additions, added, CALLS_PER_MESSAGE[way])
        return IndexingReport(
            len(documents), Duration(analyzed - start), Duration(indexed - analyzed), traffic
        )


def main() -> None:
    parser = argparse.ArgumentParser(description="The testbed's document server")
    parser.add_argument("--controller", required=True, metavar="mf://HOST:PORT")
    arguments = parser.parse_args()
    with mf.Client(arguments.controller) as others:
        server = mf.Server(controller=arguments.controller)
        server.offer(Documents(others))
        server.start()
        print(server.address, flush=True)
        server.run()


if __name__ == "__main__":
    main()
