"""Unions and flags of generated code."""

import copy
import importlib
import pickle
from typing import Any

import pytest

import mf
from mf.codec import sizes
from mf.codec.flags import Flags, bit
from mf.codec.limits import MAX_DEPTH
from tests.python.codec.generated import codec_of, codecs

SCHEMA = "alternatives.mfidl"
codecs(SCHEMA)
types: Any = importlib.import_module("vectors.alternatives")


class Part(Flags, bits=16):
    title = bit(0)
    body = bit(1)
    url = bit(9)


def _codec(name: str) -> Any:
    return codec_of(SCHEMA, f"vectors.alternatives.{name}")


def _decoding(name: str, data: str) -> mf.Error:
    with pytest.raises(mf.Error) as caught:
        _codec(name).decode(bytes.fromhex(data))
    return caught.value


def _encoding(name: str, value: Any) -> mf.Error:
    with pytest.raises(mf.Error) as caught:
        _codec(name).encode(value)
    return caught.value


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("Value", "09", "Value, at byte 0: 9 is not an alternative of vectors.alternatives.Value"),
        ("Value", "00", "Value, at byte 0: 0 is not an alternative of vectors.alternatives.Value"),
        ("Value", "c801 02 0500 0900", "Value.nested[1], at byte 5: 9 is not an alternative"),
        ("Value", "c801 01 0703 00", "Value.nested[0].tiny, at byte 4: 3 is not an alternative"),
        ("Value", "0206 616161616161", "Value.text, at byte 1: length 6 is not in 1..5"),
        (
            "Value",
            "8500 00",
            "Value, at byte 0: a number is not in its shortest form",
        ),
        ("Tiny", "01", "Tiny.a, at byte 1: 1 byte expected, 0 left"),
        ("Tiny", "0105 05", "Tiny, at byte 2: 1 byte after the end of the value"),
    ],
)
def test_a_wrong_alternative_is_named(name: str, data: str, message: str) -> None:
    assert message in _decoding(name, data).message


def test_an_alternative_is_checked_before_it_is_sent() -> None:
    error = _encoding("Value", types.ValueNested([types.ValuePart(types.Part.url), types.ValueNumber(11.0)]))
    assert error.message == "Value.nested[1].number: 11.0 is not in -10.0..10.0"
    assert error.code is mf.Code.INVALID_ARGUMENT


@pytest.mark.parametrize("value", [1.5, None, "text"])
def test_a_value_is_no_union_without_its_alternative(value: Any) -> None:
    assert "expected an alternative of vectors.alternatives.Value, got" in _encoding("Value", value).message


def test_nesting_of_unions_ends_at_the_bound() -> None:
    def nested(levels: int) -> Any:
        value = types.ValueText("a")
        for _ in range(levels):
            value = types.ValueNested([value])
        return value

    codec, most = _codec("Value"), (MAX_DEPTH - 1) // 2  # each level is a union and a list
    assert codec.decode(codec.encode(nested(most))) == nested(most)
    assert f"nested deeper than {MAX_DEPTH}" in _encoding("Value", nested(most + 1)).message
    assert f"nested deeper than {MAX_DEPTH}" in _decoding("Value", "c80101" * 40 + "020161").message


def test_alternatives_are_told_apart_by_match() -> None:
    match types.ValueText("abc"):
        case types.ValueNumber(_):
            raise AssertionError
        case types.ValueText(text):
            assert text == "abc"
    assert isinstance(types.ValueText("abc"), types.Value)
    assert types.TinyA(1) != types.TinyB(1)
    assert repr(types.TinyA(1)) == "TinyA(value=1)"


def test_a_union_starts_as_its_first_alternative() -> None:
    first, second = types.Holder(), types.Holder()
    assert first.value == types.ValueNumber(0.0)
    assert first.value is not second.value
    assert first.two[0] is not first.two[1]


def test_flags_combine_and_stay_flags() -> None:
    both = Part.title | Part.url
    assert (type(both), int(both)) == (Part, 513)
    assert Part.title in both
    assert Part.body not in both
    assert list(both) == [Part.title, Part.url]
    assert both.names == ("title", "url")
    assert both & ~Part.title == Part.url
    assert both ^ Part.title == Part.url
    assert not Part.title & Part.body
    assert ~Part() == Part(0xFFFF)
    assert Part.title | Part.body in Part(7)


