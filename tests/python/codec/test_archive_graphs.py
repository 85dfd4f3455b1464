"""Graphs of objects: identity, order, long chains, and what Python asks of objects that refer to others."""

import copy
import gc
import io
import pickle
import random
from functools import cache
from typing import Any

import pytest

import mf
from mf.codec.limits import Limits
from tests.python.codec import directly
from tests.python.codec.archives import Archives, filled


@cache
def schema() -> Archives:
    return Archives(
        """module linked;
        @tier(archive) struct Node {
          1: name: string; 2: next: ref<Node>?; 3: others: list<ref<Node>>; 4: place: Place?;
          5: by_name: map<string, ref<Site>>; 6: boxes: list<Box>; 7: rows: list<list<ref<Node>>>;
          8: sparse: list<ref<Node>?>; 9: pair: array<ref<Node>, 2>?;
        }
        @tier(archive) struct Site { 1: name: string; 2: owner: ref<Node>; }
        @tier(archive) union Place { 1: site: ref<Site>; 2: node: ref<Node>; 3: text: string; 4: held: Site; }
        @tier(archive) struct Box { 1: node: ref<Node>?; 2: place: ref<Place>?; 3: note: Note?; }
        @tier(archive) struct Map { 1: title: string; 2: start: ref<Node>; 3: home: Place; }
        @tier(archive) struct Link { 1: next: ref<Link>?; 2: n: u32 @range(0..200_000) = 0; }
        struct Note { map: Map?; count: u8; }
        struct Atlas { title: string; maps: list<Map>; node: Node?; place: Place; }
        """
    )


def bytes_of(name: str, value: Any) -> bytes:
    """By both paths."""
    codec = schema().codec(name)
    return bytes(codec.encode(value))


def value_of(name: str, data: bytes) -> Any:
    codec = schema().codec(name)
    value = codec.decode(data)
    assert directly.read(codec.shape, data) == value
    return value


def drawn(seed: int) -> Any:
    """A graph of up to a dozen nodes, referring to each other at random."""
    p, draw = schema().package, random.Random(seed)
    nodes = [p.Node(name=f"n{at}") for at in range(draw.randint(1, 8))]
    sites = [p.Site(name=f"s{at}", owner=draw.choice(nodes)) for at in range(4)]
    places = [p.PlaceSite(draw.choice(sites)), p.PlaceNode(draw.choice(nodes)), p.PlaceText("x")]
    places.append(p.PlaceHeld(p.Site("by value", draw.choice(nodes))))

    def some() -> list[Any]:
        return draw.choices(nodes, k=draw.randint(0, 3))

    for each in nodes:
        each.next = draw.choice([None, *nodes])
        each.others, each.sparse = some(), [*some(), None]
        each.rows = [some() for _ in range(draw.randint(0, 2))]
        each.place = draw.choice([None, *places])
        each.by_name = {str(draw.randint(0, 99)): draw.choice(sites) for _ in range(draw.randint(0, 3))}
        own = p.Node("in a note")  # a graph of its own: one that held itself would have no end
        note = p.Note(p.Map("m", own, p.PlaceNode(own)), 3)
        each.boxes = [
            p.Box(draw.choice([None, *nodes]), draw.choice([None, *places]), draw.choice([None, note]))
        ]
        each.pair = draw.choice([None, draw.choices(nodes, k=2)])
    return nodes[0]


@pytest.mark.parametrize("seed", range(40))
def test_a_graph_comes_back_as_it_was(seed: int) -> None:
    node = drawn(seed)
    data = bytes_of("Node", node)
    read = value_of("Node", data)
    assert read == node
    assert bytes(schema().codec("Node").encode(read)) == data
    copied = copy.deepcopy(read)
    assert copied == read
    assert copied is not read
    assert bytes(schema().codec("Node").encode(copied)) == data
    read.name += "!"
    assert read != node
    assert pickle.loads(pickle.dumps(node)) == node


