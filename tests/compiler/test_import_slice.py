"""`mfidlc import` of Slice files: what becomes of each construct, and which diagnostics are given."""

import re
from pathlib import Path

import pytest

from mfidl.foreign import Options, import_files
from tests.compiler.foreign import imported, messages, schema


def text_of(folder: Path, text: str) -> str:
    """The schema of definitions in module `m`, behind its module line."""
    result = imported(folder, api_dot_ice=f"module m {{ {text} }}")
    made = schema(result, folder)
    assert made.startswith("module m.api;\n\n")
    return made.removeprefix("module m.api;\n\n")


def told(folder: Path, text: str) -> list[str]:
    return messages(imported(folder, api_dot_ice=f"module m {{ {text} }}"))


def test_every_base_type_has_an_equal(tmp_path: Path) -> None:
    made = text_of(
        tmp_path,
        "sequence<byte> Raw; sequence<string> Words; dictionary<int, Words> Index; struct All { bool a; byte b; "
        "short c; int d; long e; float f; double g; string h; Raw i; Words j; Index k; }",
    )
    assert made == (
        "type Raw = bytes;\n\ntype Words = list<string>;\n\ntype Index = map<i32, Words>;\n\nstruct All {\n"
        "  a: bool;\n  b: u8;\n  c: i16;\n  d: i32;\n  e: i64;\n  f: f32;\n  g: f64;\n  h: string;\n  i: Raw;\n"
        "  j: Words;\n  k: Index;\n}\n"
    )


def test_constants_and_defaults_are_values_of_their_types(tmp_path: Path) -> None:
    made = text_of(
        tmp_path,
        """enum Level { low, high = 4, top }
        const Level BEST = high; const string NAME = "a" "b\\n"; const double HALF = 0.5; const long MANY = 0x10;
        struct Use { Level level = Level::top; string name = NAME; bool on = true; float f = 1.5f; Level b = m::low; }
        """,
    )
    for line in (
        "enum Level: i32 {\n  low = 0,\n  high = 4,\n  top = 5,\n}",
        "const BEST: Level = Level.high;",
        'const NAME: string = "ab\\n";',
        "const HALF: f64 = 0.5;",
        "const MANY: i64 = 16;",
        "level: Level = Level.top;",
        "name: string = NAME;",
        "on: bool = true;",
        "f: f32 = 1.5;",
        "b: Level = Level.low;",
    ):
        assert line in made


def test_classes_have_the_fields_of_their_bases_and_may_be_null_where_they_are_held(tmp_path: Path) -> None:
    text = "class Base { int a; } class Node extends Base { Node next; optional(1) string name; } struct S { Node n; }"
    made = text_of(tmp_path, text)
    assert "struct Node {\n  a: i32;\n  next: Node?;\n  name: string?;\n}" in made
    assert "struct S {\n  n: Node?;\n}" in made
    assert told(tmp_path, text) == [
        "1: W1002 class `Base`, which others extend, becomes a struct that is never one of those: "
        "a value has the type that is declared"
    ]


def test_sequences_and_dictionaries_of_classes_may_hold_null(tmp_path: Path) -> None:
    text = "class Node { int v; } sequence<Node> Nodes; dictionary<string, Node> Index; interface I { Nodes all(); }"
    made = text_of(tmp_path, text)
    assert "type Nodes = list<Node?>;" in made
    assert "type Index = map<string, Node?>;" in made


def test_an_operation_gives_its_results_by_name(tmp_path: Path) -> None:
    made = text_of(
        tmp_path,
        """
        exception Failed { string why; } exception Gone extends Failed { int code; }
        interface Base { void ping(); }
        interface Store extends Base {
          /// Reads.
          /// Twice.
          ["amd"] idempotent string get(string key, out int version) throws Failed;
          void set(optional(2) string value, out bool old);
          ["deprecated"] int size();
        }
        """,
    )
    assert "error Gone {\n  why: string;\n  code: i32;\n}" in made
    assert made.endswith(
        "service Base {\n"
        "  ping();\n"
        "}\n"
        "\n"
        "service Store extends Base {\n"
        "  /// Reads.\n"
        "  /// Twice.\n"
        "  @idempotent\n"
        "  get(key: string) -> (result: string, version: i32) throws Failed, Gone;\n"
        "  set(value: string?) -> (old: bool);\n"
        "  @deprecated\n"
        "  size() -> i32;\n"
        "}\n"
    )


