"""What the clients call with. cpp/values.cpp holds the same values: a list of requests for each method."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import interop
from interop import Everything, Hit, Language, Moment, Pair, Point, Rank, Tree

from mf.codec.times import Duration, Timestamp

NOTHING: list[tuple[Any, ...]] = [(), ()]


def uuid(number: int) -> UUID:
    return UUID(bytes=bytes((number + index) % 256 for index in range(16)))


def point(number: int) -> Point:
    return Point(number / 2, -number, Rank(number % 3 + 1), number % 2 == 1)


def hit(number: int) -> Hit:
    return Hit(number, number / 4, f"hit {number} é")


def tree(number: int) -> Tree:
    leaf = Tree(number)
    return Tree(number, [leaf, Tree(-1, [leaf], leaf)], Tree(7))


def moment(number: int) -> Moment:
    return Moment(
        uuid(number),
        Timestamp(1_700_000_000_000_000_000 + number),
        Duration(-5 * number),
        Rank(number % 3 + 1),
        [number, 2, 65535],
        Language(number),  # 2 and more are no members
        point(number),
    )


def everything(number: int) -> Everything:
    return Everything(
        flag=number % 2 == 0,
        tiny=-128,
        small=-32768,
        middle=2147483647 - number,
        large=-9223372036854775807 + number,
        natural8=255,
        natural16=65535,
        natural32=4294967295,
        natural64=18446744073709551615 - number,
        single=0.5 * number,
        double=1e300,
        name=f"name {number} €\0",
        raw=bytes(range(number)),
        at=Timestamp(-1),
        ttl=Duration(9223372036854775807),
        id=uuid(number),
        rank=Rank.high,
        language=Language(77),
        numbers=[1, -2, 300, -70000, number],
        flags=[True, False, number % 2 == 0],
        points=[point(each) for each in range(number)],
        hits=[hit(each) for each in range(number)],
        maybe=[None, 0.0, float("inf")],
        tags={"b", "a", "€"},
        keys={4294967295, 0, number},
        counts={"one": 1, "": 0, "many": 4294967294},
        by_rank={Rank.low: [], Rank.high: [hit(1), hit(2)]},
        by_id={uuid(number): point(1), uuid(number + 1): point(2)},
        grid=[[1, 2, 3], [4, 5, 6]],
        names=["", "second"],
        note=None if number % 2 == 0 else "a note",
        best=None if number % 2 == 0 else hit(number),
        corner=point(number) if number % 2 == 0 else None,
        tree=tree(number),
        moment=moment(number),
        pair=Pair(number, -number),
    )


@dataclass(frozen=True, slots=True)
class Shape:
    """A method, and the requests that it is called with."""

    name: str
    requests: list[Any]


def _shape(name: str, arguments: list[tuple[Any, ...]]) -> Shape:
    request = getattr(interop, "Shapes" + "".join(part.title() for part in name.split("_")) + "Request")
    return Shape(name, [request(*each) for each in arguments])


def shapes() -> list[Shape]:
    return [
        _shape("in0_out0", NOTHING),
        _shape("in1_out0", [("",), ("ab€",)]),
        _shape("in2_out0", [(255, point(1)), (0, point(2))]),
        _shape("in3_out0", [(-5, [1, 2, 300_000], "x"), (0, [], "")]),
        _shape("in4_out0", [(-128, 65535, -70000, 1 << 40), (0, 0, 0, 0)]),
        _shape(
            "in5_out0",
            [(Pair(5, 1), Pair(1, -77), b"\0\xff", Rank.mid, True), (Pair(), None, b"", Rank.low, False)],
        ),
        _shape("in6_out0", [(1.5, 2.5, -4.0, 1e6, 0.25, 0.75), (0.0, 0.0, 0.0, 0.0, 0.0, -3.0)]),
        _shape("in0_out1", NOTHING),
        _shape("in1_out1", [(0,), (-2147483648,), (2147483647,)]),
        _shape("in2_out1", [([1, -2, 3], -3), ([], 5)]),
        _shape("in3_out1", [(1.0, 2.0, 3.5), (1.0, 2.0, 3.0)]),
        _shape("in4_out1", [("four", b"12345", True, 0.125), ("", b"", False, -1.0)]),
        _shape(
            "in5_out1",
            [
                ({"b", "a"}, {"k": 1, "j": 9, "i": 1}, [1, 2, 3], Language.ko, Rank.high),
                (set(), {}, [0, 0, 0], Language(500), None),
            ],
        ),
        _shape("in6_out1", [(-128, 32767, -5, 1 << 50, 4294967295, 12), (0, 0, 0, 0, 0, 0)]),
        _shape("in0_out2", NOTHING),
        _shape("in1_out2", [(moment(1),), (moment(900),)]),
        _shape("in2_out2", [(point(1), point(2)), (point(3), point(3))]),
        _shape("in3_out2", [("a", "b", 3), ("", "", 0)]),
        _shape("in4_out2", [(-3, 5, 7, 0.5), (1 << 40, -(1 << 41), 3, -2.0)]),
        _shape(
            "in5_out2",
            [
                (tree(4), hit(2), [hit(9), hit(3)], {Rank.low: hit(11)}, 1 << 35),
                (Tree(), hit(2), [], {}, None),
            ],
        ),
        _shape("in6_out2", [(True, 255, 65535, 7, 8, -1), (False, 0, 0, 0, 0, 0)]),
        _shape("note0", NOTHING),
        _shape("note1", [(-1,), (1 << 62,)]),
        _shape("note2", [("ab", [1, 2, 3]), ("", [])]),
        _shape("note3", [(255, 255, 255), (1, 2, 3)]),
        _shape("note4", [(point(1), point(2), True, Rank.high), (point(0), point(0), False, Rank.low)]),
        _shape("note5", [("a", "bc", None, hit(5), b"xyz"), ("", "", -8, hit(0), b"")]),
        _shape("note6", [(1, 2, 3, 4, 5, 6), (-2147483648, 0, 0, 0, 0, 0)]),
        _shape("text", [("",), ("é" * 100_000,)]),
        _shape("mirror", [(everything(3),), (everything(40),), (Everything(),)]),
        _shape("fail", [(how,) for how in (0, 1, 2, 3, 4, 6, 8)]),
    ]
