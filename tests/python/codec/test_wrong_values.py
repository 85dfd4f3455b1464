"""Values that are not what their type says are refused by name, whatever they are: never written as something
else, and never answered with an error of Python's own.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

import mf
from tests.python.codec.archives import Archives
from tests.python.flow import TOTAL, Start

WRITERS: list[Callable[[Any], object]] = [mf.to_bytes, mf.to_json, mf.hash64]


@cache
def package() -> Any:
    return Archives("""module wrong;
struct Plain { words: set<string>; lines: list<string>; numbers: list<u32>; digits: list<u8 @range(..9)>; }
@tier(archive) struct Kept {
  1: words: set<string>; 2: lines: list<string>; 3: numbers: list<u32>; 4: digits: list<u8 @range(..9)>;
}
@tier(archive) struct Node { 1: next: ref<Node>?; 2: kids: list<ref<Node>>; 3: by: map<string, ref<Node>>; }
@tier(archive) struct Held { 1: node: ref<Node>?; 2: held: list<Held>; }
union Pick { 1: grade: u8; 2: picks: list<Pick>; 3: text: string @length(..3); }
struct Number { value: i32; }
""").package


def refusal(write: Callable[[Any], object], value: Any) -> str:
    with pytest.raises(mf.Error) as caught:
        write(value)
    assert caught.value.code == mf.Code.INVALID_ARGUMENT
    return caught.value.message


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("name", ["Plain", "Kept"])
@pytest.mark.parametrize("words", [["a"], ["a", "a"], ("a",), {"a": 1}, "a", b"a", iter(["a"]), 3, None])
def test_only_a_set_is_one(write: Callable[[Any], object], name: str, words: Any) -> None:
    value = getattr(package(), name)(words, [], [], [])
    assert refusal(write, value).startswith(f"{name}.words: expected a set, got ")


@pytest.mark.parametrize("words", [{"b", "a"}, frozenset("ab"), {"b": 1, "a": 2}.keys()])
@pytest.mark.parametrize("name", ["Plain", "Kept"])
def test_sets_of_all_kinds_are_written(name: str, words: Any) -> None:
    value = getattr(package(), name)(words, [], [], [])
    assert mf.from_bytes(type(value), mf.to_bytes(value)).words == {"a", "b"}


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("name", ["Plain", "Kept"])
@pytest.mark.parametrize("field", ["lines", "numbers", "digits"])
@pytest.mark.parametrize("make", [lambda each: {each: 1}, lambda each: {each}, lambda each: iter([each])])
def test_what_has_no_order_or_only_one_pass_is_no_list(
    write: Callable[[Any], object], name: str, field: str, make: Callable[[Any], Any]
) -> None:
    value = getattr(package(), name)(set(), [], [], [])
    setattr(value, field, make("a" if field == "lines" else 1))
    assert refusal(write, value).startswith(f"{name}.{field}: expected a list, got ")


def test_a_value_that_holds_itself_is_nested_too_deeply() -> None:
    pick = package().PickPicks([])
    pick.value.append(pick)
    held = package().Held(None, [])
    held.held.append(held)
    for write in WRITERS:
        assert "nested deeper than" in refusal(write, pick)
        assert "nested deeper than" in refusal(write, held)


def test_a_value_in_its_own_place_is_shown() -> None:
    number = package().Number(1)
    number.value = number
    assert repr(number) == "Number(value=...)"
    assert refusal(mf.to_bytes, number) == "Number.value: expected i32, got Number(value=...)"


def test_parts_of_graphs_with_wrong_fields_are_shown() -> None:
    p = package()
    assert repr(p.Held(None, 5)) == "Held(node=None, held=5)"
    assert repr(p.Node(None, 5, [1])) == "Node(next=None, kids=5, by=[1])"
    assert refusal(mf.to_bytes, p.Node(p.Held(None, 5))).endswith("got Held(node=None, held=5)")


def test_a_value_that_cannot_be_shown_is_named_by_its_class() -> None:
    class Odd:
        def __repr__(self) -> str:
            raise RuntimeError

    assert refusal(mf.to_bytes, package().Number(Odd())) == "Number.value: expected i32, got a Odd"


def test_a_wrong_one_of_several_is_named_by_its_place() -> None:
    with pytest.raises(mf.Error, match=r"demo\.Flow\.total: item 1: start: -1 does not fit in u64"):
        TOTAL.encode_requests([Start(1), Start(-1)])
    with pytest.raises(mf.Error, match=r"demo\.Flow\.total: start: -1 does not fit in u64"):
        TOTAL.encode_requests([Start(-1)])