def test_objects_are_numbered_breadth_first_in_the_order_of_field_numbers() -> None:
    p = schema().package
    leaf, deep = p.Node("leaf"), p.Node("deep")
    site = p.Site("site", owner=deep)
    a, b = p.Node("a", others=[leaf]), p.Node("b", next=leaf, place=p.PlaceSite(site))
    root = p.Node("root", next=b, others=[a, b], by_name={"s": site})
    message = schema().message("NodeGraph").FromString(bytes_of("Node", root))
    assert [each.name for each in message.node] == ["root", "b", "a", "leaf", "deep"]
    assert [each.name for each in message.site] == ["site"]
    assert (message.node[0].next, list(message.node[0].others), message.node[0].by_name["s"]) == (
        1,
        [2, 1],
        0,
    )
    assert (message.site[0].owner, message.node[1].place.site) == (4, 0)


def test_tables_are_those_of_the_graph_message() -> None:
    shape = schema().codec("Map").shape
    message = schema().message("MapGraph")
    assert list(shape.tables) == [each.name for each in message.DESCRIPTOR.fields]
    assert [each.name for each in shape.tables.values()] == [
        each.message_type.full_name for each in message.DESCRIPTOR.fields
    ]


def test_graphs_in_other_tiers_are_graphs_of_their_own() -> None:
    p = schema().package
    node = p.Node("shared")
    node.next = node
    maps = [p.Map("one", node, p.PlaceNode(node)), p.Map("two", node, p.PlaceText("here"))]
    atlas = p.Atlas("atlas", maps, node, p.PlaceNode(node))
    read = value_of("Atlas", bytes_of("Atlas", atlas))
    assert read == atlas
    assert read.maps[0].start is read.maps[0].home.value
    assert read.maps[0].start is not read.maps[1].start
    assert read.place.value.next is read.place.value


LONG = 100_000


@pytest.fixture(scope="module")
def chain() -> Any:
    link = None
    for at in range(LONG):
        link = schema().package.Link(link, at)
    return link


def test_a_chain_of_a_hundred_thousand_objects(chain: Any) -> None:
    codec = schema().codec("Link")
    data = bytes(codec.encode(chain))
    read = codec.decode(data)
    assert read == chain
    assert repr(read) == f"Link(next=<Link>, n={LONG - 1})"
    copied = copy.deepcopy(read)
    assert copied == chain
    copied.next.next.n += 1
    assert copied != chain
    assert copy.copy(read).next is read.next
    del copied
    pickled = pickle.dumps(read)
    del read
    assert pickle.loads(pickled) == chain
    for _ in range(LONG - 10_000):
        chain = chain.next
    assert directly.read(codec.shape, bytes(codec.encode(chain))).n == 9_999
    gc.collect()


def test_pickles_do_not_recurse_whatever_the_first_field_is() -> None:
    node = None
    for number in range(20_000):
        node = schema().package.Node(str(number), next=node, others=[])
    back = pickle.loads(pickle.dumps(node))
    for number in reversed(range(20_000)):
        assert back.name == str(number)
        back = back.next
    assert back is None


def test_pickles_keep_who_is_who() -> None:
    p = schema().package
    first = p.Node("first", boxes=[p.Box(note=p.Note(p.Map("m", p.Node("start"), p.PlaceText("home")), 3))])
    first.next = p.Node("second", next=first, others=[first, first])
    first.by_name = {"a": p.Site("site", owner=first.next)}
    first.place = p.PlaceHeld(p.Site("held", owner=first))
    alone = p.Node("alone", next=first.next)
    together = [first.next, first.by_name["a"], first, alone, first.boxes[0]]

    second, site, again, other, box = pickle.loads(pickle.dumps(together))

    assert again == first
    assert (again.next, again.by_name["a"], again.boxes[0]) == (second, site, box)
    assert again.next is second is other.next is site.owner
    assert again.by_name["a"] is site
    assert again.boxes[0] is box
    assert second.others[0] is second.others[1] is second.next is again.place.value.owner is again
    assert box.note.map.start.name == "start"


