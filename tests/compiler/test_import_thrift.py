"""`mfidlc import` of .thrift files: what becomes of each construct, and which diagnostics are given."""

from pathlib import Path

import pytest

from mfidl.foreign import Options, Result, import_files
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


def test_a_field_whose_default_is_left_out_is_as_if_none_were_written(tmp_path: Path) -> None:
    text = """
    enum K { A = 1 }
    enum Z { O = 0 }
    struct WithEnum { 1: K k }
    struct All {
      1: optional i8 a = 200, 2: optional K b = 7, 3: optional WithEnum c = {}, 4: optional i8 d = 20
      5: i8 e = 200, 6: K f = 7, 7: Z g = 7, 8: required i8 h = 200
    }
    exception X { 1: optional i8 i = 200, 2: i8 j = 200 }
    service S { void f(1: optional i8 k = 200, 2: i8 l = 200) }
    const All EARLY = {"f": 1, "h": 2}
    """
    made = text_of(tmp_path, text)
    for line in (
        "  1: a: i8?;",
        "  2: b: K?;",
        "  3: c: WithEnum?;",
        "  4: d: i8 = 20;",
        "  5: e: i8 = 0;",
        "  6: f: K;",
        "  7: g: Z = Z.O;",
        "  8: h: i8;",
        "  1: i: i8?;",
        "  2: j: i8 = 0;",
        "  f(1: k: i8?, 2: l: i8 = 0);",
        "const EARLY: All = { f: K.A, h: 2 };",
    ):
        assert f"{line}\n" in made
    names = [each.partition("the default of `")[2][:1] for each in told(tmp_path, text)]
    assert sorted(names) == list("abcefghijkl")


def test_a_value_leaves_out_an_optional_field_whose_default_is_left_out(tmp_path: Path) -> None:
    """The value comes first, so that it asks for the default before the field has it."""
    text = "const S C = {'n': 1} struct S { 1: optional i8 a = 200, 2: i32 n }"
    assert "const C: S = { n: 1 };" in text_of(tmp_path, text)


def test_a_field_that_was_not_sent_is_zero_if_there_is_a_zero(tmp_path: Path) -> None:
    """When an interface of Thrift gets a new field, old programs do not send it."""
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


def in_two_files(folder: Path, *, first: str, second: str, text: str) -> Result:
    """The import of a file that includes two files that are called `same`."""
    for name, content in (("one", first), ("two", second)):
        (folder / name).mkdir()
        (folder / name / "same.thrift").write_text(content)
    return imported(folder, api_dot_thrift=f'include "one/same.thrift"\ninclude "two/same.thrift"\n{text}')