def test_proxies_and_values_of_any_class_are_told(tmp_path: Path) -> None:
    text = "interface A; struct S { A* a; Object* b; } class C { Object c; }"
    assert "struct S {\n  a: string;\n  b: string;\n}" in text_of(tmp_path, text)
    assert "struct C {\n  c: bytes;\n}" in text_of(tmp_path, text)
    assert [each.partition(":")[2].partition(":")[0] for each in told(tmp_path, text)] == [
        " W1002 a proxy of `A` becomes a string",
        " W1002 a proxy of `Object` becomes a string",
        " W1002 a value of any class becomes bytes",
    ]


def test_keys_that_are_structs_make_a_list_of_entries(tmp_path: Path) -> None:
    made = text_of(tmp_path, "struct Id { string a; } dictionary<Id, string> Names;")
    assert "struct NamesEntry {\n  1: key: Id;\n  2: value: string;\n}" in made
    assert "type Names = list<NamesEntry>;" in made


def test_names_are_looked_up_from_the_inside_and_across_files(tmp_path: Path) -> None:
    base = "#pragma once\nmodule a { module b { struct T { int x; } } }"
    text = (
        "#pragma once\n#include <base.ice>\n#ifdef NEVER\n nonsense ~\n#endif\n#ifndef ALSO\n#define ALSO\n"
        "module a { module b { struct S { T t; ::a::b::T u; a::b::T v; } } }\n#endif\n"
    )
    result = imported(tmp_path, base_dot_ice=base, api_dot_ice=text)
    assert schema(result, tmp_path) == (
        'module a.b.api;\n\nimport "base.mfidl";\n\nstruct S {\n  t: base.T;\n  u: base.T;\n  v: base.T;\n}\n'
    )


def test_definitions_of_several_modules_in_one_file_are_called_after_theirs(tmp_path: Path) -> None:
    text = "module a { module b { struct S { int x; } } struct T { b::S s; } }"
    made = schema(imported(tmp_path, api_dot_ice=text), tmp_path)
    assert made == "module a.api;\n\nstruct bS {\n  x: i32;\n}\n\nstruct T {\n  s: bS;\n}\n"


def test_files_that_would_be_one_module_have_their_folders_in_its_name(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "api.ice").write_text(f"module m {{ struct S{folder} {{ int x; }} }}")
    text = '#include "one/api.ice"\n#include "two/api.ice"\nmodule m { struct T { Sone a; Stwo b; } }'
    result = imported(tmp_path, all_dot_ice=text)
    made = schema(result, tmp_path)
    assert [each.module for each in result.schemas] == ["m.one.api", "m.two.api", "m.all"]
    assert made == (
        'module m.all;\n\nimport "one/api.mfidl";\nimport "two/api.mfidl" as other_api;\n\n'
        "struct T {\n  a: api.Sone;\n  b: other_api.Stwo;\n}\n"
    )


