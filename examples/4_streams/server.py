"""server.py [tcp://HOST:PORT]"""

import sys
from collections.abc import Iterator
from threading import Condition

import mf
from glosses import LibraryServant, Match, NoSuchFile, Searched, Stored


class Library(LibraryServant):
    def __init__(self) -> None:
        self._files: dict[str, str] = {}
        self._searches = 0  # under way
        self._last = Searched()
        self._ended = Condition()

    def upload(self, name: str, pieces: Iterator[bytes]) -> Stored:
        """Memory is bounded by what is kept: the stream itself holds one window of bytes."""
        text = b"".join(pieces).decode()
        self._files[name] = text
        return Stored(size=len(text.encode()), lines=text.count("\n"), hash=mf.hash64(text))

    def find(self, name: str, letters: str) -> Iterator[Match]:
        text = self._files.get(name)
        if text is None:
            raise NoSuchFile(name)
        with self._ended:
            self._searches += 1
        searched = Searched()
        try:
            for number, line in enumerate(text.removesuffix("\n").split("\n"), start=1):
                if letters in line:
                    # This waits while the client does not read: no more is searched than it takes.
                    yield Match(number, line)
                    searched.found += 1
            searched.complete = True
        finally:  # a client that cancels the call closes the generator
            with self._ended:
                self._last = searched
                self._searches -= 1
                self._ended.notify_all()

    def last_search(self) -> Searched:
        with self._ended:
            self._ended.wait_for(lambda: self._searches == 0)
            return self._last


server = mf.Server(sys.argv[1] if len(sys.argv) > 1 else "tcp://127.0.0.1:7403")
server.offer(Library())
server.start()
print(server.address, flush=True)
server.run()