def test_names_are_looked_up_in_all_included_files_of_one_name(tmp_path: Path) -> None:
    result = in_two_files(
        tmp_path,
        first="struct A { 1: i32 x } enum E { M = 1 } const i32 ONE = 1 service First { } struct Both { }",
        second="struct B { 1: i32 x } enum F { M = 0 } const i32 TWO = 2 service Second { } struct Both { }",
        text="""include "./one/same.thrift"
        struct S {
          1: same.A a, 2: same.B b, 3: same.E e = same.E.M, 4: same.F f = same.F.M, 5: i32 m = same.ONE, 6: i32 n = same.TWO
        }
        service T extends same.Second { void f() }
        """,
    )
    assert schema(result, tmp_path).partition(";\n\n")[2] == (
        'import "one/same.mfidl";\nimport "two/same.mfidl" as other_same;\n\n'
        "struct S {\n  1: a: same.A = { };\n  2: b: other_same.B = { };\n  3: e: same.E = same.E.M;\n"
        "  4: f: other_same.F = other_same.F.M;\n  5: m: i32 = same.ONE;\n  6: n: i32 = other_same.TWO;\n}\n\n"
        "service T extends other_same.Second {\n  f();\n}\n"
    )


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("struct S { 1: same.A a }", "same.A"),
        ("service S extends same.V { }", "same.V"),
        ("const i32 N = same.C", "same.C"),
        ("const i32 N = same.E.M", "same.E"),
    ],
)
def test_a_name_that_two_included_files_of_one_name_declare_is_refused(
    tmp_path: Path, text: str, name: str
) -> None:
    content = "struct A { } service V { } const i32 C = 1 enum E { M = 1 }"
    result = in_two_files(tmp_path, first=content, second=content, text=text)
    assert messages(result) == [
        f"3: E1003 `{name}` is in two files that are called `same`, `one/same.thrift` and `two/same.thrift`"
    ]


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
        ("enum E { A = 5000000000 } struct S { 1: E e = E.C }", "1: E1003 enum `E` has no member `C`"),
        ("struct A { 1: i32 }", "1: E1003 expected a name, found `}`"),
        ("struct A {\n 1: i32 a", "2: E1003 expected `}`, found the end of the file"),
        ("const i32 A = 'x'", "1: E1003 this is no value of i32"),
        ("service S { void f() throws (1: i32 e) }", "1: E1003 `i32` is no exception"),
        ("service S extends T { }", "1: E1003 `T` is no service that is known here"),
        ("const i8 A = 200 service S extends A { }", "1: E1003 `A` is no service that is known here"),
        ("struct A { 1: i32 a; ~ }", "1: E1003 stray character `~`"),
        ('include "gone.thrift"', "1: E1005 cannot find `gone.thrift`"),
        ('include "api.thrift"', "1: E1005 `api.thrift` includes itself"),
        (
            "struct A { 1: " + "list<" * 80 + "i32" + ">" * 80 + " a }",
            "1: E1003 nested more than 64 levels deep",
        ),
        ("const i64 A = " + "9" * 5000, "1: E1003 a number of more than 100 digits"),
        (
            "".join(f"const i32 A{n} = A{n + 1};" for n in range(300)) + "const i32 A300 = 1",
            "1: E1003 constants name each other more than 40 levels deep",
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


# Values that need more than their text ---------------------------------------------------------------------


def test_a_second_name_of_a_number_means_the_first_one_wherever_it_is_used(tmp_path: Path) -> None:
    shared = "enum Hue { RED = 1, ROUGE = 1, BLUE = 2 }"
    text = """include "plant.shared.thrift"
    const plant.shared.Hue ONE = plant.shared.Hue.ROUGE
    const list<plant.shared.Hue> ALL = [plant.shared.Hue.ROUGE, ROUGE, 2]
    const map<plant.shared.Hue, i32> COUNTS = {plant.shared.Hue.ROUGE: plant.shared.Hue.ROUGE}
    struct Lamp { 1: plant.shared.Hue hue = plant.shared.Hue.ROUGE }
    """
    (tmp_path / "plant.shared.thrift").write_text(shared)
    made = schema(imported(tmp_path, api_dot_thrift=text), tmp_path)
    for line in (
        "const ONE: plant_shared.Hue = plant_shared.Hue.RED;",
        "[plant_shared.Hue.RED, plant_shared.Hue.RED, plant_shared.Hue.BLUE]",
        "{ plant_shared.Hue.RED: 1 }",
        "1: hue: plant_shared.Hue = plant_shared.Hue.RED;",
    ):
        assert line in made


def test_entries_take_the_place_of_maps_at_any_depth_of_a_value(tmp_path: Path) -> None:
    made = text_of(
        tmp_path,
        """
        struct Inner { 1: map<double, i32> m, 2: i32 n }
        struct Outer { 1: list<Inner> all = [{"m": {0.5: 1}}], 2: map<string, Inner> named }
        const Outer C = {"all": [{"m": {1.5: 1}, "n": 2}], "named": {"a": {"m": {2.5: 3}}}}
        const list<map<list<i32>, map<double, i32>>> D = [{[1]: {3.5: 4}}]
        """,
    )
    compact = " ".join(made.split())
    for part in (
        "all: list<Inner> = [{ m: [{ key: 0.5, value: 1 }] }];",
        "all: [{ m: [{ key: 1.5, value: 1 }], n: 2 }]",
        '"a": { m: [{ key: 2.5, value: 3 }] }',
        "= [[{ key: [1], value: [{ key: 3.5, value: 4 }] }]];",
    ):
        assert part in compact, made


def test_empty_braces_are_an_empty_value_of_any_kind(tmp_path: Path) -> None:
    made = text_of(
        tmp_path,
        """struct P { 1: i32 x }
        struct S { 1: set<binary> a = {}, 2: list<i32> b = {}, 3: map<i32, i32> c = [], 4: P p = {}, 5: P q = [] }
        """,
    )
    for line in (
        "a: set<bytes> = [];",
        "b: list<i32> = [];",
        "c: map<i32, i32> = { };",
        "p: P = { };",
        "q: P = { };",
    ):
        assert line in made


def test_numbers_and_texts_are_read_as_thrift_reads_them(tmp_path: Path) -> None:
    made = text_of(
        tmp_path,
        r"""
        const i32 ZERO_BEFORE = 010; const i32 PLUS = +7; const double NEGATIVE = -.5e+1; const bool ON = 1
        const i32 YES = true; const double WHOLE = +3; const string SINGLE = 'it\'s "so" \\ \n'
        const uuid BARE = "00000000-4444-CCCC-ffff-0123456789ab"
        const uuid BRACES = '{00000000-4444-cccc-ffff-0123456789ab}'
        const binary BYTES = "é\xff"
        """,
    )
    for line in (
        "const ZERO_BEFORE: i32 = 10;",
        "const PLUS: i32 = 7;",
        "const NEGATIVE: f64 = -5.0;",
        "const ON: bool = true;",
        "const YES: i32 = 1;",
        "const WHOLE: f64 = 3;",
        r'const SINGLE: string = "it\'s \"so\" \\ \n";'.replace("\\'", "'"),
        'const BARE: uuid = "00000000-4444-cccc-ffff-0123456789ab";',
        'const BRACES: uuid = "00000000-4444-cccc-ffff-0123456789ab";',
        r'const BYTES: bytes = "\xc3\xa9\xff";',
    ):
        assert line in made, made


def test_a_constant_of_another_type_is_written_as_its_value(tmp_path: Path) -> None:
    made = text_of(
        tmp_path,
        """
        enum E { A = 3 }
        const i32 N = 3; const list<i32> L = [1, 1]; const E MEMBER = E.A
        const i64 WIDE = N; const E NAMED = N; const set<i32> S = L; const i32 NUMBER = MEMBER; const i32 SAME = N
        """,
    )
    for line in (
        "const WIDE: i64 = 3;",
        "const NAMED: E = E.A;",
        "const S: set<i32> = [1];",
        "const NUMBER: i32 = 3;",
        "const SAME: i32 = N;",
    ):
        assert line in made


def test_hexadecimal_digits_give_the_bits_of_a_number(tmp_path: Path) -> None:
    text = "const i32 ALL = 0xFFFFFFFF; enum E { A = 0xFFFFFFFE, B }"
    made = text_of(tmp_path, text)
    assert "const ALL: i32 = -1;" in made
    assert "A = -2," in made
    assert "1: W1002 `0xFFFFFFFF` becomes -1: i32 has a sign" in told(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "kept", "what"),
    [
        (
            "union U { 1: i32 a = 4, 2: string b }",
            "1: a: i32;",
            "the default of `a`, an alternative of a union",
        ),
        ("const i32 A = 4294967296", "", "constant `A`: 4294967296 does not fit i32"),
        ("const i32 A = 99999999999; const i32 B = A", "", "constant `B`: `A` is left out"),
        ("struct S { 1: i8 a = 200 }", "1: a: i8 = 0;", "the default of `a`: 200 does not fit i8"),
        (
            "enum E { A = 1 } struct S { 1: E e = 2 }",
            "1: e: E;",
            "the default of `e`: enum `E` has no member 2",
        ),
        (
            "enum E { A = 1 } struct S { 1: E e } const S C = {}",
            "1: e: E;",
            "constant `C`: a field that it leaves out has a type without a zero",
        ),
        (
            "union U { 1: i32 a } const U C = {}",
            "union U",
            "constant `C`: a value of union `U` has one alternative",
        ),
        ("enum E { A = 2147483647, B }", "A = 2147483647", "`B`: 2147483648 does not fit i32"),
        (
            "enum E { A = 5000000000 } struct S { 1: E e = E.A }",
            "1: e: E;",
            "the default of `e`: `E.A` is left out",
        ),
        (
            "enum E { A = 5000000000, Z = 0 } struct S { 1: E e = A }",
            "1: e: E = E.Z;",
            "the default of `e`: `A` is left out",
        ),
        (
            "enum E { A = 5000000000 } struct S { 1: optional i64 n = E.A }",
            "1: n: i64?;",
            "the default of `n`: `E.A` is left out",
        ),
        (
            "enum E { A = 5000000000, B = 1 } struct S { 1: list<E> l = [B, E.A] }",
            "1: l: list<E> = [];",
            "the default of `l`: `E.A` is left out",
        ),
        ("enum E { A = 5000000000 } const E C = E.A", "open enum E", "constant `C`: `E.A` is left out"),
        ("enum E { A = 5000000000 } const E C = E.A const E D = C", "", "constant `D`: `C` is left out"),
        ('const string S = "\\xff"', "", "constant `S`: the bytes of this text are no UTF-8"),
        ("struct S { -1: i32 a }", "a: i32 = 0;", "the numbers of the fields of `S`"),
        ("struct S { 536870912: i32 a }", "a: i32 = 0;", "the numbers of the fields of `S`"),
        (
            "service A { void f() } service B extends A { void f(), void g() }",
            "g();",
            "function `f`, which the service has already",
        ),
    ],
)
def test_what_cannot_be_written_is_left_out_and_the_rest_stays(
    tmp_path: Path, text: str, kept: str, what: str
) -> None:
    result = imported(tmp_path, api_dot_thrift=f"struct Other {{ 1: i32 a }}\n{text}")
    made = schema(result, tmp_path)
    assert "struct Other" in made
    assert kept in made
    assert f"2: W1001 left out, for want of an equal here: {what}" in messages(result)


