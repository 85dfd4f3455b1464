"""What only equals a value of its type is none: floats and Decimals for bools and members of closed enums, as
for integers, and any other object in the place of a struct without fields. Integers and other libraries'
bools are taken, as ever.
"""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

import mf
from tests.python.codec.archives import Archives

SCHEMA = """module equal_values;
enum Small: u8 { none = 0, seven = 7 }
enum Wide: i32 { none = 0, seven = 7, many = 300 }
struct Fixed { small: Small; wide: Wide; yes: bool; few: array<Small, 2>; no: array<bool, 2>; }
struct Free { small: Small; text: string; wide: Wide; yes: bool; maybe: Wide?; smalls: list<Small>;
  wides: list<Wide>; array_: array<Wide, 2>; set_: set<Wide>; map_: map<Wide, bool>; bools: list<bool>; }
@tier(archive) struct Stored { 1: small: Small; 2: yes: bool; 3: wide: Wide; 4: smalls: list<Small>;
  5: wides: list<Wide>; 6: map_: map<Wide, bool>; 7: bools: list<bool>; 8: set_: set<Small>; }

struct Empty {}
struct Other {}
@tier(febird) struct Free_ {}
@tier(archive) struct Kept {}
struct Nest { empty: Empty; many: array<Empty, 2>; }
struct Holds { one: Empty; list_: list<Empty>; map_: map<u8, Empty>; maybe: Empty?; array_: array<Empty, 2>;
  byte: u8; next: Empty; free: Free_; frees: list<Free_>; arrays: list<array<Empty, 2>>; nest: Nest; }
@tier(archive) struct Keeps { 1: one: Empty; 2: list_: list<Empty>; 3: kept: Kept; 4: free: Free_; }
union Choice { empty: Empty; number: u8; }
"""
NUMBERS = (7.0, 0.0, Decimal(7), Decimal(0), Fraction(7), 7 + 0j)
TRUTHS = (1.0, 0.0, Decimal(1), Fraction(0), 1 + 0j)


@cache
def p() -> Any:
    return Archives(SCHEMA).package


def filled(name: str) -> Any:
    made = getattr(p(), name)()
    if hasattr(made, "array_"):
        made.array_ = [p().Wide.none] * 2
    return made


def changed(name: str, field: str, wrap: Callable[[Any], Any], value: Any) -> Any:
    made = filled(name)
    setattr(made, field, wrap(value))
    return made


def one(value: Any) -> Any:
    return value


PLACES: list[tuple[str, str, Callable[[Any], Any]]] = [
    ("Fixed", "small", one),
    ("Fixed", "wide", one),
    ("Fixed", "few", lambda each: [7, each]),
    ("Free", "small", one),
    ("Free", "wide", one),
    ("Free", "maybe", one),
    ("Free", "smalls", lambda each: [7, each]),
    ("Free", "wides", lambda each: [7, each]),
    ("Free", "wides", lambda each: [7] * 300 + [each]),
    ("Free", "array_", lambda each: [7, each]),
    ("Free", "set_", lambda each: {each}),
    ("Free", "map_", lambda each: {each: True}),
    ("Free", "map_", lambda each: {each: True, 300: False}),
    ("Stored", "small", one),
    ("Stored", "wide", one),
    ("Stored", "smalls", lambda each: [7, each]),
    ("Stored", "wides", lambda each: [7, each]),
    ("Stored", "wides", lambda each: [300] * 300 + [each]),
    ("Stored", "set_", lambda each: {each}),
    ("Stored", "map_", lambda each: {each: True}),
]
BOOLS: list[tuple[str, str, Callable[[Any], Any]]] = [
    ("Fixed", "yes", one),
    ("Fixed", "no", lambda each: [each, True]),
    ("Free", "yes", one),
    ("Free", "bools", lambda each: [True, each]),
    ("Free", "map_", lambda each: {0: each}),
    ("Stored", "yes", one),
    ("Stored", "bools", lambda each: [True, each]),
    ("Stored", "map_", lambda each: {0: each}),
]


