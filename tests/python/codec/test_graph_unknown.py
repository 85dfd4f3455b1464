"""Unknown fields of graphs may hold indices: an old program writes them again only if they mean the same."""

import copy
import pickle
from functools import cache
from itertools import pairwise
from typing import Any

from mf.codec.archived import drop_unknown_fields, unknown_fields
from tests.python.codec import directly
from tests.python.codec.archives import Archives

_OLD = """
@tier(archive) struct Note { 1: text: string; }
@tier(archive) struct Node { 1: v: u32; 2: next: ref<Node>?; 4: note: Note?; 5: tail: list<ref<Node>>; }
@tier(archive) union Any { 1: node: ref<Node>; 2: any: ref<Any>; }
struct Plain { node: Node; note: u8; }
"""
_NEW = """
@tier(archive) struct Site { 1: name: string; 2: owner: ref<Node>?; }
@tier(archive) struct Note { 1: text: string; 7: about: ref<Node>?; }
@tier(archive) struct Node {
  1: v: u32; 2: next: ref<Node>?; 4: note: Note?; 5: tail: list<ref<Node>>; 6: friend: ref<Node>?;
  7: site: ref<Site>?;
}
@tier(archive) union Any { 1: node: ref<Node>; 2: any: ref<Any>; }
struct Plain { node: Node; note: u8; }
"""


@cache
def old() -> Archives:
    return Archives("module graph_old;" + _OLD)


@cache
def new() -> Archives:
    return Archives("module graph_new;" + _NEW)


def chain(*, sites: bool = True, notes: bool = True) -> Any:
    """0 -> 1 -> 2 -> 3; the friend of 0 is 2, that of 3 is 1."""
    p = new().package
    nodes = [p.Node(v=each) for each in range(4)]
    for one, other in pairwise(nodes):
        one.next = other
    nodes[0].friend, nodes[3].friend = nodes[2], nodes[1]
    if sites:
        nodes[1].site = p.Site("here", nodes[3])
        nodes[2].site = nodes[1].site
    if notes:
        nodes[3].note = p.Note("note", nodes[1])
    return nodes[0]


def read(data: bytes, name: str = "Node") -> Any:
    """By the old program. Both paths read what is written alike."""
    codec = old().codec(name)
    value = codec.decode(data)
    careful = directly.read(codec.shape, data)
    assert careful == value
    assert written(careful, name) == written(value, name)
    return value


def written(value: Any, name: str = "Node") -> bytes:
    """By the old program, by both paths."""
    codec = old().codec(name)
    return bytes(codec.encode(value))


def encoded(value: Any, name: str = "Node") -> bytes:
    return bytes(new().codec(name).encode(value))


def again(data: bytes) -> Any:
    return new().codec("Node").decode(data)


def test_what_was_not_changed_is_written_as_it_came() -> None:
    data = encoded(chain())
    assert written(read(data)) == data
    assert again(written(read(data))) == chain()
    nested = encoded(new().package.Plain(chain(), 3), "Plain")
    assert written(read(nested, "Plain"), "Plain") == nested


def test_a_changed_number_leaves_the_unknown_fields_in() -> None:
    value = read(encoded(chain()))
    value.next.v = 77
    expected = chain()
    expected.next.v = 77
    assert again(written(value)) == expected


def test_a_new_object_behind_the_others_leaves_them_in() -> None:
    value = read(encoded(chain()))
    value.next.next.next.next = old().package.Node(v=9)
    expected = chain()
    expected.next.next.next.next = new().package.Node(v=9)
    assert again(written(value)) == expected


def test_without_an_object_they_are_gone_and_the_rest_is_right() -> None:
    value = read(encoded(chain()))
    value.next = value.next.next
    p = new().package
    expected = p.Node(v=0, next=p.Node(v=2, next=p.Node(v=3, note=p.Note("note"))))
    assert again(written(value)) == expected


