"""The rules of interop.mfidl in Python: what servers answer by and clients expect.

cpp/servant.cpp is the same in C++; neither may know the other's language, or how a call has come.
"""

import time
from dataclasses import replace
from threading import Lock

from interop import (
    Cell,
    Everything,
    Hit,
    Language,
    Missing,
    Moment,
    Pair,
    Point,
    Rank,
    Refused,
    ShapesIn0Out2Result,
    ShapesIn1Out2Result,
    ShapesIn2Out2Result,
    ShapesIn3Out2Result,
    ShapesIn4Out2Result,
    ShapesIn5Out2Result,
    ShapesIn6Out2Result,
    ShapesServant,
    Tree,
)

import mf
from mf.codec.times import Timestamp


def length(text: str) -> int:
    return len(text.encode())


def weight(tree: Tree) -> int:
    """All numbers of a tree: its own, its children's, and twice what is on its left."""
    own = tree.value + sum(map(weight, tree.children))
    return own + 2 * weight(tree.left) if tree.left else own


class Room(ShapesServant):
    """Any number of threads may call; notes are kept in the order in which the calls ran."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = Lock()
        self._notes: list[int] = []

    def _leave(self, *numbers: int) -> None:
        with self._lock:
            self._notes += numbers

    def who(self) -> str:
        return self._name

    def take_notes(self) -> list[int]:
        with self._lock:
            notes, self._notes = self._notes, []
        return notes

    def in0_out0(self) -> None:
        self._leave(100)

    def in1_out0(self, a: str) -> None:
        self._leave(length(a))

    def in2_out0(self, a: int, b: Point) -> None:
        self._leave(10 * a + b.rank)

    def in3_out0(self, a: int, b: list[int], c: str) -> None:
        self._leave(a + sum(b) + length(c))

    def in4_out0(self, a: int, b: int, c: int, d: int) -> None:
        self._leave(a + b + c + d)

    def in5_out0(self, a: Pair, b: Pair | None, c: bytes, d: Rank, e: bool) -> None:
        self._leave(a.a + (b.b if b else -1) + len(c) + d + e)

    def in6_out0(self, a: float, b: float, c: float, d: float, e: float, f: float) -> None:
        self._leave(int(a + b + c + d + e + f))

    def in0_out1(self) -> int:
        return 4242

    def in1_out1(self, a: int) -> int:
        return a * 1_000_000_007

    def in2_out1(self, a: list[int], b: int) -> list[int]:
        return [each * b for each in reversed(a)]

    def in3_out1(self, a: float, b: float, c: float) -> str | None:
        return "more" if c > a + b else None

    def in4_out1(self, a: str, b: bytes, c: bool, d: float) -> float:
        return length(a) + len(b) / 4 + (0.5 if c else 0.0) + d

    def in5_out1(
        self, a: set[str], b: dict[str, int], c: Cell, d: Language, e: Rank | None
    ) -> dict[int, list[str]]:
        result: dict[int, list[str]] = {int(d): sorted(a)}
        for key in sorted(b):
            result.setdefault(b[key], []).append(key)
        result.setdefault(sum(c), []).append("no rank" if e is None else f"rank {int(e)}")
        return result

    def in6_out1(self, a: int, b: int, c: int, d: int, e: int, f: int) -> int:
        return a - b + c - d + e - f

    def in0_out2(self) -> ShapesIn0Out2Result:
        return ShapesIn0Out2Result(self._name, 7)

    def in1_out2(self, a: Moment) -> ShapesIn1Out2Result:
        return ShapesIn1Out2Result(replace(a, at=Timestamp(a.at + a.ttl)), a.rank)

    def in2_out2(self, a: Point, b: Point) -> ShapesIn2Out2Result:
        return ShapesIn2Out2Result(Point((a.x + b.x) / 2, (a.y + b.y) / 2, b.rank, a.visible), a == b)

    def in3_out2(self, a: str, b: str, c: int) -> ShapesIn3Out2Result:
        return ShapesIn3Out2Result(f"{a}-{b}", [b] * c)

    def in4_out2(self, a: int, b: int, c: int, d: float) -> ShapesIn4Out2Result:
        return ShapesIn4Out2Result(a + b + c, a * d)

    def in5_out2(
        self, a: Tree, b: Hit, c: list[Hit], d: dict[Rank, Hit], e: int | None
    ) -> ShapesIn5Out2Result:
        best = max([b, *c, *(d[rank] for rank in sorted(d))], key=lambda hit: hit.score)
        return ShapesIn5Out2Result(best, weight(a) + (-1 if e is None else e))

    def in6_out2(self, a: bool, b: int, c: int, d: int, e: int, f: int) -> ShapesIn6Out2Result:
        return ShapesIn6Out2Result(a + b + c + d + e + f, [each % 2 == 1 for each in (b, c, d, e)])

    def note0(self) -> None:
        self._leave(0)

    def note1(self, a: int) -> None:
        self._leave(a)

    def note2(self, a: str, b: list[int]) -> None:
        self._leave(*b, length(a))

    def note3(self, a: int, b: int, c: int) -> None:
        self._leave(a * b * c)

    def note4(self, a: Point, b: Point, c: bool, d: Rank) -> None:
        self._leave(a.rank + b.rank + c + d)

    def note5(self, a: str, b: str, c: int | None, d: Hit, e: bytes) -> None:
        self._leave(length(a) + length(b) + len(e), c or 0, d.doc)

    def note6(self, a: int, b: int, c: int, d: int, e: int, f: int) -> None:
        self._leave(a + b + c + d + e + f)

    def text(self, a: str) -> str:
        return f"{a}|{self._name}"

    def mirror(self, value: Everything) -> Everything:
        return replace(
            value,
            flag=not value.flag,
            middle=-value.middle,
            large=-value.large,
            name=value.name + "/mirror",
            raw=value.raw[::-1],
            numbers=value.numbers[::-1],
            tags=value.tags | {"mirror"},
            counts={key: count + 1 for key, count in value.counts.items()},
            note="was absent" if value.note is None else None,
        )

    def fail(self, how: int) -> int:
        match how % 4:
            case 1:
                raise Refused(f"because of {how}", Hit(how, 0.5, "€"))
            case 2:
                raise Missing(how << 32)
            case 3:
                raise RuntimeError(f"out of luck with {how}")
            case _:
                return 2 * how

    def slow(self, milliseconds: int) -> int:
        end = time.monotonic() + milliseconds / 1000
        while time.monotonic() < end and mf.current_call().deadline_left > -0.25:
            time.sleep(0.005)
        return milliseconds

    def bounded(self, n: int, word: str) -> int:  # noqa: ARG002
        return n
