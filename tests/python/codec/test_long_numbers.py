"""Integers that Python itself does not write, of more than 4300 digits: refused by name like any other that
is too large, with their first digits.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

import mf
from mf.codec.failure import digits
from tests.python.codec.archives import Archives

HUGE = 3 * 10**5000
SHOWN = f"3{'0' * 56}..."
WRITERS: list[Callable[[Any], object]] = [mf.to_bytes, mf.to_json, mf.hash64]


@cache
def package() -> Any:
    fields = """{
  1: byte: u8 = 0; 2: word: u32 = 0; 3: wide: u64 = 0; 4: whole: i64 = 0; 5: at: timestamp?;
  6: span: duration?; 7: real: f64 = 0.0; 8: yes: bool = false; 9: many: list<u32>; 10: by: map<u32, u8>;
  11: of: set<i16>; 12: lang: Lang = Lang.en; 13: rank: Rank = Rank.first; 14: part: Part?;
  15: text: string = ""; 16: named: map<u8, string>; 17: near: u8 @range(..9) = 0;
}"""
    plain = re.sub(r"\d+: ([a-z]+: )", r"\1", fields)
    return Archives(
        f"""module long_numbers;
open enum Lang: u8 {{ en = 0 }}
enum Rank: u8 {{ first = 0 }}
flags Part: u16 {{ title }}
struct Plain {plain}
@tier(archive) struct Kept {fields}
"""
    ).package


def refusal(write: Callable[[Any], object], value: Any) -> str:
    with pytest.raises(mf.Error) as caught:
        write(value)
    assert caught.value.code == mf.Code.INVALID_ARGUMENT
    return caught.value.message


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("name", ["Plain", "Kept"])
@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("byte", HUGE, f": {SHOWN} does not fit in u8 (0 to 255)"),
        ("word", HUGE, f": {SHOWN} does not fit in u32 (0 to 4294967295)"),
        ("wide", HUGE, f": {SHOWN} does not fit in u64 (0 to "),
        ("whole", -HUGE, f": -{SHOWN[:56]}... does not fit in i64 ("),
        ("at", HUGE, f": {SHOWN} does not fit in "),
        ("at", mf.Timestamp(HUGE), f": {SHOWN} does not fit in "),
        ("span", mf.Duration(HUGE), f": {SHOWN} does not fit in "),
        ("real", HUGE, f": expected f64, got {SHOWN}"),
        ("yes", HUGE, f": expected bool, got {SHOWN}"),
        ("many", [1, HUGE], f"[1]: {SHOWN} does not fit in u32 "),
        ("by", {HUGE: 1}, f"[{SHOWN[:-3]}"),
        ("by", {1: HUGE}, f"[1]: {SHOWN} does not fit in u8 "),
        ("of", {HUGE}, f"[0]: {SHOWN} does not fit in i16 "),
        ("lang", HUGE, f": {SHOWN} does not fit in u8 "),
        ("rank", HUGE, f": {SHOWN} is not a member of long_numbers.Rank"),
        ("part", HUGE, f": {SHOWN} does not fit in u16 "),
        ("text", HUGE, f": expected str, got {SHOWN}"),
        ("text", [HUGE], ": expected str, got a list"),
        ("named", {HUGE: "x"}, f"[{SHOWN[:-3]}"),
        ("near", HUGE, f": {SHOWN} does not fit in u8 "),
    ],
    ids=lambda each: each if isinstance(each, str) else "value",
)
def test_a_number_too_long_to_write_is_refused_like_any_other(
    write: Callable[[Any], object], name: str, field: str, value: Any, reason: str
) -> None:
    made = getattr(package(), name)()
    setattr(made, field, value)
    assert refusal(write, made).startswith(f"{name}.{field}{reason}")


def test_a_long_number_in_a_list_of_structs() -> None:
    plain = package().Plain
    with pytest.raises(mf.Error, match="does not fit in u32") as caught:
        mf.to_bytes([plain(), plain(word=HUGE)], list[plain])  # type: ignore[valid-type]
    assert caught.value.message.startswith(f"[1].word: {SHOWN}")


@pytest.mark.parametrize("make", [lambda: package().Part, lambda: mf.Duration, lambda: mf.Timestamp])
def test_values_of_classes_are_shown_whatever_their_size(make: Callable[[], Any]) -> None:
    assert hex(HUGE) in repr(make()(HUGE))


@pytest.mark.parametrize("write", WRITERS)
def test_members_of_their_own_are_refused_whatever_their_size(write: Callable[[Any], object]) -> None:
    for kind in (package().Part, package().Lang):
        assert SHOWN in refusal(write, kind(HUGE))


@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize("size", [60, 61, 62, 100, 4299, 4300, 4301, 9000])
def test_the_first_digits_of_a_number_are_its_own(sign: str, size: int) -> None:
    for text in ("1234567890" * 900, "9" * 9000, f"1{'0' * 9000}"):
        number = 0
        for at in range(0, size, 1000):
            part = text[at : min(size, at + 1000)]
            number = number * 10 ** len(part) + int(part)
        whole = sign + text[:size]
        assert digits(-number if sign else number) == (whole if size == 60 else f"{whole[:57]}...")