def test_what_names_a_left_out_member_of_an_included_file_is_left_out_at_its_place(tmp_path: Path) -> None:
    shared = "enum E { A = 5000000000, B = 1 }"
    text = 'include "shared.thrift"\nstruct S {\n1: shared.E e = shared.E.A,\n2: shared.E f = shared.E.B }'
    result = imported(tmp_path, shared_dot_thrift=shared, api_dot_thrift=text)
    assert "  1: e: shared.E;\n  2: f: shared.E = shared.E.B;\n" in schema(result, tmp_path)
    left_out = "W1001 left out, for want of an equal here:"
    assert messages(result) == [
        f"3: {left_out} the default of `e`: `shared.E.A` is left out",
        f"1: {left_out} `A`: 5000000000 does not fit i32",
    ]


# Words -----------------------------------------------------------------------------------------------------


def test_old_and_rare_forms_are_read(tmp_path: Path) -> None:
    made = text_of(
        tmp_path,
        """
        namespace * all.of.it
        namespace py.twisted x.y (a = "b")
        namespace smalltalk.category Thrift-Test
        namespace xsd 'uri'
        cpp_include "<foo>"
        py_module my.module
        typedef i64 (js.type = "Long") Stamp (x)
        typedef list<string (a = "b")> cpp_type "std::deque" Words
        struct A xsd_all { 1: i32 a xsd_optional xsd_nillable xsd_attrs { 1: i32 q }; 2: Stamp & b (cpp.ref) } (c, d = 1)
        struct Keywords { 1: i32 list 2: string service, 3: bool oneway; 4: i32 namespace }
        exception E { 1: string why } (message = "why")
        service S { async void f(i32 x); oneway void g(), slist h() throws (1: E e) (deprecated) } (x = "y");
        """,
    )
    for line in (
        "type Stamp = i64;",
        "type Words = list<string>;",
        "2: b: Stamp = 0;",
        "2: service: string",
        "@oneway\n  f(x: i32 = 0);",
        "h() -> string throws E;",
    ):
        assert line in made


