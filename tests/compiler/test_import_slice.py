"""`mfidlc import` of Slice files: what becomes of each thing, and what is told."""

from pathlib import Path

import pytest

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
        ("module m { struct S { int a; }", "1: E1003 expected `}`, found the end of the file"),
        ("nonsense", "1: E1003 expected a definition: module, struct"),
        ("module m { interface I { int a; } }", "1: E1003 expected `(`, found `;`"),
        ("module m { interface I { void f() throws X; } }", "1: E1003 `X` is no exception"),
        ("module m { const int A = x; }", "1: E1003 `x` is no constant that is known here"),
        ("module m { const int A = true; }", "1: E1003 this value does not fit its type"),
        ("#endif", "1: E1003 `#endif` without a condition before it"),
        ('#include "gone.ice"', "1: E1005 cannot find `gone.ice`"),
        ('#include "api.ice"', "1: E1005 `api.ice` includes itself"),
        ("module a { " * 80, "1: E1003 nested more than 64 levels deep"),
        ("struct S { ~ }", "1: E1003 stray character `~`"),
    ],
)
def test_a_wrong_file_gets_a_message_at_its_place(tmp_path: Path, text: str, message: str) -> None:
    result = imported(tmp_path, api_dot_ice=text)
    assert result.failed
    assert any(each.startswith(message) for each in messages(result)), messages(result)
