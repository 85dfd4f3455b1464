"""Objects of a graph that nothing refers to in the end stay, also those that a reference named which another
one took the place of: a field that comes again, a key, an alternative, a part of a message. Messages are
drawn with all of these in them, and read as the dynamic codec reads them.
"""

import random
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import mf
from mf.codec.archive_wire import BYTES, VARINT, tag_of
from mf.codec.failure import CodecError
from mf.codec.varint import varint
from mfidl import dynamic
from mfidl.compiler import check
from tests.python.codec.archives import Archives
from tests.python.codec.directly import read

SCHEMA = """module loosely;
@tier(archive) struct P { 1: n: u8; 2: r: ref<P>?; 3: m: map<u8, ref<P>>; }
@tier(archive) struct Node {
  1: n: u32 = 0; 2: next: ref<Node>?; 3: by: map<u8, ref<Node>>; 4: many: list<ref<Node>>; 5: place: Place?;
  6: places: map<u8, Place>; 7: box: Box?; 8: boxes: list<Box>; 9: rows: map<u8, list<ref<Node>>>;
  10: sparse: list<ref<Node>?>; 11: held: map<u8, Box>; 12: maybe: map<string, ref<Node>?>;
  13: at: ref<Place>?; 14: plain: map<u8, u8>; 15: pair: array<ref<Node>, 2>?;
}
@tier(archive) union Place { 1: node: ref<Node>; 2: box: Box; 3: other: ref<Place>; 4: text: string; }
@tier(archive) struct Box { 1: node: ref<Node>?; 2: nodes: map<u8, ref<Node>>; 3: box: Box?; }
"""


@cache
def archives() -> Archives:
    return Archives(SCHEMA)


@cache
def program() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "loosely.mfidl"
        source.write_text(SCHEMA)
        return check([str(source)]).program