def test_pickles_are_of_now_and_of_any_object() -> None:
    class Named(schema().package.Node):  # type: ignore[misc] # generated
        extra: str

    p = schema().package
    node = p.Node("n")
    node.next = p.Node("old", next=node)
    file = io.BytesIO()
    pickler = pickle.Pickler(file)
    pickler.dump(node)
    node.next.name, node.others = "new", [p.Node("more", next=node.next)]
    assert pickle.loads(pickle.dumps(node)) == node
    pickler.dump(node)
    assert pickle.loads(file.getvalue()).next.name == "old"

    globals()["Named"] = Named
    Named.__qualname__ = "Named"
    try:
        named = Named("x", next=p.Site("of another type"))
        named.extra = "kept"
        back = pickle.loads(pickle.dumps(named, 2))
    finally:
        del globals()["Named"]
    assert (type(back), back.extra, back.next.name, back.next.owner) == (
        Named,
        "kept",
        "of another type",
        None,
    )


def test_equality_sees_who_is_shared() -> None:
    p = schema().package
    one, other = p.Node("x"), p.Node("x")
    assert p.Node("r", others=[one, one]) == p.Node("r", others=[other, other])
    assert p.Node("r", others=[one, one]) != p.Node("r", others=[one, other])
    assert p.Node("r", others=[one, other]) != p.Node("r", others=[one, one])
    ring = p.Node("a")
    ring.next = p.Node("a", next=ring)
    alone = p.Node("a")
    alone.next = alone
    assert ring != alone
    assert p.PlaceNode(ring) == p.PlaceNode(ring.next)
    assert p.PlaceNode(ring) != p.PlaceText("x")
    assert repr(p.Box(ring, p.PlaceText("t"))) == "Box(node=<Node>, place=<PlaceText>, note=None)"
    with pytest.raises(TypeError):
        hash(ring)


def test_objects_that_nothing_refers_to_are_kept() -> None:
    p = schema().package
    message = schema().message("NodeGraph")
    graph = message.FromString(bytes_of("Node", p.Node("root", next=p.Node("b"))))
    graph.node.add(name="loose", next=3)
    graph.node.add(name="of loose", next=2)
    graph.site.add(name="site", owner=2)
    data = graph.SerializeToString()
    read = value_of("Node", data)
    assert bytes(schema().codec("Node").encode(read)) == data
    copied = copy.deepcopy(read)
    assert copied == read
    assert bytes(schema().codec("Node").encode(copied)) == data
    assert pickle.loads(pickle.dumps(read)) == read
    read.others.append(read.__mf_loose__[0][1])
    again = message.FromString(bytes_of("Node", read))
    assert [each.name for each in again.node] == ["root", "b", "loose", "of loose"]
    assert read != copied


@pytest.mark.parametrize(
    ("make", "where"),
    [
        (lambda p: p.Site("s"), "Site.site[0].owner: expected linked.Node, got None"),
        (lambda p: p.Site("s", owner=p.Site()), "Site.site[0].owner: expected linked.Node, got "),
        (
            lambda p: p.Node("n", others=[p.Node(), None]),
            "Node.node[0].others[1]: expected linked.Node, got None",
        ),
        (
            lambda p: p.Node("n", next=p.Node("m", by_name={"k": None})),
            "Node.node[1].by_name['k']: expected linked.Site, got None",
        ),
        (lambda p: p.Map("m", p.Node(), p.PlaceNode(p.Node(7))), "Map.node[1].name: expected str, got 7"),
        (
            lambda p: p.Node("n", boxes=[p.Box(note=p.Note(p.Map("m", p.Node(), p.PlaceNode(None))))]),
            "Node.node[0].boxes[0].note.map.map[0].home.node: expected linked.Node, got None",
        ),
        (lambda p: p.Link(p.Link(n=300_000)), "Link.link[1].n: 300000 is not in 0..200000"),
    ],
)
def test_what_is_wrong_in_a_graph_is_named(make: Any, where: str) -> None:
    value = make(schema().package)
    codec = schema().codec(type(value).__name__)
    with pytest.raises(mf.Error) as caught:
        codec.encode(value)
    assert (caught.value.code, caught.value.execution) == (
        mf.Code.INVALID_ARGUMENT,
        mf.Execution.NOT_EXECUTED,
    )
    assert caught.value.message.startswith(where)


