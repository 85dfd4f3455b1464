"""Writes cases.json and floats.json beside it: python tests/vectors/json/make.py

Each case was written from docs/json.md by hand. A text is read as `type`, and either written again as
`canonical`, or refused with `fault`, `offset` and `path`. A type is a name of schemas/json.mfidl, or a built-in
one. `hex` stands for a text that is not UTF-8.
"""
# ruff: noqa: E501

import json
import random
import struct
from decimal import Decimal
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CASES: list[dict[str, Any]] = []

HIT = '{"doc":7,"score":0.5,"title":"x","positions":[1,2]}'
POINT = '{"x":1.0,"y":2.0}'


def good(type_: str, text: str, canonical: str | None = None) -> None:
    CASES.append({"type": type_, "text": text, "canonical": text if canonical is None else canonical})


def bad(type_: str, text: str | bytes, fault: str, offset: int, path: str = "") -> None:
    given = {"text": text} if isinstance(text, str) else {"hex": text.hex()}
    root = (
        type_
        if type_[0].isupper() and type_ not in ("Rank", "Sign", "Lang", "Serial", "Part", "Wide")
        else ""
    )
    path = root + ("." if root and path and path[0] != "[" else "") + path
    CASES.append({"type": type_, **given, "fault": fault, "offset": offset, "path": path})


def integers() -> None:
    for name, low, high in (
        ("u8", 0, 255),
        ("i8", -128, 127),
        ("u16", 0, 65535),
        ("i16", -32768, 32767),
        ("u32", 0, 2**32 - 1),
        ("i32", -(2**31), 2**31 - 1),
    ):
        good(name, str(low))
        good(name, str(high))
        good(name, f'"{high}"', str(high))
        bad(name, str(low - 1), "number_out_of_range", 0)
        bad(name, f" {high + 1}", "number_out_of_range", 1)
    for name, low, high in (("u64", 0, 2**64 - 1), ("i64", -(2**63), 2**63 - 1)):
        good(name, f'"{low}"')
        good(name, f'"{high}"')
        good(name, str(high), f'"{high}"')
        good(name, f"{high}.000", f'"{high}"')
        bad(name, str(low - 1), "number_out_of_range", 0)
        bad(name, f'"{high + 1}"', "number_out_of_range", 0)
        bad(name, str(10 * high), "number_out_of_range", 0)
    for text in (
        "1.0",
        "1e0",
        "10e-1",
        "0.1e1",
        '"1.0"',
        "1E+0",
        "100000000000000000000e-20",
        "0.001e3",
        "\t\n\r 1 ",
    ):
        good("u8", text, "1")
    for text in ("0", "-0", "-0.0", "0e999999999999999999999", '"-0"', "0.000e-9"):
        good("u8", text, "0")
    good("i8", "-1.28e2", "-128")
    good("u64", "1844674407370955161.5e1", '"18446744073709551615"')
    for text in ("1.5", "1e-1", "12.000001", "1e-999999999999999999999", '"1.5"', "300.5"):
        bad("u8", text, "json_wrong_type", 0)
    for text in ("1e3", "1e400", "1e999999999999999999999", "9" * 5000, "-1", "2.56e2"):
        bad("u8", text, "number_out_of_range", 0)
    for text in (
        '"abc"',
        '""',
        '" 1"',
        '"1 "',
        '"+1"',
        '"01"',
        '"1_0"',
        '"0x1"',
        '"NaN"',
        '"١"',
        "true",
        "null",
        "[1]",
        "{}",
    ):
        bad("u8", text, "json_wrong_type", 0)
    for text, offset in (
        ("", 0),
        ("   ", 3),
        ("-", 1),
        ("-a", 1),
        ("1.", 2),
        ("1.e5", 2),
        ("1e", 2),
        ("1e+", 3),
        ("+1", 0),
        (".5", 0),
    ):
        bad("u8", text, "json_syntax", offset)
    for text, offset in (("NaN", 0), ("nan", 0), ("Infinity", 0), ("-Infinity", 1), ("1e-", 3)):
        bad("f64", text, "json_wrong_type" if text == "nan" else "json_syntax", offset)
    for text, offset in (
        ("01", 1),
        ("00", 1),
        ("1 2", 2),
        ("1x", 1),
        ("1,", 1),
        ("1]", 1),
        ("0x1", 1),
        ("1\x00", 1),
        ("-01", 2),
    ):
        bad("i8", text, "trailing_bytes", offset)