class Drawing:
    """Messages of the schema: few kinds of fields in each, so that they come again often."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.nodes, self.places = draw.randint(1, 7), draw.randint(1, 3)

    def graph(self) -> bytes:
        parts = [self.inside(1, self.message(self.node_fields(), 3)) for _ in range(self.nodes)]
        parts += [self.inside(2, self.message(self.place_fields(3), 1, least=1)) for _ in range(self.places)]
        if self.draw.random() < 0.3:
            self.draw.shuffle(parts)
        return b"".join(parts)

    def message(self, fields: list[Callable[[], bytes]], most: int, least: int = 0) -> bytes:
        chosen = self.draw.choices(fields, k=self.draw.randint(1, 2))
        parts = [self.draw.choice(chosen)() for _ in range(self.draw.randint(least, most))]
        return b"".join(sorted(parts) if self.draw.random() < 0.5 else parts)

    def inside(self, number: int, data: bytes) -> bytes:
        return tag_of(number, BYTES) + varint(len(data)) + data

    def index(self, number: int, count: int) -> bytes:
        return tag_of(number, VARINT) + varint(self.draw.randrange(count))

    def node(self, number: int) -> bytes:
        return self.index(number, self.nodes)

    def entry(self, number: int, value: Callable[[], bytes]) -> bytes:
        parts = [tag_of(1, VARINT) + varint(self.draw.randint(1, 3)), value()]
        if self.draw.random() < 0.2:
            parts.append(value())
        if self.draw.random() < 0.1:
            self.draw.shuffle(parts)
        return self.inside(number, b"".join(parts))

    def node_fields(self) -> list[Callable[[], bytes]]:
        def place() -> bytes:
            return self.place(2)

        def box() -> bytes:
            return self.box(2)

        return [
            lambda: tag_of(1, VARINT) + varint(self.draw.randint(0, 9)),
            *[lambda: self.node(2)] * 4,
            *[lambda: self.entry(3, lambda: self.node(2))] * 3,
            lambda: self.node(4),
            lambda: self.inside(4, bytes(self.draw.choices(range(self.nodes), k=2))),
            lambda: self.inside(5, place()),
            lambda: self.entry(6, lambda: self.inside(2, place())),
            lambda: self.inside(7, box()),
            lambda: self.inside(8, box()),
            lambda: self.entry(9, lambda: self.inside(2, self.repeated(lambda: self.node(1)))),
            lambda: self.inside(10, self.repeated(lambda: self.node(1))),
            lambda: self.entry(11, lambda: self.inside(2, box())),
            lambda: self.inside(12, b"\x0a\x01k" + self.inside(2, self.repeated(lambda: self.node(1)))),
            lambda: self.index(13, self.places),
            lambda: self.entry(14, lambda: tag_of(2, VARINT) + varint(7)),
            lambda: self.inside(15, self.inside(1, bytes(self.draw.choices(range(self.nodes), k=2)))),
            lambda: tag_of(99, VARINT) + b"\x05",
        ]

    def repeated(self, part: Callable[[], bytes]) -> bytes:
        return b"".join(part() for _ in range(self.draw.randint(0, 2)))

    def place(self, levels: int) -> bytes:
        return self.message(self.place_fields(levels), 2, least=1)

    def place_fields(self, levels: int) -> list[Callable[[], bytes]]:
        return [
            lambda: self.node(1),
            lambda: self.inside(2, self.box(levels - 1)),
            lambda: self.index(3, self.places),
            lambda: self.inside(4, b"t"),
        ]

    def box(self, levels: int) -> bytes:
        fields: list[Callable[[], bytes]] = [
            lambda: self.node(1),
            lambda: self.entry(2, lambda: self.node(2)),
        ]
        if levels > 0:
            fields.append(lambda: self.inside(3, self.box(levels - 1)))
        return self.message(fields, 2)


def by_dynamic(data: bytes, name: str = "Node") -> tuple[str, bytes] | int:
    name = f"loosely.{name}"
    try:
        value = dynamic.decode(program(), name, data)
    except dynamic.DecodeError as failure:
        return int(failure.fault)
    return dynamic.to_json(program(), name, value), dynamic.encode(program(), name, value)


def by_codec(data: bytes, name: str = "Node") -> tuple[str, bytes] | int:
    try:
        value = mf.from_bytes(getattr(archives().package, name), data)
    except mf.DecodeError as failure:
        return int(failure.fault)
    return mf.to_json(value), mf.to_bytes(value)


def carefully(data: bytes, name: str = "Node") -> tuple[str, bytes] | int:
    try:
        value = read(archives().codec(name).shape, data)
    except CodecError as failure:
        return int(failure.fault)
    return mf.to_json(value), mf.to_bytes(value)


@pytest.mark.parametrize("seed", range(20))
def test_graphs_of_any_message_are_those_of_the_dynamic_codec(seed: int) -> None:
    draw = random.Random(seed)
    kept = 0
    for _ in range(60):
        data = Drawing(draw).graph()
        wanted = by_dynamic(data)
        assert by_codec(data) == wanted, data.hex()
        assert carefully(data) == wanted, data.hex()
        if not isinstance(wanted, int):
            kept += 1
            again = mf.from_json(archives().package.Node, wanted[0])
            assert mf.to_json(again) == wanted[0]
    assert kept > 20


@pytest.mark.parametrize(
    ("root", "kept"),
    [
        ("0801 1001 1002", '{"n":1,"r":1,"m":{}},{"n":3,"m":{}},{"n":2,"r":2,"m":{}}'),
        ("1001 1002 0801", '{"n":1,"r":1,"m":{}},{"n":3,"m":{}},{"n":2,"r":2,"m":{}}'),
        ("0801 1a0408051001 1a0408051002", '{"n":1,"m":{"5":1}},{"n":3,"m":{}},{"n":2,"r":2,"m":{}}'),
        ("1a0408051001 1a0408051002 0801", '{"n":1,"m":{"5":1}},{"n":3,"m":{}},{"n":2,"r":2,"m":{}}'),
        ("1a0408051001 0801 1a0408051002", '{"n":1,"m":{"5":1}},{"n":3,"m":{}},{"n":2,"r":2,"m":{}}'),
        ("0801 1a06080510011002", '{"n":1,"m":{"5":1}},{"n":3,"m":{}},{"n":2,"r":2,"m":{}}'),
        ("0801 1a06100108051002", '{"n":1,"m":{"5":1}},{"n":3,"m":{}},{"n":2,"r":2,"m":{}}'),
        ("0801 1a0408051001 1a0408061002", '{"n":1,"m":{"5":1,"6":2}},{"n":2,"r":1,"m":{}},{"n":3,"m":{}}'),
    ],
)
def test_a_reference_that_another_takes_the_place_of_named_an_object_that_stays(root: str, kept: str) -> None:
    """The second object refers to itself; nothing else does, unless it is the root."""
    own = bytes.fromhex(root)
    data = bytes((0x0A, len(own))) + own + bytes.fromhex("0a0408021001 0a020803")
    wanted = by_dynamic(data, "P")
    assert not isinstance(wanted, int)
    assert wanted[0] == f'{{"p":[{kept}]}}'
    assert by_codec(data, "P") == carefully(data, "P") == wanted


@pytest.mark.parametrize(
    "root",
    [
        "32060801 12020801 32060801 12020802",  # a map of unions
        "4a080801 12040801 0802 4a060801 12020800",  # of lists
        "5a060801 12020801 5a060801 12020802",  # of structs
        "62070a016b 12020801 62070a016b 12020802",  # of optionals
        "2a020801 2a020802",  # a union that comes in parts
        "2a0408010802",
        "2a02 0801 2a03 220174",  # another alternative of it
        "3a020801 3a020802",  # a struct
        "52040801 0802",  # an optional in a list
        "6800 6801",  # a union that is referred to
        "7a040a020101 7a040a020202",  # an array: of four elements, and refused
    ],
)
def test_what_comes_again_with_references_in_it_leaves_none_of_their_objects_behind(root: str) -> None:
    own = bytes.fromhex(root)
    data = bytes((0x0A, len(own))) + own + bytes.fromhex("0a020801 0a020802 1203220161 1203220162")
    wanted = by_dynamic(data)
    assert by_codec(data) == carefully(data) == wanted
    assert isinstance(wanted, int) == root.startswith("7a")
    if not isinstance(wanted, int):
        assert [wanted[0].count(f'"n":{each}') for each in (1, 2)] == [1, 1]
        assert wanted[0].count('"text":') >= 2