def test_a_constraint_in_a_graph_holds_after_reading() -> None:
    p = schema().package
    graph = schema().message("LinkGraph")()
    graph.link.add(n=1, next=1)
    graph.link.add(n=200_001)
    with pytest.raises(mf.Error, match=r"Link\.link\[1\]\.n, at byte \d+: 200001 is not in 0\.\.200000"):
        schema().codec("Link").decode(graph.SerializeToString())
    assert p.Link().n == 0


def test_protobuf_reads_what_a_graph_holds_by_value() -> None:
    p = schema().package
    root = p.Map("m", p.Node("a"), p.PlaceText("here"))
    message = schema().message("MapGraph").FromString(bytes_of("Map", root))
    assert (message.map[0].title, message.map[0].home.text, message.node[0].name) == ("m", "here", "a")
    assert (
        filled(schema().message("Place")(), schema().codec("Place").shape, p.PlaceText("here")).text == "here"
    )


def test_the_budget_counts_what_is_allocated() -> None:
    """Objects with containers that are mostly empty: not each one of them has what the largest would."""
    archives = Archives(
        """module roomy; @tier(archive) struct Node {
          1: next: ref<Node>?; 2: id: u64; 3: other: list<ref<Leaf>>; 4: by: map<string, ref<Node>>;
          5: leaf: ref<Leaf>?; 6: pair: array<ref<Leaf>, 2>; 7: opt: list<ref<Node>?>; 8: self: ref<Node>;
        }
        @tier(archive) struct Leaf { 1: value: string; }
        """
    )
    p, codec = archives.package, archives.codec("Node")
    leaf, count = p.Leaf("x"), 10_000
    nodes = [p.Node(id=each, pair=[leaf, leaf]) for each in range(count)]
    for at, each in enumerate(nodes):
        each.self_ = each
        each.next = nodes[at + 1] if at + 1 < count else None
    limits = Limits(decoded=(128 << 20) // 10)  # as 100,000 of them have
    data = codec.encode(nodes[0])
    assert codec.within(limits).decode(data) == nodes[0]
    assert mf.from_json(p.Node, mf.to_json(nodes[0]), limits=limits) == nodes[0]
    with pytest.raises(mf.DecodeError, match="more memory"):
        codec.within(Limits(decoded=count * 400)).decode(data)


@pytest.mark.parametrize("data", [b"\x0a\x00", b"\x0a\x04\x12\x02\x08\x00", b"\x0a\x02\x38\x01"])
def test_no_graph_takes_more_than_its_budget(data: bytes) -> None:
    """Empty objects, objects with one entry each, and objects with an unknown field."""
    import tracemalloc

    archives = _small()
    codec, limit = archives.codec("Small"), 1 << 20
    assert codec.decode(data) is not None
    tracemalloc.start()
    with pytest.raises(mf.DecodeError) as caught:
        codec.within(Limits(decoded=limit)).decode(data * 20_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert caught.value.fault is mf.Fault.BUDGET_EXCEEDED
    assert peak < 8 * limit


@cache
def _small() -> Archives:
    return Archives(
        "module tiny; @tier(archive) struct Small { 1: next: ref<Small>?; 2: by: map<u8, ref<Small>>; }"
    )