def test_local_definitions_and_operations_of_classes_are_left_out(tmp_path: Path) -> None:
    text = "local interface L { void f(); } class C { int a; void g(); }"
    assert text_of(tmp_path, text) == "struct C {\n  a: i32;\n}\n"
    assert told(tmp_path, text) == [
        "1: W1001 left out, for want of an equal here: local interface `L`",
        "1: W1001 left out, for want of an equal here: the operations of class `C`",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("module m { struct S { Missing a; } }", "1: E1003 `Missing` is no type that is known here"),
        ("module m { const int A = 1; struct S { A a; } }", "1: E1003 `A` is no type that is known here"),
        ("module m { struct S { int a; }", "1: E1003 expected `}`, found the end of the file"),
        ("nonsense", "1: E1003 expected a definition: module, struct"),
        ("module m { interface I { int a; } }", "1: E1003 expected `(`, found `;`"),
        ("module m { interface I { void f() throws X; } }", "1: E1003 `X` is no exception"),
        ("module m { const int A = x; }", "1: E1003 `x` is no constant that is known here"),
        ("module m { const int A = true; }", "1: E1003 this value does not fit its type"),
        ('#include "gone.ice"', "1: E1005 cannot find `gone.ice`"),
        ('#include "api.ice"', "1: E1005 `api.ice` includes itself"),
        ("module a { " * 80, "1: E1003 nested more than 64 levels deep"),
        ("struct S { ~ }", "1: E1003 stray character `~`"),
        ('module m { const string A = "C:\\users"; }', "1: E1003 `\\u` is no escape"),
        ('module m { const string A = "\\ud800"; }', "1: E1003 `\\ud800` is no character"),
        ('module m { const string A = "x; }', "1: E1003 a text in quotes does not end on its line"),
        ("module m { const int A = 08; }", "1: E1003 `08` begins with a zero"),
        ("module m { const int A = 1.5; }", "1: E1003 this value does not fit its type"),
        ('module m { const int A = "5"; }', "1: E1003 this value does not fit its type"),
        ("module m { struct S { int a; } struct S { int a; } }", "1: E1003 `m::S` is defined already"),
        ("module m { struct S { int a; int a; } }", "1: E1003 struct `S` has two of the name `a`"),
        ("module m { struct S { void f(); } }", "1: E1003 expected `;`, found `(`"),
        ("module m { class A extends B { } class B extends A { } }", "1: E1003 `A` extends itself"),
        ("module m { sequence<A> A; }", "1: E1003 `A` is defined by itself"),
        ("module m { sequence<int> A; interface I extends A { } }", "1: E1003 `A` cannot be extended"),
        ("module m { enum E { } }", "1: E1003 enum `E` has no enumerators"),
        ("module m { const long A = " + "9" * 5000 + "; }", "1: E1003 a number of more than 100 digits"),
        ("#if " + "9" * 5000 + "\n#endif", "1: E1003 this condition is not understood"),
        ("/* x", "1: E1003 a comment does not end"),
    ],
)
def test_a_wrong_file_gets_a_message_at_its_place(tmp_path: Path, text: str, message: str) -> None:
    result = imported(tmp_path, api_dot_ice=text)
    assert result.failed
    assert any(each.startswith(message) for each in messages(result)), messages(result)


# Words and values ------------------------------------------------------------------------------------------


def test_numbers_are_read_as_slice_reads_them(tmp_path: Path) -> None:
    made = text_of(
        tmp_path,
        """
        const int MODE = 0755; const short LOW = -010; const byte B = 017; const long HEX = +0xFf; const int ZERO = 0;
        const float F = +1; const double D = -.5e3F; const double E = 1.; const long SUM = MODE; const double AS = MODE;
        enum Kind { first = 020, second, third = MODE, first2 = 9 }
        """,
    )
    for line in (
        "const MODE: i32 = 493;",
        "const LOW: i16 = -8;",
        "const B: u8 = 15;",
        "const HEX: i64 = 255;",
        "const ZERO: i32 = 0;",
        "const F: f32 = 1;",
        "const D: f64 = -500.0;",
        "const E: f64 = 1.0;",
        "const SUM: i64 = 493;",
        "const AS: f64 = 493.0;",
        "first = 16,\n  second = 17,\n  third = 493,\n  first2 = 9,",
    ):
        assert line in made, made