def test_bits_without_a_name_are_shown_and_kept() -> None:
    assert repr(Part(5)) == "Part.title|0x4"
    assert repr(Part(4)) == "Part(4)"
    assert repr(Part()) == "Part(0)"
    assert list(Part(5)) == [Part.title]
    assert Part(5) & ~Part.title == Part(4)
    codec = _codec("Alternatives.only.results")
    assert codec.decode(codec.encode(Part(0xFFFF))) == 0xFFFF


def test_flags_are_values() -> None:
    both = types.Part.title | types.Part.url
    assert pickle.loads(pickle.dumps(both)) == both
    assert type(copy.deepcopy(both)) is types.Part
    assert {both: 1}[types.Part(513)] == 1
    assert "65536 does not fit in u16" in _encoding("Alternatives.only.results", types.Part(1 << 16)).message


def test_a_peer_cannot_fill_the_memory_with_combinations() -> None:
    codec = _codec("Fixed")
    before = dict(codec.shape.fields[2].shape.values)
    for number in range(64):
        codec.decode(codec.encode(types.Fixed(wide=types.Wide(1 << number | 2))))
    assert codec.shape.fields[2].shape.values == before


@pytest.mark.parametrize("where", ["light", "server"])
def test_unions_and_flags_travel_in_calls_and_errors(where: str) -> None:
    class Turning(types.AlternativesServant):  # type: ignore[misc]
        def turn(self, value: Any, part: Any) -> Any:
            if part == types.Part():
                raise types.Refused(why=value, part=types.Part.url)
            match value:
                case types.ValueTiny(types.TinyA(number)):
                    return types.TinyB(-number)
            return types.TinyA(int(part))

        def only(self, part: Any) -> Any:
            return ~part

    light, server = mf.Light(), mf.Server()
    light.offer(Turning())
    server.offer(Turning())
    with server, mf.Client(light if where == "light" else server.address) as client:
        turning = types.AlternativesClient(client)
        both = types.Part.title | types.Part.body
        assert turning.turn(types.ValueTiny(types.TinyA(5)), both) == types.TinyB(-5)
        assert turning.turn(types.ValueText("a"), both) == types.TinyA(3)
        assert turning.only(both) == types.Part(0xFFFC)
        with pytest.raises(types.Refused) as caught:
            turning.turn(types.ValueText("a"), types.Part())
        assert (caught.value.why, caught.value.part) == (types.ValueText("a"), types.Part.url)
        request = types.AlternativesTurnRequest
        outcomes = turning.turn_bulk(
            [request(types.ValueText("a"), part) for part in (both, types.Part(), both)]
        )
        assert [each.ok for each in outcomes] == [True, False, True]
        with pytest.raises(mf.Error, match=r"turn: value\.text: length 6 is not in 1\.\.5"):
            turning.turn(types.ValueText("abcdef"), both)


def test_a_codec_can_be_copied_before_and_after_its_first_use() -> None:
    codec = copy.copy(_codec("Tiny"))
    assert codec.decode(codec.encode(types.TinyA(1))) == types.TinyA(1)
    assert copy.copy(codec).decode(b"\1\2") == types.TinyA(2)
    assert not hasattr(codec, "nothing")


def test_the_smallest_alternative_counts_with_its_number() -> None:
    """What a reader holds a count against."""
    from mf.codec import shape as s

    def union(*alternatives: tuple[int, s.Shape]) -> s.Union:
        made = tuple(s.Alternative(number, f"a{number}", str, shape) for number, shape in alternatives)
        return s.Union("U", lambda: made)

    empty = s.Struct("E", object, lambda: ())
    assert sizes.smallest(union((300, s.U8))) == 3
    assert sizes.smallest(union((300, empty), (1, s.UUID))) == 2
    assert sizes.smallest(union((127, empty), (128, empty))) == 1
    assert sizes.smallest(union((1 << 14, s.F64))) == 11
    assert sizes.smallest(union((0, s.F64))) == 9
