"""What a writer makes, every reader takes: the table of docs/tiers.md. tests/cpp/codec/readable_test.cpp
holds C++ to it.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

import mf
from tests.python.codec.archives import Archives


@cache
def package() -> Any:
    return Archives("""module written;
enum Rank: u8 { bm25 = 0, pagerank = 1 }
struct Posting { doc: u32; rank: Rank; }
struct Tree { name: string; kids: list<Tree>; posting: Posting?; }
struct Bounded { a: u32 @range(1..5); b: string @length(..2); c: f32 @finite; d: string @pattern("[a-z]*"); }
@tier(febird) struct Nothing {}
struct Rows { empty: list<Nothing>; }
@tier(archive) struct Node { 1: name: string; 2: next: ref<Node>; }
struct Holder { node: Node; }
""").package


def tree(levels: int) -> Any:
    """A tree is a level, and so is its list."""
    made = package().Tree("", [])
    for _ in range(levels // 2 - 1):
        made = package().Tree("", [made])
    return made


def ring(name: str) -> Any:
    node = package().Node(name)
    node.next = node
    return node


REFUSED: list[tuple[Callable[[Any], Any], str, bool]] = [
    (lambda p: p.Tree("a\udcff", []), "Tree.name: text with a lone surrogate at 1", True),
    (
        lambda p: p.Tree("", [p.Tree("\ud800", [])], None),
        "Tree.kids[0].name: text with a lone surrogate at 0",
        True,
    ),
    (lambda _: ring("\ud800"), "Node.node[0].name: text with a lone surrogate at 0", True),
    (lambda p: p.Posting(1, 7), "Posting.rank: 7 is not a member of written.Rank", True),
    (lambda p: p.Tree("", [], p.Posting(1, 7)), "Tree.posting.rank: 7 is not a member of written.Rank", True),
    (lambda _: tree(66), f"Tree{'.kids[0]' * 32}: nested deeper than 64", True),
    (lambda p: p.Node("a"), "Node.node[0].next: expected written.Node, got None", True),
    (lambda p: p.Holder(p.Node("a")), "Holder.node.node[0].next: expected written.Node, got None", True),
    (lambda p: p.Bounded(6, "", 0.0, ""), "Bounded.a: 6 is not in 1..5", False),
    (lambda p: p.Bounded(1, "ééé", 0.0, ""), "Bounded.b: length 6 is not in 0..2", False),
    (lambda p: p.Bounded(1, "", float("nan"), ""), "Bounded.c: nan is not finite", False),
    (lambda p: p.Bounded(1, "", 0.0, "A"), "Bounded.d: 'A' does not match '[a-z]*'", False),
    (
        lambda p: p.Rows([p.Nothing()] * 65_537),
        "Rows.empty: 65537 elements without bytes, more than 65536",
        False,
    ),
]


@pytest.mark.parametrize(("make", "reason", "json_too"), REFUSED, ids=[each[1][:40] for each in REFUSED])
def test_what_no_reader_takes_is_refused(make: Callable[[Any], Any], reason: str, json_too: bool) -> None:
    value = make(package())
    with pytest.raises(mf.Error) as caught:
        mf.to_bytes(value)
    assert (caught.value.code, caught.value.message) == (mf.Code.INVALID_ARGUMENT, reason)
    assert caught.value.execution is mf.Execution.NOT_EXECUTED
    if json_too:
        with pytest.raises(mf.Error):
            mf.to_json(value)
    else:
        mf.to_json(value)


def test_up_to_there_it_is_written_and_read_again() -> None:
    p = package()
    for value in (
        tree(64),
        p.Tree("é", [], p.Posting(1, p.Rank.pagerank)),
        ring("a"),
        p.Bounded(5, "é", 1.5, "a"),
        p.Rows([p.Nothing()] * 65_536),
    ):
        assert mf.from_bytes(type(value), mf.to_bytes(value)) == value