def test_texts_have_the_escapes_of_slice(tmp_path: Path) -> None:
    made = text_of(
        tmp_path,
        r"""
        const string A = "\101\x42 \u00e9 \U0001F600 \303\251 \"q\" \' \? \\";
        const string B = "\q stays"; const string C = "one /* # */" "two // three";
        """,
    )
    assert r'const A: string = "AB é 😀 é \"q\" ' in made
    assert r'const B: string = "\\q stays";' in made
    assert 'const C: string = "one /* # */two // three";' in made


def test_a_backslash_makes_a_name_of_any_word(tmp_path: Path) -> None:
    made = text_of(
        tmp_path,
        r"""
        enum \enum { \struct = 1, b }
        struct \struct { int \int; \enum \module = \struct; ::m::\enum \const = m::\enum::b; }
        sequence<\struct> \sequence; dictionary<string, \sequence> \dictionary;
        exception \exception { \struct \string; }
        class \class { \class \optional; }
        interface \interface { \struct \void(\enum \in, out \sequence \out) throws \exception; }
        interface \idempotent extends \interface { }
        const \enum \local = \struct;
        """,
    )
    for line in (
        "enum enum: i32 {\n  struct = 1,\n  b = 2,\n}",
        "struct struct {\n  int: i32;\n  module: enum = enum.struct;\n  const: enum = enum.b;\n}",
        "type sequence = list<struct>;",
        "type dictionary = map<string, sequence>;",
        "error exception {\n  string: struct;\n}",
        "struct class {\n  optional: class?;\n}",
        "void(in: enum) -> (result: struct, out: sequence) throws exception;",
        "service idempotent extends interface { }",
        "const local: enum = enum.struct;",
    ):
        assert line in made, made


def test_true_and_false_with_a_backslash_are_enumerators(tmp_path: Path) -> None:
    made = text_of(
        tmp_path,
        r"""
        enum Yes { \true = 3, \false } const Yes Y = \true; const bool B = true; const int N = \true;
        enum More { m = \false } struct S { Yes e = \false; Yes f = Yes::\true; bool g = false; }
        """,
    )
    for line in (
        "enum Yes: i32 {\n  true = 3,\n  false = 4,\n}",
        "const Y: Yes = Yes.true;",
        "const B: bool = true;",
        "const N: i32 = 3;",
        "m = 4,",
        "  e: Yes = Yes.false;\n  f: Yes = Yes.true;\n  g: bool = false;",
    ):
        assert line in made, made


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (r"enum E { \true } struct S { E e = true; }", "this value does not fit its type"),
        (r"enum E { \true } struct S { bool b = \true; }", "this value does not fit its type"),
        (r"enum E { \true } enum F { x = true }", "expected a whole number"),
    ],
)
def test_true_without_a_backslash_is_no_enumerator(tmp_path: Path, text: str, message: str) -> None:
    assert told(tmp_path, text) == [f"1: E1003 {message}"]


def test_constants_and_enumerators_may_be_tags_and_ids(tmp_path: Path) -> None:
    made = text_of(
        tmp_path,
        """
        const int ID = 12; enum Tags { first = 1 }
        class Pump(ID) { optional(Tags::first) int a; optional(ID) string b = "x"; }
        class Valve(0x11) { optional() int a; }
        interface I { optional(2) int get(optional(ID) string x, out optional(m::ID) long y); }
        """,
    )
    assert 'struct Pump {\n  a: i32?;\n  b: string = "x";\n}' in made
    assert "get(x: string?) -> (result: i32?, y: i64?);" in made