def floats() -> None:
    for text in (
        "0.0",
        "-0.0",
        "1.0",
        "0.1",
        "3.0",
        "100000.0",
        "0.0001",
        "1e-05",
        "1e+16",
        "1234567890123456.0",
    ):
        good("f64", text)
    for text in (
        "1.7976931348623157e+308",
        "5e-324",
        "2.2250738585072014e-308",
        "-1.5e+300",
        "5.684341886080802e-14",
    ):
        good("f64", text)
    for text in (
        "0.1",
        "1e-45",
        "1.1754944e-38",
        "3.4028235e+38",
        "16777216.0",
        "9999999000000000.0",
        "-0.0",
        "1e-05",
    ):
        good("f32", text)
    for text, canonical in (
        ("1", "1.0"),
        ("-0", "-0.0"),
        ("0", "0.0"),
        ("1e16", "1e+16"),
        ("9999999999999999", "1e+16"),
        ("9007199254740993", "9007199254740992.0"),
        ("1e-400", "0.0"),
        ("-1e-400", "-0.0"),
        ("2.4703282292062327e-324", "0.0"),
        ("2.4703282292062328e-324", "5e-324"),
        ("1.7976931348623158e308", "1.7976931348623157e+308"),
        ("0.1000000000000000055511151231257827021181583404541015625", "0.1"),
        ('"1.5"', "1.5"),
        ("0." + "0" * 400 + "1e401", "1.0"),
    ):
        good("f64", text, canonical)
    for text, canonical in (
        ("0.1000000014901161193847656250", "0.1"),
        ("16777217", "16777216.0"),
        ("16777217.00000000000000000000001", "16777218.0"),
        ("16777219", "16777220.0"),
        ("16777218.99999999999999999999999", "16777218.0"),
        ("3.4028235677973366e38", "3.4028235e+38"),
        ("3.4028235677973365e38", "3.4028235e+38"),
        ("340282356779733661637539395458142568447.9999999999", "3.4028235e+38"),
        ("7.006492321624085e-46", "0.0"),
        ("7.006492321624086e-46", "1e-45"),
        ("-7.006492321624085e-46", "-0.0"),
        ("1e-400", "0.0"),
        ("2097152.25", "2097152.2"),
        ("9.5367431640625e-07", "9.536743e-07"),
    ):
        good("f32", text, canonical)
    bad("f32", "340282356779733661637539395458142568448", "number_out_of_range", 0)
    for name in ("f32", "f64"):
        for text in ('"NaN"', '"Infinity"', '"-Infinity"'):
            good(name, text)
        for text in ("1e400", "-1e400", '"1e400"', "1e99999999999999999999"):
            bad(name, text, "number_out_of_range", 0)
        for text in ('"inf"', '"nan"', '"+Infinity"', '""', "true", "null"):
            bad(name, text, "json_wrong_type", 0)
    for text in ("3.5e38", "1e106", "-1e308"):
        bad("f32", text, "number_out_of_range", 0)
    bad("f64", "1.7976931348623159e308", "number_out_of_range", 0)


def texts() -> None:
    for text in (
        '""',
        '"a"',
        '"\\"\\\\\\b\\f\\n\\r\\t"',
        '"\\u0000\\u0001\\u001f"',
        '"\x7f é € 😀 \u2028"',
        '"/"',
    ):
        good("string", text)
    for text, canonical in (
        ('"\\u0041"', '"A"'),
        ('"\\/"', '"/"'),
        ('"\\u000a"', '"\\n"'),
        ('"\\u00e9"', '"é"'),
        ('"\\u20AC"', '"€"'),
        ('"\\ud83d\\ude00"', '"😀"'),
        ('"\\uDBFF\\uDFFF"', '"\U0010ffff"'),
        ('"\\u001F"', '"\\u001f"'),
        ('"\\uffff\\ufffe"', '"\uffff\ufffe"'),
    ):
        good("string", text, canonical)
    for text, offset in (
        ('"', 1),
        ('"abc', 4),
        ('"a\nb"', 2),
        ('"a\x00b"', 2),
        ('"\\x41"', 1),
        ('"ab\\', 3),
        ('"\\u12"', 1),
        ('"\\u12g4"', 1),
        ('"\\u"', 1),
        ('"\\ud800"', 1),
        ('"a\\udc00"', 2),
        ('"\\ud800\\ud800"', 1),
        ('"\\ud800x"', 1),
        ('"\\ud800\\n"', 1),
        ('"\\ud800\\u12"', 7),
        ("'a'", 0),
        ('\ufeff""', 0),
        ('"\\U0041"', 1),
    ):
        bad("string", text, "json_syntax", offset)
    for data, offset in (
        (b'"\xff"', 1),
        (b'"ab\xc3"', 3),
        (b'"\xed\xa0\x80"', 1),
        (b'"\xc0\x80"', 1),
        (b"\xf4\x90\x80\x80", 0),
    ):
        bad("string", data, "invalid_utf8", offset)
    bad("u8", b"x 1\x80", "invalid_utf8", 3)
    for text in ("1", "null", "true", "[]", "{}", "nul"):
        bad("string", text, "json_wrong_type", 0)
    bad("string", '"a" "b"', "trailing_bytes", 4)
    for text in ('""', '"AA=="', '"AAA="', '"AAAA"', '"+/+/"', '"/w=="', '"AP8="'):
        good("bytes", text)
    good("bytes", '"\\u0041A=="', '"AA=="')
    for text in (
        '"A"',
        '"AA"',
        '"AA="',
        '"AAA"',
        '"AB=="',
        '"AAB="',
        '"A==="',
        '"===="',
        '"AA==AA=="',
        '"-_-_"',
        '"AA =="',
        '"AAAA\\n"',
        '"AA*="',
        '"é=="',
    ):
        bad("bytes", text, "json_wrong_type", 0)
    bad("bytes", "[1,2]", "json_wrong_type", 0)