def test_comments_before_and_behind_declarations_are_kept(tmp_path: Path) -> None:
    made = text_of(
        tmp_path,
        """
        // A point.
        // In the plane.
        struct Point { // of two numbers
          1: i32 x, // to the right,
                    // in pixels
          2: i32 y  /* upwards */
          # 3: i32 z

          /**
           * How far.
           *   Indented.
           */
          4: i32 far = 1 # or near
        }

        /* Colours. */
        enum Hue {
          RED, // like a rose
          BLUE //!< like the sky
          // GREEN
        }
        const i32 N = 5; // the number

        ////////////////////
        # Draws.
        ////////////////////

        service Canvas {
          // Draws one.
          void draw(1: Point p, // where
            2: i32 size) // a method
        }
        """,
    )
    assert made == (
        "/// A point.\n/// In the plane.\n/// of two numbers\nstruct Point {\n"
        "  /// to the right,\n  /// in pixels\n  1: x: i32 = 0;\n"
        "  /// upwards\n  2: y: i32 = 0;\n"
        "  /// 3: i32 z\n  ///\n  /// How far.\n  ///   Indented.\n  /// or near\n  4: far: i32 = 1;\n}\n\n"
        "/// Colours.\nopen enum Hue: i32 {\n  /// like a rose\n  RED = 0,\n"
        "  /// like the sky\n  ///\n  /// GREEN\n  BLUE = 1,\n}\n\n"
        "/// the number\nconst N: i32 = 5;\n\n"
        "/// Draws.\nservice Canvas {\n  /// Draws one.\n  /// a method\n  draw(\n"
        "    /// where\n    1: p: Point = { },\n    2: size: i32 = 0,\n  );\n}\n"
    )