def test_in_another_order_they_are_gone() -> None:
    value = read(encoded(chain(sites=False, notes=False)))
    first = value.next
    second, third = first.next, first.next.next
    value.next, second.next, third.next, first.next = second, first, None, third
    p = new().package
    expected = p.Node(v=0, next=p.Node(v=2, next=p.Node(v=1, next=p.Node(v=3))))
    assert again(written(value)) == expected


def test_from_another_object_on_they_are_gone() -> None:
    value = read(encoded(chain(notes=False)))
    p = new().package
    assert again(written(value.next)) == p.Node(v=1, next=p.Node(v=2, next=p.Node(v=3)))


def test_of_what_an_object_holds_too() -> None:
    """A `Note` of the old program refers to nothing, but its unknown field does."""
    value = read(encoded(chain()))
    note = value.next.next.next.note
    assert unknown_fields(note).hex() == "3801"
    assert written(note, "Note").hex() == "0a046e6f7465"
    other = old().package.Node(v=5, note=note)
    assert again(written(other)) == new().package.Node(v=5, note=new().package.Note("note"))


def test_objects_of_another_graph_bring_none() -> None:
    first, second = read(encoded(chain())), read(encoded(chain()))
    first.next.next.next.next = second
    back = again(written(first))
    assert back.friend is back.next.next
    assert back.next.site is not None
    other = back.next.next.next.next
    assert (other.v, other.friend, other.next.site, other.next.next.next.v) == (0, None, None, 3)


def test_a_table_that_nobody_knows_is_kept_where_no_object_has_unknown_fields() -> None:
    """The root may be an alternative of a union, which keeps no unknown fields itself."""
    p = new().package
    inner = encoded(p.AnyNode(p.Node(v=1)), "Any") + bytes.fromhex("fa0103616263")
    assert written(read(inner, "Any"), "Any") == inner
    value = read(inner, "Any")
    value.value = old().package.Node(v=2)
    assert written(value, "Any") == encoded(p.AnyNode(p.Node(v=2)), "Any")


def test_a_copy_of_the_whole_graph_is_as_good_as_what_was_read() -> None:
    data = encoded(chain())
    value = read(data)
    made = copy.deepcopy(value)
    assert made == value
    assert written(made) == data
    assert written(copy.deepcopy(made)) == data
    value.next = value.next.next  # the copy is one of its own
    assert written(made) == data
    held = read(encoded(new().package.Plain(chain(), 3), "Plain"), "Plain")
    assert written(copy.deepcopy(held), "Plain") == written(held, "Plain")
    assert again(written(copy.deepcopy(held).node)) == chain()


def test_a_copy_of_moved_objects_stays_without_them() -> None:
    value = read(encoded(chain()))
    first, second = value.next, value.next.next
    value.next = second
    made = copy.deepcopy(value)
    value.next = first  # the original is in order again
    assert written(value) == encoded(chain())
    assert again(written(made)).next.site is None


def test_copies_of_a_part_and_pickles_forget() -> None:
    value = read(encoded(chain()))
    for made in (copy.copy(value), pickle.loads(pickle.dumps(value))):
        assert made == value
        assert unknown_fields(made) == unknown_fields(value) != b""
        back = again(written(made))
        assert (back.friend, back.next.site, back.next.next.next.v) == (None, None, 3)
    part = copy.deepcopy(value.next)
    assert again(written(part)).site is None
    note = copy.deepcopy(value.next.next.next.note)
    assert unknown_fields(note).hex() == "3801"
    assert written(note, "Note").hex() == "0a046e6f7465"
    assert written(value) == encoded(chain())


def test_a_value_that_moves_into_another_graph_leaves_them_behind() -> None:
    first, second = read(encoded(chain())), read(encoded(chain(sites=False, notes=False)))
    second.next.next.next.note = copy.deepcopy(first.next.next.next.note)
    back = again(written(second))
    assert back.friend is back.next.next  # its own are written
    assert (back.next.next.next.note.text, back.next.next.next.note.about) == ("note", None)


def test_they_can_be_dropped() -> None:
    value = read(encoded(chain(sites=False)))
    drop_unknown_fields(value)
    back = again(written(value))
    assert back.friend is None
    assert back.next.next.next.friend is back.next