def moments() -> None:
    for text in (
        '"1970-01-01T00:00:00Z"',
        '"2026-11-21T01:02:03.500Z"',
        '"1969-12-31T23:59:59.999999999Z"',
        '"1677-09-21T00:12:43.145224192Z"',
        '"2262-04-11T23:47:16.854775807Z"',
        '"2000-02-29T12:00:00.000001Z"',
        '"1900-02-28T00:00:00.000010Z"',
    ):
        good("timestamp", text)
    for text, canonical in (
        ('"2026-11-21T01:02:03.5Z"', '"2026-11-21T01:02:03.500Z"'),
        ('"2026-11-21t01:02:03z"', '"2026-11-21T01:02:03Z"'),
        ('"2026-11-21T10:02:03+09:00"', '"2026-11-21T01:02:03Z"'),
        ('"2026-01-01T00:00:00-23:59"', '"2026-01-01T23:59:00Z"'),
        ('"1970-01-01T00:00:00.0000-00:00"', '"1970-01-01T00:00:00Z"'),
        ('"0"', '"1970-01-01T00:00:00Z"'),
        ('"-1"', '"1969-12-31T23:59:59.999999999Z"'),
        ('"1e3"', '"1970-01-01T00:00:00.000001Z"'),
        ('"-15.0e2"', '"1969-12-31T23:59:59.999998500Z"'),
        ('"9223372036854775807"', '"2262-04-11T23:47:16.854775807Z"'),
        ('"-9223372036854775808"', '"1677-09-21T00:12:43.145224192Z"'),
    ):
        good("timestamp", text, canonical)
    for text in (
        '"2262-04-11T23:47:16.854775808Z"',
        '"1677-09-21T00:12:43.145224191Z"',
        '"0000-01-01T00:00:00Z"',
        '"0000-02-29T00:00:00Z"',
        '"9999-12-31T23:59:59Z"',
        '"9223372036854775808"',
        '"1e30"',
    ):
        bad("timestamp", text, "number_out_of_range", 0)
    for text in (
        '"2025-02-29T00:00:00Z"',
        '"0000-02-30T00:00:00Z"',
        '"2026-13-01T00:00:00Z"',
        '"2026-00-01T00:00:00Z"',
        '"2026-01-00T00:00:00Z"',
        '"2026-04-31T00:00:00Z"',
        '"2026-01-01T24:00:00Z"',
        '"2026-01-01T23:60:00Z"',
        '"2016-12-31T23:59:60Z"',
        '"2026-01-01 00:00:00Z"',
        '"2026-01-01T00:00:00"',
        '"2026-01-01T00:00:00.Z"',
        '"2026-01-01T00:00:00.1234567890Z"',
        '"2026-01-01T00:00:00+0900"',
        '"2026-01-01T00:00:00+24:00"',
        '"2026-1-1T00:00:00Z"',
        '"2026-01-01T00:00Z"',
        '"2026-01-01T00:00:00Z "',
        '"٢026-01-01T00:00:00Z"',
        '"1.5"',
        '"1e-1"',
        '" 1"',
        '""',
        "0",
    ):
        bad("timestamp", text, "json_wrong_type", 0)
    for text in (
        '"0s"',
        '"30s"',
        '"0.200s"',
        '"-1.500s"',
        '"0.000001s"',
        '"-0.000000001s"',
        '"9223372036.854775807s"',
        '"-9223372036.854775808s"',
    ):
        good("duration", text)
    for text, canonical in (
        ('"-0s"', '"0s"'),
        ('"1.5s"', '"1.500s"'),
        ('"0.0s"', '"0s"'),
        ('"-0.0000010s"', '"-0.000001s"'),
    ):
        good("duration", text, canonical)
    for text in (
        '"9223372036.854775808s"',
        '"-9223372036.854775809s"',
        '"9223372037s"',
        '"99999999999999999999s"',
    ):
        bad("duration", text, "number_out_of_range", 0)
    for text in (
        '"1"',
        '"1.s"',
        '".5s"',
        '"01s"',
        '"+1s"',
        '"1m"',
        '"1s "',
        '"1.0000000001s"',
        '"s"',
        '"-s"',
        '"1e3s"',
        "1",
        "null",
    ):
        bad("duration", text, "json_wrong_type", 0)
    good("uuid", '"00112233-4455-6677-8899-aabbccddeeff"')
    good("uuid", '"00112233-4455-6677-8899-AABBCCDDEEFF"', '"00112233-4455-6677-8899-aabbccddeeff"')
    for text in (
        '"00112233445566778899aabbccddeeff"',
        '"{00112233-4455-6677-8899-aabbccddeeff}"',
        '"urn:uuid:00112233-4455-6677-8899-aabbccddeeff"',
        '"00112233-4455-6677-8899-aabbccddeefg"',
        '"0011223-34455-6677-8899-aabbccddeeff"',
        '"00112233-4455-6677-8899-aabbccddeef"',
        '""',
        "1",
    ):
        bad("uuid", text, "json_wrong_type", 0)


