"""mfidl/dynamic, JSON whose values take far more memory than its text: refused before they are made, as by the
runtime for Python.
"""

import tracemalloc
from functools import cache
from types import GenericAlias
from typing import Any

import pytest

import mf
from mf.codec.limits import Limits
from mfidl import dynamic
from tests.compiler.schema import dynamic_schema
from tests.python.codec.archives import Archives

SCHEMA = """module json_bounds;
struct Defaults { a: list<u32> = [1, 2, 3, 4, 5, 6, 7, 8]; m: map<u8, list<u8>> = {1: [], 2: []}; }
struct Large { many: list<list<u8>> = [MANY]; }
struct Lists { rows: list<list<list<u8>>>; sets: map<u16, set<u8>>; some: list<list<u8>?>; }
union Either { number: u8; both: list<Either>; }
struct Tree { children: list<Tree> = []; next: Tree?; }
@tier(archive) struct Node { 1: next: ref<Node>?; 2: peers: list<ref<Node>> = []; }
"""
SCHEMA = SCHEMA.replace("MANY", ", ".join(["[]"] * 1_000))
BUDGET = 1 << 20


@cache
def archives() -> Archives:
    return Archives(SCHEMA)


def schema() -> dynamic.Schema:
    return dynamic_schema(SCHEMA)


def many(text: str, count: int) -> str:
    return f"[{','.join([text] * count)}]"


def object_of(name: str, value: str) -> str:
    return f'{{"{name}":{value}}}'


def entries(value: str, count: int) -> str:
    return "{" + ",".join(f'"{at}":{value}' for at in range(count)) + "}"


@pytest.mark.parametrize(
    ("type_", "text", "path"),
    [
        ("list<Defaults>", many("{}", 20_000), "["),
        ("list<Large>", many("{}", 1_000), "["),
        ("Lists", object_of("rows", many("[]", 60_000)), "Lists.rows["),
        ("Lists", object_of("rows", f"[{many('[]', 60_000)}]"), "Lists.rows[0]["),
        ("Lists", f'{{"rows":[],"sets":{entries("[]", 30_000)}}}', "Lists.sets["),
        ("Lists", f'{{"rows":[],"sets":{{}},"some":{many("[]", 60_000)}}}', "Lists.some["),
        ("Either", object_of("both", many('{"number":1}', 40_000)), "Either.both["),
        ("Tree", object_of("children", many("{}", 40_000)), "Tree.children["),
        ("Tree", object_of("children", many(object_of("children", many("{}", 20)), 2_000)), "Tree.children["),
        ("Node", object_of("node", many("{}", 30_000)), "Node.node["),
        ("Node", object_of("node", f"[{object_of('peers', many('0', 40_000))}]"), "Node.node[0].peers["),
    ],
)  # fmt: skip
def test_json_that_makes_much_of_little_is_refused_before_it_does(type_: str, text: str, path: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(dynamic.DecodeError) as ours:
            dynamic.from_json(schema(), type_, text, dynamic.Limits(decoded=BUDGET))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    with pytest.raises(mf.DecodeError) as theirs:
        mf.from_json(kind_of(type_), text, limits=Limits(decoded=BUDGET))

    assert (ours.value.fault.name, theirs.value.fault.name) == ("BUDGET_EXCEEDED", "BUDGET_EXCEEDED")
    assert peak < 4 * BUDGET + 2 * len(text)
    assert (ours.value.path.startswith(path), theirs.value.path.startswith(path)) == (True, True)
    assert 0 < ours.value.offset < len(text)


def kind_of(type_: str) -> Any:
    package = archives().package
    name = type_.removeprefix("list<").removesuffix(">")
    kind = getattr(package, name)
    return kind if name == type_ else GenericAlias(list, (kind,))


def test_the_same_texts_are_read_where_memory_is_enough() -> None:
    text = many("{}", 20_000)

    assert len(dynamic.from_json(schema(), "list<Defaults>", text)) == 20_000
    assert len(mf.from_json(kind_of("list<Defaults>"), text)) == 20_000


def test_without_a_word_about_limits_they_are_those_of_bytes() -> None:
    """12 kB of text, and more than 128 MiB of values."""
    text = many("{}", 4_000)

    with pytest.raises(dynamic.DecodeError) as ours:
        dynamic.from_json(schema(), "list<Large>", text)
    with pytest.raises(mf.DecodeError) as theirs:
        mf.from_json(kind_of("list<Large>"), text)

    assert (ours.value.fault.name, theirs.value.fault.name) == ("BUDGET_EXCEEDED", "BUDGET_EXCEEDED")
    # Both count a pointer and an empty list, 64 bytes, 1,000 times an object.
    assert 2_000 < int(ours.value.path.split("]")[0][1:]) < 2_100
    assert 2_000 < int(theirs.value.path.split("]")[0][1:]) < 2_100
