"""Values of declared types from senders that have another version of the type: the receiver adapts, from what
the sender has said of its own version."""

from collections.abc import Iterator
from typing import Any

import pytest

import mf
from mf.codec.flex import declared
from mf.codec.flex.declared import Typed, know
from mf.codec.lookup import shape_of
from mf.codec.shape import Declared
from mf.codec.texts import Texts, texts_of
from mf.flex import outgoing
from mf.flex.described import MOST_TYPES, DescribedType, DescribedTypes
from tests.python.flex.test_nodes import LIMIT, Pair
from tests.vectors.make_values import kind_of

OLD, NEW = kind_of("old", "Point"), kind_of("new", "Point")


@pytest.fixture
def pair(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    """Of nodes in a process that has only the newer versions."""
    for table in ("_by_class", "_by_name", "_latest"):
        monkeypatch.setattr(declared, table, {})
    made = Pair()
    yield made
    made.close()


def old(name: str, json: str) -> Typed:
    """A value as a program with the older schema sends it."""
    kind = kind_of("old", name)
    shape = shape_of(kind)
    assert isinstance(shape, Declared)
    texts = texts_of(shape)
    value = mf.from_json(kind, json)
    return Typed(shape.name, texts.fingerprint, bytes(mf.to_bytes(value, kind)), DescribedType(texts))


def point(x: int) -> Typed:
    return old("Point", f'{{"x":{x},"y":-2,"rank":"good"}}')


def sent(pair: Pair, *values: Any) -> list[Any]:
    """What they are at a receiver."""
    a, b = pair.near.process("A"), pair.far.process("B")
    for value in values:
        a.send(dest="B", value=value)
    return [b.recv(LIMIT)["value"] for _ in values]


def test_a_value_of_another_version_comes_as_an_object_of_the_known_one(pair: Pair) -> None:
    know(NEW)
    (value,) = sent(pair, [point(7)])
    assert value == [NEW(x=7, y=-2, rank=kind_of("new", "Rank").good, weight=1.5)]


def test_it_is_matched_as_an_object_of_the_known_version(pair: Pair) -> None:
    a, b = pair.near.process("A"), pair.far.process("B")
    a.send(dest="B", value=1)
    a.send(dest="B", value=point(7))
    assert b.recv(LIMIT, value=NEW)["value"].x == 7


def test_a_value_that_does_not_go_over_stays_as_it_is_and_says_why(pair: Pair) -> None:
    know(NEW)
    lost, good = sent(pair, point(70_000), point(1))
    assert type(lost) is Typed
    assert good.x == 1
    with pytest.raises(mf.Error) as raised:
        lost.to(NEW)
    assert raised.value.code is mf.Code.DECODE_ERROR
    assert raised.value.message == (
        "a value of another version of stored.Point: x: 70000 does not fit u16 of the reader's schema"
    )
    assert lost.to(OLD).x == 70_000


def test_a_version_that_no_rule_leads_from_stays_as_it_is_and_says_why(pair: Pair) -> None:
    torn = kind_of("new", "Torn")
    know(torn)
    (value,) = sent(pair, old("Torn", '{"word":"w"}'))
    assert type(value) is Typed
    with pytest.raises(mf.Error) as raised:
        value.to(torn)
    assert raised.value.code is mf.Code.SCHEMA_MISMATCH
    assert raised.value.message == (
        "a value of another version of stored.Torn: Torn: field Torn.word: u32 here, string there"
    )


def test_a_type_that_is_not_known_yet_is_read_when_it_is_asked_for(pair: Pair) -> None:
    (value,) = sent(pair, point(7))
    assert type(value) is Typed
    assert value.to(NEW).weight == 1.5


def test_who_does_not_know_a_type_passes_on_what_was_said_of_it(pair: Pair) -> None:
    (value,) = sent(pair, point(7))
    c, d = pair.near.process("C"), pair.far.process("D")
    know(NEW)
    c.send(dest="D", value=value)
    assert d.recv(LIMIT)["value"].x == 7


def test_a_type_is_told_once_on_a_stream(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Texts] = []
    alone = outgoing._type_alone

    def counted(carried: Any, texts: Texts) -> Any:
        told.append(texts)
        return alone(carried, texts)

    monkeypatch.setattr(outgoing, "_type_alone", counted)
    know(NEW)
    assert [each.x for each in sent(pair, *(point(x) for x in range(20)))] == list(range(20))
    assert len(told) == 1


def test_what_nobody_describes_stays_as_it_is(pair: Pair) -> None:
    know(NEW)
    value = point(7)
    value.described = None
    (got,) = sent(pair, value)
    with pytest.raises(mf.Error, match=r"the value is of stored\.Point, of another version of that type"):
        got.to(NEW)


def test_a_description_that_is_none_is_told_when_the_value_is_asked_for(pair: Pair) -> None:
    know(NEW)
    texts = Texts("value stored.Point\nnonsense\n", "")
    (value,) = sent(pair, Typed("stored.Point", texts.fingerprint, b"", DescribedType(texts)))
    with pytest.raises(mf.Error, match="what it says of its schema cannot be read") as raised:
        value.to(NEW)
    assert raised.value.code is mf.Code.DECODE_ERROR


def test_of_one_sender_so_many_types_are_kept() -> None:
    told = DescribedTypes()
    kept = [told.add(bytes([n & 255, n >> 8]), Texts("value a.B\n", "")) for n in range(MOST_TYPES + 9)]
    assert sum(kept) == MOST_TYPES == len(told.types)
    large = DescribedTypes()
    assert sum(large.add(bytes([n]), Texts("x" * (1 << 20), "")) for n in range(9)) == 4


@pytest.mark.parametrize(
    "types",
    [
        "type stored.Point struct memcpy\n x array<array<u8,2>,4294967295>\n",
        "type stored.Point struct memcpy\n"
        + "".join(f" x a.T{n}\n y a.T{n}\ntype a.T{n} struct memcpy\n" for n in range(40))
        + " x u8\n",
        f"type stored.Point struct febird\n x {'list<' * 25}u16{'>' * 25}\n",
    ],
    ids=["an array of 2^33 bytes", "structs that double each other", "lists in lists"],
)
def test_a_description_that_costs_too_much_is_refused_and_the_next_message_comes(
    pair: Pair, types: str
) -> None:
    know(NEW)
    texts = Texts(f"value stored.Point\n value stored.Point\n{types}", "")
    hostile = Typed("stored.Point", texts.fingerprint, bytes(8), DescribedType(texts))
    value, good = sent(pair, hostile, point(7))
    assert good.x == 7
    with pytest.raises(mf.Error) as raised:
        value.to(NEW)
    assert raised.value.code in (mf.Code.DECODE_ERROR, mf.Code.SCHEMA_MISMATCH)