def names() -> None:
    for text in ("true", "false"):
        good("bool", text)
    for text, fault, offset in (
        ("True", "json_syntax", 0),
        ("tru", "json_syntax", 0),
        ("truex", "trailing_bytes", 4),
        ("1", "json_wrong_type", 0),
        ('"true"', "json_wrong_type", 0),
        ("null", "json_wrong_type", 0),
    ):
        bad("bool", text, fault, offset)
    good("Rank", '"class"')
    good("Rank", "7", '"class"')
    good("Rank", '"7"', '"class"')
    good("Rank", '"\\u0062m25"', '"bm25"')
    good("Sign", "-1.0", '"minus"')
    good("Lang", '"ko"')
    good("Lang", "7")
    good("Lang", '"7"', "7")
    good("Lang", "300", '"ko"')
    good("Serial", '"least"')
    good("Serial", '"-9223372036854775807"')
    good("Serial", "5", '"5"')
    for type_, text, fault in (
        ("Rank", '"BM25"', "unknown_enum_value"),
        ("Rank", '"bm26"', "unknown_enum_value"),
        ("Rank", '""', "unknown_enum_value"),
        ("Rank", "2", "unknown_enum_value"),
        ("Rank", '"2"', "unknown_enum_value"),
        ("Rank", "256", "number_out_of_range"),
        ("Rank", "0.5", "json_wrong_type"),
        ("Rank", "true", "json_wrong_type"),
        ("Rank", "[]", "json_wrong_type"),
        ("Sign", "-2", "unknown_enum_value"),
        ("Lang", '"de"', "unknown_enum_value"),
        ("Lang", "65536", "number_out_of_range"),
    ):
        bad(type_, text, fault, 0)
    good("Part", "[]")
    good("Part", '["title","body","url"]')
    good("Part", '["url","title"]', '["title","url"]')
    good("Part", '["title",4]')
    good("Part", '["title","4"]', '["title",4]')
    good("Part", "[5]", '["title",4]')
    good("Part", "131", '["title","body","url"]')
    good("Part", '"255"', '["title","body","url",124]')
    good("Part", "[0,0]", "[]")
    good("Wide", '["low","high","9223372036854775806"]')
    good("Wide", '"18446744073709551615"', '["low","high","9223372036854775806"]')
    for type_, text, fault, offset, path in (
        ("Part", '["titel"]', "unknown_enum_value", 1, "[0]"),
        ("Part", '["title", "title"]', "json_duplicate_key", 10, "[1]"),
        ("Part", '["title",3]', "json_duplicate_key", 9, "[1]"),
        ("Part", "[256]", "number_out_of_range", 1, "[0]"),
        ("Part", "256", "number_out_of_range", 0, ""),
        ("Part", '["title",true]', "json_wrong_type", 9, "[1]"),
        ("Part", '"title"', "json_wrong_type", 0, ""),
        ("Part", "{}", "json_wrong_type", 0, ""),
        ("Part", "[1", "json_syntax", 2, ""),
        ("Part", "[1,]", "json_syntax", 3, "[1]"),
    ):
        bad(type_, text, fault, offset, path)