@pytest.mark.parametrize(("name", "field", "wrap"), PLACES)
def test_no_float_is_a_member(name: str, field: str, wrap: Callable[[Any], Any]) -> None:
    for value in NUMBERS:
        for write in (mf.to_bytes, mf.to_json):
            with pytest.raises(mf.Error, match=rf"{name}\.{field}.*expected|keys are not all"):
                write(changed(name, field, wrap, value))
    member = p().Wide.seven if "wide" in field or field in ("maybe", "map_") else p().Small.seven
    assert mf.to_bytes(changed(name, field, wrap, 7)) == mf.to_bytes(changed(name, field, wrap, member))
    assert mf.to_bytes(changed(name, field, wrap, 0))
    for wrong in (5, -7, "seven", None) if field != "maybe" else (5, -7, "seven"):
        with pytest.raises(mf.Error):
            mf.to_bytes(changed(name, field, wrap, wrong))


@pytest.mark.parametrize(("name", "field", "wrap"), BOOLS)
def test_no_float_is_a_bool(name: str, field: str, wrap: Callable[[Any], Any]) -> None:
    for value in (*TRUTHS, 2, -1, "x", None):
        for write in (mf.to_bytes, mf.to_json):
            with pytest.raises(mf.Error, match=rf"{name}\.{field}.*expected"):
                write(changed(name, field, wrap, value))
    for value in (True, False):
        whole = mf.to_bytes(changed(name, field, wrap, value))
        assert mf.to_bytes(changed(name, field, wrap, int(value))) == whole
        assert mf.from_bytes(getattr(p(), name), whole) == changed(name, field, wrap, value)


def test_values_alone() -> None:
    for value in NUMBERS:
        with pytest.raises(mf.Error, match="expected"):
            mf.to_bytes(value, p().Small)
    for value in TRUTHS:
        with pytest.raises(mf.Error, match="expected"):
            mf.to_bytes(value, bool)
    assert mf.to_bytes(7, p().Small) == b"\x07"


def test_bools_of_numpy_are_taken() -> None:
    numpy = pytest.importorskip("numpy")
    for name, field, wrap in BOOLS:
        taken = changed(name, field, wrap, numpy.bool_(True))
        assert mf.to_bytes(taken) == mf.to_bytes(changed(name, field, wrap, True))
    array = numpy.array([7, 0], numpy.uint8)
    assert mf.to_bytes(changed("Free", "smalls", one, array)) == mf.to_bytes(
        changed("Free", "smalls", one, [7, 0])
    )


EMPTIES: list[tuple[str, str, Callable[[Any], Any]]] = [
    ("Holds", "one", one),
    ("Holds", "list_", lambda each: [p().Empty(), each]),
    ("Holds", "map_", lambda each: {1: each}),
    ("Holds", "maybe", one),
    ("Holds", "array_", lambda each: [p().Empty(), each]),
    ("Holds", "next", one),
    ("Holds", "free", one),
    ("Holds", "frees", lambda each: [p().Free_(), each]),
    ("Holds", "arrays", lambda each: [[p().Empty(), each]]),
    ("Nest", "empty", one),
    ("Nest", "many", lambda each: [each, each]),
    ("Keeps", "one", one),
    ("Keeps", "list_", lambda each: [each]),
    ("Keeps", "kept", one),
    ("Keeps", "free", one),
]


@pytest.mark.parametrize(("name", "field", "wrap"), EMPTIES)
def test_only_a_struct_without_fields_is_one(name: str, field: str, wrap: Callable[[Any], Any]) -> None:
    for value in (None, 5, "x", p().Other()) if field != "maybe" else (5, "x", p().Other()):
        made = getattr(p(), name)()
        setattr(made, field, wrap(value))
        for write in (mf.to_bytes, mf.to_json):
            with pytest.raises(mf.Error, match=rf"{name}\.{field}.*expected"):
                write(made)


def test_empty_structs_alone_in_lists_and_unions() -> None:
    empty = p().Empty()
    listed: Any = list[p().Empty]  # type: ignore[misc] # a class
    for value in (None, 5, p().Other()):
        with pytest.raises(mf.Error, match="expected"):
            mf.to_bytes(value, p().Empty)
        with pytest.raises(mf.Error, match="expected"):
            mf.to_bytes([empty, value], listed)
        with pytest.raises(mf.Error, match="expected"):
            mf.to_bytes(p().ChoiceEmpty(value))
    assert mf.to_bytes(empty) == b""
    assert mf.from_bytes(listed, mf.to_bytes([empty, empty], listed)) == [empty, empty]
    whole = p().Holds(array_=[empty] * 2)
    assert mf.from_bytes(p().Holds, mf.to_bytes(whole)) == whole
    assert mf.from_bytes(p().Keeps, mf.to_bytes(p().Keeps())) == p().Keeps()
