"""`mfidlc import` of .thrift files: what becomes of each thing, and what is told."""

from pathlib import Path

import pytest

from tests.compiler.foreign import imported, messages, schema


def text_of(folder: Path, text: str, **others: str) -> str:
    """The schema behind its module line."""
    result = imported(folder, **others, api_dot_thrift=text)
    return schema(result, folder).partition(";\n\n")[2]


def told(folder: Path, text: str) -> list[str]:
    result = imported(folder, api_dot_thrift=text)
    if not result.failed:
        schema(result, folder)
    return messages(result)


def test_every_base_type_has_an_equal(tmp_path: Path) -> None:
    text = """struct All {
      1: bool a; 2: byte b, 3: i8 c 4: i16 d; 5: i32 e; 6: i64 f; 7: double g; 8: string h; 9: binary i; 10: uuid j
      11: list<i32> k; 12: set<string> l; 13: map<i64, list<binary>> m
    }"""
    fields = [line.strip() for line in text_of(tmp_path, text).splitlines()[1:-1]]
    assert fields == [
        "1: a: bool = false;",
        "2: b: i8 = 0;",
        "3: c: i8 = 0;",
        "4: d: i16 = 0;",
        "5: e: i32 = 0;",
        "6: f: i64 = 0;",
        "7: g: f64 = 0;",
        '8: h: string = "";',
        '9: i: bytes = "";',
        '10: j: uuid = "00000000-0000-0000-0000-000000000000";',
        "11: k: list<i32> = [];",
        "12: l: set<string> = [];",
        "13: m: map<i64, list<bytes>> = { };",
    ]


def test_an_optional_field_may_be_absent_unless_it_has_a_default(tmp_path: Path) -> None:
    text = "struct A { 1: required i32 a, 2: optional i32 b, 3: optional i32 c = 0x10, 4: i32 d }"
    made = text_of(tmp_path, text)
    assert [line.strip() for line in made.splitlines()[1:-1]] == [
        "1: a: i32;",
        "2: b: i32?;",
        "3: c: i32 = 16;",
        "4: d: i32 = 0;",
    ]


def test_a_field_that_was_not_sent_is_zero_if_there_is_a_zero(tmp_path: Path) -> None:
    """Thrift's programs may get a field more, so that old ones leave it out."""
    made = text_of(
        tmp_path,
        """
        enum Level { NONE = 0, HIGH = 1 }
        enum Grade { FIRST = 1 }
        union Either { 1: i32 a, 2: i32 b }
        struct Point { 1: i32 x, 2: required i32 y }
        typedef list<Point> Points
        exception Gone { 1: Level level, 2: Grade grade, 3: Either either, 4: Point point, 5: Points points }
        service S { void f(1: i64 at, 2: optional i32 more, 3: required i32 all) }
        """,
    )
    for line in (
        "1: level: Level = Level.NONE;",
        "2: grade: Grade;",
        "3: either: Either;",
        "4: point: Point = { y: 0 };",
        "5: points: Points = [];",
        "f(1: at: i64 = 0, 2: more: i32?, 3: all: i32);",
        "1: a: i32;",
    ):
        assert line in made


def test_numbers_of_an_enum_that_are_not_written_are_those_that_thrift_gives(tmp_path: Path) -> None:
    assert "a = 0,\n  b = 5,\n  c = 6,\n" in text_of(tmp_path, "enum E { a, b = 5, c }")


def test_values_may_leave_out_what_is_zero_and_name_an_element_twice(tmp_path: Path) -> None:
    made = text_of(
        tmp_path,
        """
        const Line SHORT = {"a": {}}
        struct Point { 1: i32 x, 2: double y, 3: optional string name, 4: Level level, 5: required i32 z }
        struct Line { 1: Point a, 2: Point b, 3: list<Point> more, 4: i32 width = 3, 5: map<i32, bool> on }
        enum Level { LOW = 0, HIGH = 2 }
        const set<i32> ODD = [1, 3, 3, 1]
        const map<i32, string> NAMES = {1: "one", 2: "two", 1: "uno"}
        struct Held { 1: Point at = {"y": 1} }
        """,
    )
    for line in (
        "const SHORT: Line = { a: { z: 0 } };",
        "const ODD: set<i32> = [1, 3];",
        'const NAMES: map<i32, string> = { 1: "uno", 2: "two" };',
        "1: at: Point = { y: 1, z: 0 };",
        "2: b: Point = { z: 0 };",
    ):
        assert line in made