def structs() -> None:
    good("Empty", "{}")
    good("Empty", " { } ", "{}")
    good("Hit", HIT)
    good("Hit", '{"positions" : [ 1 , 2 ] ,\n"title":"x","score":5e-1,"doc":"7"}', HIT)
    good("Hit", '{"d\\u006fc":7,"score":0.5,"title":"x","positions":[1,2]}', HIT)
    good("Point", POINT)
    good("Words", '{"class":1,"None":true,"value":2,"reader":3,"writer":4,"field":5,"self":6}')
    good("Gone", '{"name":"a","rank":"class"}')
    good("Gone", '{"name":"a"}', '{"name":"a","rank":"bm25"}')
    whole = '{"limit":10,"name":"x","point":{"x":1.0,"y":2.0},"words":["a"],"rank":"pagerank"}'
    good("Defaults", "{}", whole)
    good("Defaults", whole)
    good("Defaults", '{"maybe":null}', whole)
    good(
        "Defaults",
        '{"name":null,"maybe":"-5"}',
        whole.replace('"x","point', 'null,"point')[:-1] + ',"maybe":"-5"}',
    )
    good("Defaults", '{"words":[]}', whole.replace('["a"]', "[]"))
    good("Defaults", '{"point":{"y":0,"x":3}}', whole.replace('"x":1.0,"y":2.0', '"x":3.0,"y":0.0'))
    for type_, text, fault, offset, path in (
        ("Hit", "{}", "missing_field", 1, "doc"),
        ("Hit", '{"doc":7}', "missing_field", 8, "score"),
        ("Hit", HIT.replace(',"positions":[1,2]', ""), "missing_field", 32, "positions"),
        ("Hit", '{"doc":7,"dok":8}', "json_unknown_field", 9, ""),
        ("Hit", '{"Doc":7}', "json_unknown_field", 1, ""),
        ("Hit", '{"":7}', "json_unknown_field", 1, ""),
        ("Hit", '{"doc":7,"doc":7}', "json_duplicate_key", 9, "doc"),
        ("Hit", '{"doc":7, "d\\u006fc":7}', "json_duplicate_key", 10, "doc"),
        ("Hit", '{"doc":7,"unknown" 1}', "json_unknown_field", 9, ""),
        ("Hit", '{"doc":-1}', "number_out_of_range", 7, "doc"),
        ("Hit", '{"doc":null}', "json_wrong_type", 7, "doc"),
        ("Hit", '{"doc":}', "json_syntax", 7, "doc"),
        ("Hit", '{"doc"}', "json_syntax", 6, "doc"),
        ("Hit", '{"doc" 1}', "json_syntax", 7, "doc"),
        ("Hit", '{"doc":1,}', "json_syntax", 9, ""),
        ("Hit", '{,"doc":1}', "json_syntax", 1, ""),
        ("Hit", "{doc:1}", "json_syntax", 1, ""),
        ("Hit", '{"doc":1 "score":1}', "json_syntax", 9, ""),
        ("Hit", '{"doc":1]', "json_syntax", 8, ""),
        ("Hit", '{"doc":1', "json_syntax", 8, ""),
        ("Hit", '{"doc":1,', "json_syntax", 9, ""),
        ("Hit", "{", "json_syntax", 1, ""),
        ("Hit", '{"doc', "json_syntax", 5, ""),
        ("Hit", '{"doc":1/**/}', "json_syntax", 8, ""),
        ("Hit", "[]", "json_wrong_type", 0, ""),
        ("Hit", "null", "json_wrong_type", 0, ""),
        ("Hit", "", "json_syntax", 0, ""),
        ("Hit", HIT + " x", "trailing_bytes", len(HIT) + 1, ""),
        ("Hit", HIT + HIT, "trailing_bytes", len(HIT), ""),
        ("Hit", '{"positions":[1,2,x]}', "json_syntax", 18, "positions[2]"),
        ("Hit", '{"positions":[1,2,]}', "json_syntax", 18, "positions[2]"),
        ("Hit", '{"positions":[1 2]}', "json_syntax", 16, "positions"),
        ("Hit", '{"positions":[1,', "json_syntax", 16, "positions[1]"),
        ("Hit", '{"positions":[1,null]}', "json_wrong_type", 16, "positions[1]"),
        ("Hit", '{"positions":{}}', "json_wrong_type", 13, "positions"),
        ("Hit", '{"title":"é","score":"x"}', "json_wrong_type", 22, "score"),
        ("Defaults", '{"limit":null}', "json_wrong_type", 9, "limit"),
        ("Defaults", '{"maybe":nul}', "json_syntax", 9, "maybe"),
        ("Defaults", '{"maybe":false}', "json_wrong_type", 9, "maybe"),
        ("Defaults", '{"point":{"x":1}}', "missing_field", 15, "point.y"),
        ("Defaults", '{"words":["a",1]}', "json_wrong_type", 14, "words[1]"),
        ("Gone", "{}", "missing_field", 1, "name"),
    ):
        bad(type_, text, fault, offset, path)
    good("Figure", '{"circle":1.5}')
    good("Figure", '{"point":{"x":1.0,"y":2.0}}')
    good("Figure", '{"many":[{"circle":1.0},{"many":[]}]}')
    for text, fault, offset, path in (
        ("{}", "missing_field", 1, ""),
        ('{"square":1}', "unknown_alternative", 1, ""),
        ('{"circle":1,"point":{}}', "json_wrong_type", 11, ""),
        ('{"circle":1 , "circle":1}', "json_wrong_type", 12, ""),
        ('{"circle"', "json_syntax", 9, "circle"),
        ('{"circle":1', "json_syntax", 11, ""),
        ('{"circle":1]', "json_syntax", 11, ""),
        ('{"circle":null}', "json_wrong_type", 10, "circle"),
        ('{"point":{"x":1,"z":2}}', "json_unknown_field", 16, "point"),
        (
            '{"many":[{"circle":1},{"many":[{"circle":"a"}]}]}',
            "json_wrong_type",
            41,
            "many[1].many[0].circle",
        ),
        ('"circle"', "json_wrong_type", 0, ""),
    ):
        bad("Figure", text, fault, offset, path)