def test_what_names_a_left_out_enumerator_or_constant_is_left_out_at_its_place(tmp_path: Path) -> None:
    text = """
    const int BAD = 4294967296;
    enum E { a = 4294967296, b = BAD, c = 3 }
    enum F { w = 1, x = E::a, y, z = 5 }
    const E FIRST = a; const long SECOND = E::b;
    struct S { E e = a; E f = c; int g = b; F h = y; }
    """
    made = text_of(tmp_path, text)
    assert made == (
        "enum E: i32 {\n  c = 3,\n}\n\nenum F: i32 {\n  w = 1,\n  z = 5,\n}\n\n"
        "struct S {\n  e: E;\n  f: E = E.c;\n  g: i32;\n  h: F;\n}\n"
    )
    assert [
        each.replace("W1001 left out, for want of an equal here: ", "") for each in told(tmp_path, text)
    ] == [
        "2: constant `BAD`: 4294967296 does not fit i32",
        "3: `a`: 4294967296 does not fit i32",
        "3: `b`: `BAD` is left out",
        "4: `x`: `E::a` is left out",
        "4: `y`: it follows one that is left out",
        "5: constant `FIRST`: `a` is left out",
        "5: constant `SECOND`: `E::b` is left out",
        "6: the default of `e`: `a` is left out",
        "6: the default of `g`: `b` is left out",
        "6: the default of `h`: `y` is left out",
    ]


def test_modules_and_attributes_have_two_forms(tmp_path: Path) -> None:
    text = """[["cpp:include:x.h", "java:package:a"]]
    /** Of pumps. */
    ["x"] module A::B {
      ["deprecated:gone", "java:x"] ["y"] struct S { ["z"] int a; }
      dictionary<["a"] string, ["b"] S> All; sequence<["c"] long> Longs;
      interface I { ["amd"] ["deprecate"] void f(["p"] out ["q"] int x); }
    }
    [["last"]]
    """
    made = schema(imported(tmp_path, api_dot_ice=text), tmp_path)
    assert made.startswith("/// Of pumps.\nmodule A.B.api;\n\n@deprecated\nstruct S {\n  a: i32;\n}\n")
    assert "@deprecated\n  f() -> (x: i32);" in made


@pytest.mark.parametrize(
    ("declared", "reason"),
    [
        ("interface I { void f(); }", "an interface has no value"),
        ("class I;", "its definition is not in what was read"),
    ],
)
def test_what_has_no_value_becomes_bytes_for_its_own_reason(
    tmp_path: Path, declared: str, reason: str
) -> None:
    result = imported(tmp_path, api_dot_ice=f"module m {{ {declared}\nstruct S {{ I i; }} }}")
    assert "i: bytes;" in schema(result, tmp_path)
    assert messages(result) == [f"2: W1002 `I` as a value becomes bytes: {reason}"]


def test_comments_are_kept_before_and_behind(tmp_path: Path) -> None:
    text = """// Licence.

    #pragma once // no comment of anything
    module M {
      // A point.
      struct Point { // of two numbers
        int x; // to the right
        ["deprecated"] int y; /* upwards */
      }
      const int N = 5; // the number
      // Draws.
      interface Canvas {
        // Draws one.
        void draw(Point p, // where
                  int size); // a method
      }
      enum E {
        a, ///< first
        b  // second
      }
    }
    """
    assert schema(imported(tmp_path, api_dot_ice=text), tmp_path) == (
        "/// Licence.\nmodule M.api;\n\n/// A point.\n/// of two numbers\nstruct Point {\n"
        "  /// to the right\n  x: i32;\n  /// upwards\n  y: i32;\n}\n\n/// the number\nconst N: i32 = 5;\n\n"
        "/// Draws.\nservice Canvas {\n  /// Draws one.\n  /// a method\n  draw(\n    /// where\n    p: Point,\n"
        "    size: i32,\n  );\n}\n\nenum E: i32 {\n  /// first\n  a = 0,\n  /// second\n  b = 1,\n}\n"
    )