def test_constants_and_defaults_are_values_of_their_types(tmp_path: Path) -> None:
    made = text_of(
        tmp_path,
        """
        typedef map<string, i32> Ports
        enum Level { LOW = 1, HIGH = 2 }
        struct Point { 1: double x = 1, 2: bool on = 1 }
        const Ports PORTS = { "http": 80, 'https': 443 }
        const Point ORIGIN = { "x": 0.5, "on": false }
        const Level BEST = Level.HIGH
        const i32 NUMBER = Level.HIGH
        const list<Level> ALL = [1, LOW, Level.HIGH]
        const binary RAW = "a\\"b"
        struct Use { 1: Level level = HIGH, 2: Level other = 1, 3: Ports ports = PORTS }
        """,
    )
    for line in (
        'const PORTS: Ports = { "http": 80, "https": 443 };',
        "const ORIGIN: Point = { x: 0.5, on: false };",
        "const BEST: Level = Level.HIGH;",
        "const NUMBER: i32 = 2;",
        "const ALL: list<Level> = [Level.LOW, Level.LOW, Level.HIGH];",
        'const RAW: bytes = "a\\x22b";',
        "1: x: f64 = 1;",
        "2: on: bool = true;",
        "1: level: Level = Level.HIGH;",
        "2: other: Level = Level.LOW;",
        "3: ports: Ports = PORTS;",
    ):
        assert line in made


def test_a_service_has_oneway_methods_errors_and_defaults(tmp_path: Path) -> None:
    made = text_of(
        tmp_path,
        """
        exception Gone { 1: string why }
        service Store {
          /** Reads.
           *  Twice. */
          binary get(1: string key, 2: i32 limit = 10) throws (1: Gone gone),
          oneway void touch(1: string key)
          void clear()
        }
        """,
    )
    assert made.endswith(
        "service Store {\n"
        "  /// Reads.\n"
        "  /// Twice.\n"
        '  get(1: key: string = "", 2: limit: i32 = 10) -> bytes throws Gone;\n'
        "  @oneway\n"
        '  touch(1: key: string = "");\n'
        "  clear();\n"
        "}\n"
    )


def test_what_a_file_uses_of_an_included_one_is_named_by_its_module(tmp_path: Path) -> None:
    shared = "struct Tag { 1: string name } service Base { Tag ping() }"
    text = (
        'include "shared.thrift"\nservice Api extends shared.Base { shared.Tag tag(1: list<shared.Tag> all) }'
    )
    result = imported(tmp_path, shared_dot_thrift=shared, api_dot_thrift=text)
    made = schema(result, tmp_path)
    assert made == (
        'module api;\n\nimport "shared.mfidl";\n\nservice Api extends shared.Base {\n'
        "  tag(1: all: list<shared.Tag> = []) -> shared.Tag;\n}\n"
    )
    assert [each.path for each in result.schemas] == ["shared.mfidl", "api.mfidl"]
    assert messages(result) == []


def test_a_file_of_which_nothing_is_used_becomes_no_schema(tmp_path: Path) -> None:
    text = 'include "shared.thrift"\nstruct A { 1: i32 a }'
    result = imported(tmp_path, shared_dot_thrift="senum S { 'x' }", api_dot_thrift=text)
    assert [each.path for each in result.schemas] == ["api.mfidl"]
    assert messages(result) == []