def containers() -> None:
    whole = '{"fixed":[1,2],"ranks":["bm25","class"],"longs":["-1","2"],"maybe":[null,3],"flags":[["title"],[]],"rows":[[],[1.0,2.5]]}'
    good("Containers", whole)
    good(
        "Containers",
        whole.replace('["bm25","class"]', '[7,"bm25"]').replace('["-1","2"]', '[2 , "-1.0"]'),
        whole,
    )
    for text, fault, offset, path in (
        ('{"fixed":[1]}', "wrong_length", 11, "fixed"),
        ('{"fixed":[]}', "wrong_length", 10, "fixed"),
        ('{"fixed":[1,2,3]}', "wrong_length", 13, "fixed"),
        ('{"fixed":[1,2 ,"x"]}', "wrong_length", 14, "fixed"),
        ('{"fixed":[1,300,3]}', "number_out_of_range", 12, "fixed[1]"),
        ('{"ranks":["bm25",0]}', "json_duplicate_key", 17, "ranks[1]"),
        ('{"longs":[1,2,"1"]}', "json_duplicate_key", 14, "longs[2]"),
        ('{"maybe":[nil]}', "json_syntax", 10, "maybe[0]"),
        ('{"maybe":[null,-1]}', "number_out_of_range", 15, "maybe[1]"),
        ('{"flags":[["title"],["body",2]]}', "json_duplicate_key", 28, "flags[1][1]"),
        ('{"rows":[[1.0],[2.0,"x"]]}', "json_wrong_type", 20, "rows[1][1]"),
    ):
        bad("Containers", text, fault, offset, path)
    maps = (
        '{"texts":{"":0,"a":1,"b\\n\\"":2,"é":3},"bools":{"false":0,"true":1},"bytes":{"-1":0,"2":1},"longs":{"0":1,"18446744073709551615":2},'
        '"langs":{"en":1,"7":2,"ko":3},"keys":{"00000000-0000-0000-0000-000000000000":1},"blobs":{"":1,"AA==":2}}'
    )
    good("Maps", maps)
    good(
        "Maps",
        maps.replace('"":0,"a":1', '"a":1,"\\u0061\\u0061":1,"":0'),
        maps.replace('"a":1', '"a":1,"aa":1'),
    )
    good("Maps", maps.replace('{"-1":0,"2":1}', '{ "2.0" : 1 , "-1e0":0 }'), maps)
    good("Maps", maps.replace('"ko":3', '"300":3'), maps)
    for text, fault, offset, path in (
        ('{"texts":{"a":1,"\\u0061":2}}', "json_duplicate_key", 16, "texts[1]"),
        ('{"texts":{"a":1,"b":"x"}}', "json_wrong_type", 20, "texts[1]"),
        ('{"texts":{a:1}}', "json_syntax", 10, "texts"),
        ('{"texts":{"a"}}', "json_syntax", 13, "texts[0]"),
        ('{"texts":{"a":1,}}', "json_syntax", 16, "texts"),
        ('{"texts":[]}', "json_wrong_type", 9, "texts"),
        ('{"bools":{"True":1}}', "json_wrong_type", 10, "bools[0]"),
        ('{"bools":{true:1}}', "json_syntax", 10, "bools"),
        ('{"bytes":{"x":1}}', "json_wrong_type", 10, "bytes[0]"),
        ('{"bytes":{"128":1}}', "number_out_of_range", 10, "bytes[0]"),
        ('{"bytes":{"1":1,"1.0":1}}', "json_duplicate_key", 16, "bytes[1]"),
        ('{"bytes":{1:1}}', "json_syntax", 10, "bytes"),
        ('{"langs":{"de":1}}', "unknown_enum_value", 10, "langs[0]"),
        ('{"langs":{"ko":1,"300":1}}', "json_duplicate_key", 17, "langs[1]"),
        ('{"keys":{"00":1}}', "json_wrong_type", 9, "keys[0]"),
        ('{"blobs":{"A":1}}', "json_wrong_type", 10, "blobs[0]"),
    ):
        bad("Maps", text, fault, offset, path)


