"""A library in this process: a server at a free port, with the shelves that are named."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import mf
from guide import NoSuchBook, ShelfServant


class Shelf(ShelfServant):
    def __init__(self) -> None:
        self._books = {"Emma": 3, "Persuasion": 1}
        self._given_up = 0
        self._lock = threading.Lock()

    def copies(self, title: str) -> int:
        if title not in self._books:
            raise NoSuchBook(title)
        return self._books[title]

    def lend(self, title: str) -> int:
        with self._lock:
            self._books[title] = self.copies(title) - 1
            return self._books[title]

    def titles(self) -> Iterator[str]:
        yield from sorted(self._books)

    def give_back(self, titles: Iterator[str]) -> int:
        taken = 0
        for title in titles:
            with self._lock:
                self._books[title] = self.copies(title) + 1
            taken += 1
        return taken

    def count_pages(self) -> int:
        looked = 0
        while not mf.current_call().cancelled:
            time.sleep(0.001)
            looked += 1
        with self._lock:
            self._given_up += 1
        return looked

    def given_up(self) -> int:
        return self._given_up


@contextmanager
def library(*shelves: str) -> Iterator[str]:
    """The address of the server, which stops behind the block."""
    server = mf.Server("tcp://127.0.0.1:0")
    for shelf in shelves:
        server.offer(Shelf(), agent=shelf)
    server.start()
    try:
        yield str(server.address)
    finally:
        server.stop()