def test_comments_behind_a_closing_brace_document_what_it_closes(tmp_path: Path) -> None:
    text = """
    module M { // of shapes
      struct S { int x; /* of S */ }; // behind S
      enum E { A } // behind E
      interface V { void f(); } // behind V
      // before C
      class C; // declared
      class C { }
    }; // behind M
    """
    assert schema(imported(tmp_path, api_dot_ice=text), tmp_path) == (
        "/// of shapes\n/// behind M\nmodule M.api;\n\n"
        "/// behind S\nstruct S {\n  /// of S\n  x: i32;\n}\n\n"
        "/// behind E\nenum E: i32 {\n  A = 0,\n}\n\n"
        "/// behind V\nservice V {\n  f();\n}\n\n"
        "/// before C\n/// declared\nstruct C { }\n"
    )


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("const byte A = 256;", "constant `A`: 256 does not fit u8"),
        ("const int A = 9999999999; const int B = A;", "constant `B`: `A` is left out"),
        ("struct S { float a = 1e300; }", "the default of `a`: 1e300 does not fit f32"),
        ('const string A = "\\xff";', "constant `A`: the bytes of this text are no UTF-8"),
        ("local exception E { } interface I { void f() throws E; }", "that this throws `E`"),
        ("interface J; interface I extends J { }", "that `I` extends `J`"),
        (
            "interface A { void f(); } interface B { void f(); } interface C extends A, B { }",
            "operation `f`, since another one has that name",
        ),
        ("enum E { a = 1, b = 1 }", "`b`, which is another name of `a`"),
    ],
)
def test_what_cannot_be_written_is_left_out_and_the_rest_stays(tmp_path: Path, text: str, what: str) -> None:
    result = imported(tmp_path, api_dot_ice=f"module m {{ struct Other {{ int a; }}\n{text} }}")
    assert "struct Other" in schema(result, tmp_path)
    assert f"2: W1001 left out, for want of an equal here: {what}" in messages(result)


# The preprocessor ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("/*\n # if 0\n*/\n @A\n/*\n # endif\n*/", "A"),
        ("// a \\\n# if 0\n@A", "A"),
        ('@A const string X = "\\\n#if 0\\\n";\n@B', "A B"),
        ("#define F\n#ifdef F\n@A\n#elif defined(S)\n@B\n#else\n@C\n#endif", "A"),
        ("#if 0\n@A\n#elif 1\n@B\n#elif 1\n@C\n#else\n@D\n#endif", "B"),
        ("#if 0\n@A\n#elif 0\n@B\n#else\n@C\n#endif", "C"),
        ("#if 0\n#if 1\n@A\n#else\n@B\n#endif\n#else\n@C\n#endif", "C"),
        ("#define X\n#undef X\n#ifdef X\n@A\n#else\n@B\n#endif", "B"),
        (
            "#define X\n#if defined(X) && !defined Y\n@A\n#endif\n#if defined(X) && defined(Y)\n@B\n#endif",
            "A",
        ),
        ("#define N 0x10\n#if N == 16 && (N + 1) * 2 > 033 || NEVER\n@A\n#endif", "A"),
        ("#if ICE_VERSION >= 30700 ? 1 : 0\n@A\n#endif", "A"),
        ("#if -1 < 0 && ~0 == -1 && 7 / 2 == 3 && 1 << 3 == 8\n@A\n#endif", "A"),
        ("#if defined(X) \\\n || /* two\n lines */ 1 // end\n@A\n#endif", "A"),
        ("#define LONG one \\\n two \\\n three\n@A", "A"),
        ("#define KIND \\\n @A\nKIND", "A"),
        ("#define PAIR(x, y) x \\\n y\nPAIR(@A, @B)", "A B"),
        ("#if 0\nit isn't \" a ~ word\n#error not read\n#include <gone.ice>\n#endif\n@A", "A"),
        ('#pragma once\n#line 3\n# 1 "x"\n#\n@A', "A"),
        ("  #  ifdef X\n@A\n  #  else /* no */\n@B\n#endif", "B"),
    ],
)
def test_one_branch_of_each_condition_is_read(tmp_path: Path, text: str, names: str) -> None:
    made = schema(imported(tmp_path, api_dot_ice=re.sub(r"@(.)", r"struct \1 { int x; }", text)), tmp_path)
    assert re.findall(r"^struct (\w+)", made, re.MULTILINE) == names.split()