def graphs() -> None:
    alone = '{"node":[{"name":"a","others":[],"by_name":{}}],"site":[]}'
    good("Node", alone)
    good("Node", '{"node":[{"name":"a"}]}', alone)
    good("Node", '{"node":[{"name":"a","next":null}],"site":[]}', alone)
    cycle = '{"node":[{"name":"a","next":0,"others":[0,0],"by_name":{}}],"site":[]}'
    good("Node", cycle)
    whole = (
        '{"node":[{"name":"a","next":1,"others":[2],"home":{"site":0},"by_name":{"x":1,"y":0}},'
        '{"name":"b","others":[],"home":{"text":"there"},"by_name":{}},{"name":"c","others":[],"by_name":{}}],'
        '"site":[{"name":"s","owner":0},{"name":"t","owner":2}]}'
    )
    good("Node", whole)
    # The same with other indices, and with its tables the other way round.
    good(
        "Node",
        '{"site":[{"owner":1,"name":"t"},{"owner":0,"name":"s"}],"node":[{"name":"a","next":2,"others":[1],'
        '"home":{"site":1},"by_name":{"y":1,"x":0}},{"name":"c"},{"name":"b","home":{"text":"there"}}]}',
        whole,
    )
    # Objects that nothing refers to are kept.
    loose = '{"node":[{"name":"a","others":[],"by_name":{}},{"name":"b","next":0,"others":[],"by_name":{}}],"site":[]}'
    good("Node", loose)
    good("Atlas", f'{{"nodes":[{alone},{cycle}],"one":{alone}}}')
    good("Atlas", '{"nodes":[]}')
    for type_, text, fault, offset, path in (
        ("Node", "{}", "invalid_reference", 1, ""),
        ("Node", '{"node":[] }', "invalid_reference", 11, ""),
        ("Node", '{"node":[{"name":"","next":1}]}', "invalid_reference", 27, "node[0].next"),
        ("Node", '{"node":[{"name":"","others":[0,"7"]}]}', "invalid_reference", 32, "node[0].others[1]"),
        ("Node", '{"node":[{"name":"","home":{"site":0}}]}', "invalid_reference", 35, "node[0].home.site"),
        ("Node", '{"site":[{"name":"","owner":0}]}', "invalid_reference", 28, "site[0].owner"),
        ("Node", '{"node":[{"name":"","next":5}],"site":x}', "json_syntax", 38, "site"),
        ("Node", '{"node":[{"name":"","next":-1}]}', "number_out_of_range", 27, "node[0].next"),
        ("Node", '{"node":[{"name":"","next":0.5}]}', "json_wrong_type", 27, "node[0].next"),
        ("Node", '{"node":[{"name":"","others":[null]}]}', "json_wrong_type", 30, "node[0].others[0]"),
        ("Node", '{"node":[{"name":"","next":{}}]}', "json_wrong_type", 27, "node[0].next"),
        ("Node", '{"node":[{}]}', "missing_field", 10, "node[0].name"),
        ("Node", '{"node":[{"name":""}],"node":[]}', "json_duplicate_key", 22, "node"),
        ("Node", '{"nodes":[]}', "json_unknown_field", 1, ""),
        ("Node", '{"name":"a"}', "json_unknown_field", 1, ""),
        ("Node", '{"node":{}}', "json_wrong_type", 8, "node"),
        ("Node", "[]", "json_wrong_type", 0, ""),
        (
            "Atlas",
            '{"nodes":[{"node":[{"name":"","next":1}]}]}',
            "invalid_reference",
            37,
            "nodes[0].node[0].next",
        ),
        ("Atlas", '{"nodes":[{}]}', "invalid_reference", 11, "nodes[0]"),
    ):
        bad(type_, text, fault, offset, path)


