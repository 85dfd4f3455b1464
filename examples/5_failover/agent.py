"""agent.py sia|mia COLLECTION CONTROLLER [LISTEN]: agent.cpp in Python."""

import sys

import mf
from sf1 import MiningServant, SearchServant


class Sia(SearchServant):
    def __init__(self, collection: str) -> None:
        self._collection = collection

    def search(self, word: str) -> list[str]:
        return [f"{word} in {self._collection}, page {page}" for page in (1, 7)]


class Mia(MiningServant):
    def __init__(self, collection: str) -> None:
        self._collection = collection

    def related(self, word: str) -> list[str]:
        return [f"{word}s", f"{self._collection} of {word}"]


role, collection, controller = sys.argv[1:4]
listen = sys.argv[4] if len(sys.argv) > 4 else "tcp://127.0.0.1:0"
server = mf.Server(listen, controller)  # clients get the port from the controller
server.offer(Sia(collection) if role == "sia" else Mia(collection), agent=collection)
server.start()
print(server.address, flush=True)
server.run()
