"""What a new object holds is what its bytes say: it equals its own round trip, in every tier."""

import importlib
from functools import cache
from typing import Any, cast

import pytest

import mf
from mf.codec import shape as s
from tests.python.codec.archives import Archives
from tests.python.codec.generated import codecs_of

_NUMBERS = """{
  1: a: f32 = 0.1; 2: b: f32? = 0.3; 3: c: list<f32> = [0.1, 3.4e38, -0.0];
  4: d: map<string, f32> = {"a": 0.2}; 5: e: array<f32, 2> = [0.1, 1e-40]; 6: f: f64 = 0.1; 7: g: f32 = TENTH;
  8: h: f32 = 16777217; 9: i: f32 = inf; 10: j: list<list<f32>> = [[0.7], []]; 11: k: set<u8> = [1, 2];
}"""


def _without(text: str) -> str:
    import re

    return re.sub(r"\b\d+: ", "", text)


@cache
def schema() -> Archives:
    return Archives(
        f"""module defaults; const TENTH: f32 = 0.1; const WHOLE: f64 = 0.1;
        @tier(archive) struct Old {_NUMBERS}
        struct New {_without(_NUMBERS)}
        struct Point {{ x: f32 = 0.1; y: f32 = 2.5; z: array<f32, 2> = [0.1, 0.3]; }}
        struct Nope {{}}
        struct Nothings {{
          lists: list<array<Nope, 2>>; named: map<u8, array<Nope, 2>>; maybe: array<Nope, 2>?;
        }}
        @tier(archive) struct Bounded {{
          1: named: map<string @length(1..8), u8>; 2: high: map<u8, u8 @range(1..)>;
          3: full: map<u8, list<u8> @length(1..)>; 4: warm: map<u8, f32 @range(0.5..)>;
        }}
        struct Holder {{ new: New = {{ a: 0.7 }}; points: list<Point> = [{{ x: 0.9 }}, {{}}]; old: Old; }}
        """
    )


@pytest.mark.parametrize("name", ["Old", "New", "Point", "Holder"])
def test_a_default_of_f32_is_one(name: str) -> None:
    value = getattr(schema().package, name)()
    assert mf.from_bytes(type(value), mf.to_bytes(value)) == value
    assert mf.from_json(type(value), mf.to_json(value)) == value


def test_arrays_of_nothing_have_bytes() -> None:
    package = schema().package
    pair = [package.Nope(), package.Nope()]
    for value, data in (
        (package.Nothings(), "000000"),
        (package.Nothings([pair, pair], {7: pair}, pair), "02010701"),
    ):
        assert mf.to_bytes(value).hex() == data
        assert mf.from_bytes(package.Nothings, bytes.fromhex(data)) == value


@pytest.mark.parametrize(
    ("data", "where"),
    [
        ("0a021001", r"Bounded\.named\[0\]"),
        ("12020801", r"Bounded\.high\[0\]"),
        ("1a020801", r"Bounded\.full\[0\]"),
        ("22020801", r"Bounded\.warm\[0\]"),
    ],
)
def test_what_an_entry_lacks_is_held_to_its_constraints(data: str, where: str) -> None:
    with pytest.raises(mf.Error, match=where) as caught:
        mf.from_bytes(schema().package.Bounded, bytes.fromhex(data))
    assert caught.value.code is mf.Code.INVALID_ARGUMENT
    assert mf.from_bytes(schema().package.Bounded, bytes.fromhex("12021001")).high == {0: 1}


def test_numbers_are_rounded_once() -> None:
    package = schema().package
    assert (package.TENTH, package.WHOLE) == (0.10000000149011612, 0.1)
    assert (package.New().a, package.New().f, package.New().h) == (0.10000000149011612, 0.1, 16777216.0)
    assert package.Holder().new.a == package.New(a=0.699999988079071).a
    assert '"a":0.1,' in mf.to_json(package.New())


@pytest.mark.parametrize("file", ["shapes.mfidl", "alternatives.mfidl", "wide.mfidl"])
def test_the_default_of_every_type_comes_back(file: str) -> None:
    importlib.invalidate_caches()
    seen = 0
    for codec in codecs_of(file):
        shape = codec.shape
        if (
            not isinstance(shape, s.Struct)
            or shape.implicit
            or issubclass(cast("type", shape.make), Exception)
        ):
            continue
        value: Any = shape.make()
        try:
            data = mf.to_bytes(value)
        except mf.Error:  # a reference that is not set, or a constraint that the zero violates
            continue
        assert mf.from_bytes(type(value), data) == value
        seen += 1
    assert seen > 2