def depth() -> None:
    def tree(levels: int) -> str:
        """Levels are pairs of an object and an array."""
        return '{"value":1,"children":[' * levels + "]}" * levels

    good("Tree", '{"value":1,"children":[],"next":{"value":2,"children":[]}}')
    good("Tree", tree(32))
    opening = '{"value":1,"children":['
    bad("Tree", tree(33), "depth_exceeded", 32 * len(opening), "children[0]." * 31 + "children[0]")
    bad("Tree", tree(2_000), "depth_exceeded", 32 * len(opening), "children[0]." * 31 + "children[0]")
    bad("Tree", "[" * 3_000, "json_wrong_type", 0)
    figures = '{"many":['
    bad("Figure", figures * 33 + "]}" * 33, "depth_exceeded", 32 * len(figures), "many[0]." * 31 + "many[0]")
    bad("u8", "[" * 3_000, "json_wrong_type", 0)


def random_floats() -> dict[str, list[list[str]]]:
    """Bit patterns and their texts, by numpy and by Python itself."""
    import numpy

    draw = random.Random(4)
    edges = [
        0,
        1,
        2,
        3,
        0x007F_FFFF,
        0x0080_0000,
        0x0080_0001,
        0x7F7F_FFFF,
        0x3DCC_CCCD,
        0x4B80_0000,
        0x4A00_0001,
    ]
    patterns = edges + [each << 23 for each in range(1, 255)] + [draw.getrandbits(32) for _ in range(735)]
    singles = []
    for bits in patterns:
        value = numpy.frombuffer(struct.pack("<I", bits), "<f4")[0]
        if numpy.isfinite(value):
            digits = numpy.format_float_scientific(value, unique=True, trim="-")
            singles.append([f"{bits:08x}", _laid_out(digits)])
    wide = [
        0,
        1,
        2,
        (1 << 52) - 1,
        1 << 52,
        0x7FEF_FFFF_FFFF_FFFF,
        0x3D30_0000_0000_0000,
        0x4330_0000_0000_0001,
    ]
    wide += [each << 52 for each in range(1, 2047, 8)] + [draw.getrandbits(64) for _ in range(736)]
    doubles = []
    for bits in wide:
        value = struct.unpack("<d", struct.pack("<Q", bits))[0]
        if value - value == 0:
            doubles.append([f"{bits:016x}", repr(value)])
    return {"f32": singles, "f64": doubles}


def _laid_out(scientific: str) -> str:
    """Up to 17 digits are an f64 that Python writes by the same digits."""
    assert Decimal(repr(float(scientific))) == Decimal(scientific)
    return repr(float(scientific))


def main() -> None:
    for part in (integers, floats, texts, moments, names, structs, containers, graphs, depth):
        part()
    lines = ",\n".join(json.dumps(each, ensure_ascii=True) for each in CASES)
    (HERE / "cases.json").write_text(f"[\n{lines}\n]\n")
    lists = [
        f'"{name}": [\n' + ",\n".join(json.dumps(each) for each in floats) + "\n]"
        for name, floats in random_floats().items()
    ]
    (HERE / "floats.json").write_text("{" + ",\n".join(lists) + "}\n")
    print(len(CASES), "cases")


if __name__ == "__main__":
    main()