def test_keys_that_cannot_be_keys_make_a_list_of_entries(tmp_path: Path) -> None:
    text = "struct A { 1: map<list<string>, i32> m = {['a']: 1}, 2: set<double> s }"
    assert text_of(tmp_path, text) == (
        "struct AMEntry {\n  1: key: list<string>;\n  2: value: i32;\n}\n\n"
        'struct A {\n  1: m: list<AMEntry> = [{ key: ["a"], value: 1 }];\n  2: s: list<f64> = [];\n}\n'
    )
    assert told(tmp_path, text) == [
        "1: W1002 a map of such keys becomes a list of `AMEntry`: they are no keys here",
        "1: W1002 a set of such elements becomes a list: they cannot be compared as keys",
    ]


def test_a_struct_that_holds_itself_does_so_by_an_optional_field(tmp_path: Path) -> None:
    text = "struct A { 1: B b } struct B { 1: A a, 2: list<A> more }"
    assert "1: a: A;" in text_of(tmp_path, text)
    assert "1: b: B?;" in text_of(tmp_path, text)
    assert told(tmp_path, text) == [
        "1: W1002 `b`, by which `A` holds itself, becomes optional: a value would have no end"
    ]


def test_an_exception_that_is_used_as_a_type_has_a_struct_beside_it(tmp_path: Path) -> None:
    text = "exception E { 1: string why } struct A { 1: list<E> all } service S { void f() throws (1: E e) }"
    made = text_of(tmp_path, text)
    assert 'struct EValue {\n  1: why: string = "";\n}' in made
    assert "1: all: list<EValue> = [];" in made
    assert "f() throws E;" in made


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (
            "struct A { i32 a, 2: i32 b }",
            "a: i32 = 0;",
            "1: W1001 left out, for want of an equal here: the numbers of the fields of `A`",
        ),
        (
            "enum E { a = 1, b = 1 }",
            "a = 1,",
            "1: W1001 left out, for want of an equal here: `b`, which is another name of `a`",
        ),
        ("senum E { 'a' }", "type E = string;", "1: W1002 senum `E` becomes an alias of string"),
        ("union U { }", "struct U { }", "1: W1002 union `U` becomes a struct"),
        ("struct string { }", "struct string_ { }", "1: W1003 `string` is called `string_` in the schema"),
        ("struct list { 1: i32 a }", "struct list_ {", "1: W1003 `list` is called `list_` in the schema"),
    ],
)
def test_what_has_no_equal_is_told(tmp_path: Path, text: str, line: str, message: str) -> None:
    result = imported(tmp_path, api_dot_thrift=text)
    assert any(each.startswith(message) for each in messages(result)), messages(result)
    if not result.failed:
        assert line in schema(result, tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("struct A { 1: Missing m }", "1: E1003 `Missing` is no type that is known here"),
        ("struct A { 1: i32 }", "1: E1003 expected a name, found `}`"),
        ("struct A {\n 1: i32 a", "2: E1003 expected `}`, found the end of the file"),
        ("const i32 A = 'x'", "1: E1003 this is no value of i32"),
        ("service S { void f() throws (1: i32 e) }", "1: E1003 `i32` is no exception"),
        ("service S extends T { }", "1: E1003 `T` is no service that is known here"),
        ("struct A { 1: i32 a; ~ }", "1: E1003 stray character `~`"),
        ('include "gone.thrift"', "1: E1005 cannot find `gone.thrift`"),
        ('include "api.thrift"', "1: E1005 `api.thrift` includes itself"),
        (
            "struct A { 1: " + "list<" * 80 + "i32" + ">" * 80 + " a }",
            "1: E1003 nested more than 64 levels deep",
        ),
        ("const i32 A = " + "[" * 5000, "1: E1003 nested more than 64 levels deep"),
        (
            "package a",
            "1: E1003 expected a definition: const, typedef, enum, struct, union, exception or service, found `package`",
        ),
    ],
)
def test_a_wrong_file_gets_a_message_at_its_place(tmp_path: Path, text: str, message: str) -> None:
    result = imported(tmp_path, api_dot_thrift=text)
    assert result.failed
    assert any(each.startswith(message) for each in messages(result)), messages(result)