def test_macros_of_an_included_file_are_known_behind_its_line(tmp_path: Path) -> None:
    config = "#ifndef CONFIG\n#define CONFIG\n#define WITH_B 1\n#include <api.ice>\n#endif\n"
    text = "#ifdef WITH_B\nstruct A { }\n#endif\n#include <config.ice>\n#if WITH_B\nstruct B { int x; }\n#endif\n"
    (tmp_path / "config.ice").write_text(config.replace("#include <api.ice>\n", ""))
    made = schema(imported(tmp_path, api_dot_ice=text), tmp_path)
    assert made == "module api;\n\nstruct B {\n  x: i32;\n}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#endif", "1: E1003 `#endif` without a condition before it"),
        ("#if 1\n#else\n#else\n#endif", "3: E1003 `#else` behind `#else`"),
        ("\n#ifdef X\n", "2: E1003 this condition has no `#endif`"),
        ("#if (1\n#endif", "1: E1003 this condition is not understood"),
        ("#if 'a'\n#endif", "1: E1003 this condition is not understood"),
        ("#if " + "(" * 500 + "1" + ")" * 500 + "\n#endif", "1: E1003 nested more than"),
        ("#if " + "!" * 5000 + "1\n#endif\nstruct S { Gone g; }", "3: E1003 `Gone` is no type"),
        ("\n#error not for you", "2: E1003 `#error`: not for you"),
        ("#nonsense", "1: E1003 `#nonsense` is no line of the preprocessor"),
        ("#include gone", '1: E1003 expected `"file"` or `<file>` behind `#include`'),
        (
            "#define A B B B B B B B B B B\n"
            + "".join(f"#define {chr(66 + n)} {(chr(67 + n) + ' ') * 10}\n" for n in range(8))
            + "A",
            "10: E1003 macros put in more",
        ),
        ("#define F(a) a\nF(1, 2)", "2: E1003 macro `F` has 1 parameters"),
        ("#define F(a) a\nF(1", "2: E1003 the arguments of macro `F` do not end"),
        ("struct S { } # define X", "1: E1003 stray character `#`"),
    ],
)
def test_a_wrong_line_of_the_preprocessor_gets_a_message(tmp_path: Path, text: str, message: str) -> None:
    result = imported(tmp_path, api_dot_ice=text)
    assert result.failed
    assert any(each.startswith(message) for each in messages(result)), messages(result)


@pytest.mark.parametrize("language", ["Thrift", "Slice"])
def test_all_decisions_of_a_grammar_are_ll1(language: str) -> None:
    generated = Path(__file__).parents[2] / "mfidl" / "syntax" / "_antlr" / f"{language}Parser.py"
    assert "adaptivePredict" not in generated.read_text()


def test_an_enumerator_is_found_from_inner_modules(tmp_path: Path) -> None:
    text = """module a { enum Tags { one = 1, two } module b {
      enum More { three = two, four = a::one, five = ::a::Tags::two, six = Tags::one }
      enum Less { seven = ::a::b::four }
    } }"""
    result = imported(tmp_path, api_dot_ice=text)
    made = schema(result, tmp_path)
    assert "enum bMore: i32 {\n  three = 2,\n  four = 1,\n}" in made
    assert "enum bLess: i32 {\n  seven = 1,\n}" in made
    assert [each.partition("here: ")[2] for each in messages(result)] == [
        "`five`, which is another name of `three`",
        "`six`, which is another name of `four`",
    ]


def test_a_file_with_an_error_is_not_reported_to_include_itself(tmp_path: Path) -> None:
    (tmp_path / "b.ice").write_text('#include "gone.ice"\nmodule m { struct B { int x; } }')
    (tmp_path / "c.ice").write_text("module m { struct C { ~ } }")
    (tmp_path / "a.ice").write_text('#include "b.ice"\n#include "c.ice"\nmodule m { struct A { B b; } }')
    names = [str(tmp_path / name) for name in ("a.ice", "b.ice", "c.ice")]
    found = messages(import_files(names, Options()))
    assert found == ["1: E1005 cannot find `gone.ice`", "1: E1003 stray character `~`"]
