"""wordcount.py CONTROLLER count DOCUMENTS | work [PIECE]: counts the words of WordNet as MapReduce does.

The counter cuts the documents into pieces and keeps every worker of the group `wordcount` busy with one.
Workers may come and go, and be killed at any time: a piece whose worker is gone is given to another, and
counts once.
"""

import os
import signal
import sys
import time
from collections import Counter, deque
from contextlib import suppress
from itertools import islice

import mf
from corpus.plain_index import tokens
from corpus.wordnet import collection_documents
from mf import flex

GROUP = "wordcount"
COUNTER = "wordcount.counter"
PIECE = 100  # documents
LIMIT = 60.0
LOOK_AFTER = 0.5  # seconds without an answer, after which the counter looks which workers are gone


def glosses(documents: int) -> list[str]:
    return [document.content for document in islice(collection_documents("nouns"), documents)]


def words(texts: list[str]) -> dict[str, int]:
    """The map of one piece, with its words counted already."""
    return dict(Counter(word for text in texts for word in tokens(text)))


def work(where: str, last: int = 0) -> None:
    """`last`: the piece in the midst of which this worker is killed, to show what becomes of it."""
    with flex.Node(where, patience=LIMIT) as node:
        me = node.process(groups=[GROUP])
        me.send(dest=COUNTER, tag="ready").wait(LIMIT)
        print("ready", flush=True)
        pieces = 0
        while (m := me.recv(10 * LIMIT, src=COUNTER)).tag == "piece":
            pieces += 1
            if pieces == last:
                os.kill(os.getpid(), signal.SIGKILL)
            me.send(dest=COUNTER, tag="counted", number=m.number, counts=words(m.texts))


class Count:
    """What is open, which worker has what, and the words so far."""

    def __init__(self, me: flex.Process, texts: list[str]) -> None:
        self._me = me
        self._pieces = [texts[begin : begin + PIECE] for begin in range(0, len(texts), PIECE)]
        self._open = deque(range(len(self._pieces)))
        self._done: set[int] = set()
        self._busy: dict[str, int] = {}
        self.total: Counter[str] = Counter()

    @property
    def is_done(self) -> bool:
        return len(self._done) == len(self._pieces)

    def take(self, m: flex.Message) -> None:
        """A worker is ready, or has counted its piece: it gets the next one."""
        if m.tag == "counted":
            self._busy.pop(m.src, None)
            if m.number not in self._done:
                self._done.add(m.number)
                self.total.update(m.counts)
        while self._open and self._open[0] in self._done:
            self._open.popleft()
        if self._open and m.src not in self._busy:
            number = self._busy[m.src] = self._open.popleft()
            self._me.send(dest=m.src, tag="piece", number=number, texts=self._pieces[number])

    def look(self, present: set[str]) -> None:
        """The pieces of counters that have gone, or were not reached, are open again, and go to the next idle
        counter."""
        missed = {message.dest for lost in self._me.undelivered() for message in lost.messages}
        for name in [name for name in self._busy if name not in present or name in missed]:
            print(f"lost {name}", flush=True)
            self._open.appendleft(self._busy.pop(name))
        for name in present - self._busy.keys():
            self.take(flex.Message(name, COUNTER, {"tag": "ready"}))


def members(node: flex.Node) -> set[str]:
    return {member.removeprefix(f"{GROUP}/") for member in node.members(GROUP)}


def count(where: str, documents: int) -> Counter[str]:
    with flex.Node(where, patience=2.0) as node:
        me = node.process(COUNTER)
        counted = Count(me, glosses(documents))
        until = time.monotonic() + 2 * LIMIT
        while not counted.is_done:
            if time.monotonic() > until:
                raise SystemExit("no process has counted anything for two minutes")
            try:
                counted.take(me.recv(LOOK_AFTER, tag=str))
                until = time.monotonic() + 2 * LIMIT
            except mf.Error as nothing:
                if nothing.code is not mf.Code.DEADLINE_EXCEEDED:
                    raise
                counted.look(members(node))
        if members(node):
            with suppress(flex.Undelivered):  # a worker that is gone needs no message
                me.send(dest=f"{GROUP}/*", tag="stop").wait(LIMIT)
        return counted.total


def main(where: str, role: str, *numbers: str) -> None:
    if role == "work":
        work(where, *map(int, numbers))
        return
    total = count(where, *map(int, numbers))
    print(f"{sum(total.values())} words, {len(total)} different")
    for word, times in sorted(total.items(), key=lambda entry: (-entry[1], entry[0]))[:5]:
        print(f"{times:7} {word}")


if __name__ == "__main__":
    main(*sys.argv[1:])