def test_comments_behind_a_closing_brace_document_what_it_closes(tmp_path: Path) -> None:
    made = text_of(
        tmp_path,
        """
        // before S
        struct S { 1: i32 x /* of S */ } // behind S
        enum E { A } // behind E

        union U { 1: i32 x } (deprecated = "yes") # behind U
        exception X {
          // X has no fields
        }; /* behind X */
        service V { void f() } // behind V
        // before W
        service W {
        }
        // the end
        """,
    )
    assert made == (
        "/// before S\n/// behind S\nstruct S {\n  /// of S\n  1: x: i32 = 0;\n}\n\n"
        "/// behind E\nopen enum E: i32 {\n  A = 0,\n}\n\n"
        "/// behind U\nunion U {\n  1: x: i32;\n}\n\n"
        "/// X has no fields\n/// behind X\nerror X { }\n\n"
        "/// behind V\nservice V {\n  f();\n}\n\n"
        "/// before W\n/// the end\nservice W { }\n"
    )


def test_comments_at_the_head_of_a_file_document_its_module(tmp_path: Path) -> None:
    text = "#!/usr/bin/thrift\n/* Licence. */\n\n// Of shapes.\nnamespace py shapes\n\n// A point.\nstruct P { }\n"
    assert schema(imported(tmp_path, api_dot_thrift=text), tmp_path) == (
        "/// Licence.\n///\n/// Of shapes.\nmodule api;\n\n/// A point.\nstruct P { }\n"
    )


def test_a_file_with_an_error_is_not_reported_to_include_itself(tmp_path: Path) -> None:
    (tmp_path / "b.thrift").write_text('include "gone.thrift"\nstruct B { 1: i32 x }')
    (tmp_path / "c.thrift").write_text("struct C { ~ }")
    (tmp_path / "a.thrift").write_text('include "b.thrift"\ninclude "c.thrift"\nstruct A { 1: b.B b }')
    names = [str(tmp_path / name) for name in ("a.thrift", "b.thrift", "c.thrift")]
    found = messages(import_files(names, Options()))
    assert found == ["1: E1005 cannot find `gone.thrift`", "1: E1003 stray character `~`"]


def test_structs_and_constants_may_need_many_others(tmp_path: Path) -> None:
    structs = "".join(f"struct S{n} {{ 1: S{n + 1} s }}" for n in range(80)) + "struct S80 { 1: i32 x }"
    numbers = "const i32 N0 = 1;" + "".join(f"const i32 N{n + 1} = N{n};" for n in range(1100))
    result = imported(tmp_path, api_dot_thrift=f"{structs} {numbers} const i64 LAST = N1100")
    assert not result.failed
    assert "const LAST: i64 = 1;" in result.schemas[-1].text
