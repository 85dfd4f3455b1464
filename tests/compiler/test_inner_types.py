"""Types within structs, unions, errors and services: names, bytes, generated code and diagnostics."""

import sys
from pathlib import Path

import pytest

from mfidl import model
from mfidl.breaking.compare import compare
from mfidl.descriptor.read import from_message
from mfidl.descriptor.write import to_message
from mfidl.emit.cpp.names import Inherited, ModuleNames
from mfidl.emit.output import EmitOptions
from mfidl.emit.proto import generate as generate_proto
from mfidl.emit.python import generate
from mfidl.emit.python.names import module_names
from mfidl.explain import explain, render_text
from mfidl.lint import Settings, lint_files
from tests.compiler.schema import outcome_of, program_of, struct_of

OUTER = """module m;
/// The outer one.
struct Outer {
  /// The inner one.
  @deprecated("old") struct Inner { kind: Kind; }
  enum Kind: u8 { a = 0, b = 1 }
  type Many = list<Inner>;
  first: Inner; rest: Many; kind: Kind = Kind.b;
}
service S {
  error Bad { struct Why { text: string; } why: Why; }
  struct Filter { kind: Outer.Kind; }
  find(filter: Filter) -> Outer.Inner throws Bad;
}
"""


def test_full_names_have_all_that_a_type_stands_in(tmp_path: Path) -> None:
    program = program_of(tmp_path, OUTER)

    assert set(program.declarations) == {
        "m.Outer",
        "m.Outer.Inner",
        "m.Outer.Kind",
        "m.Outer.Many",
        "m.S.Bad",
        "m.S.Bad.Why",
        "m.S.Filter",
    }
    inner = struct_of(program, "m.Outer.Inner")
    assert (inner.name, inner.within, model.local_name(inner)) == ("Inner", "Outer", "Outer.Inner")
    assert (inner.doc.strip(), inner.deprecated) == ("The inner one.", "old")
    assert struct_of(program, "m.S.Bad.Why").within == "S.Bad"
    assert program.owner("m.S.Bad.Why").name == "m"


def test_descriptors_say_the_full_name(tmp_path: Path) -> None:
    [service] = program_of(tmp_path, OUTER).requested[0].services

    lines = service.descriptor.splitlines()
    assert "type m.Outer.Inner struct memcpy" in lines
    assert " kind m.Outer.Kind" in lines
    assert "  throws m.S.Bad" in lines
    assert "type m.S.Bad.Why struct febird" in lines


def test_the_nearest_type_of_a_name_is_meant(tmp_path: Path) -> None:
    text = """module m;
    struct A { x: u8; }
    struct B { struct A { y: u16; } struct C { a: A; outer: m.A; } a: A; c: C; }
    struct D { a: A; b: B.A; }
    """
    program = program_of(tmp_path, text)

    def types(name: str) -> list[str]:
        return [model.spell(each.type) for each in struct_of(program, name).fields]

    assert types("m.B") == ["m.B.A", "m.B.C"]
    assert types("m.B.C") == ["m.B.A", "m.A"]
    assert types("m.D") == ["m.A", "m.B.A"]


def test_types_of_imported_modules_are_named_through_what_they_stand_in(tmp_path: Path) -> None:
    field = "a: other.Outer.Kind = other.Outer.Kind.a"
    text = f'module n; import "m.mfidl" as other; struct X {{ {field}; b: m.Outer.Many; }}'

    program = program_of(tmp_path, text, m=OUTER)

    assert [model.spell(each.type) for each in struct_of(program, "n.X").fields] == [
        "m.Outer.Kind",
        "list<m.Outer.Inner>",
    ]


def test_no_name_of_a_schema_without_inner_types_changes_when_one_gets_them(tmp_path: Path) -> None:
    text = "struct Outer_Inner { x: u8; } const Outer_Kind: u8 = 1; struct Outer { INNER y: u8; }"
    plain = program_of(tmp_path, f"module m; {text.replace('INNER', '')}").requested[0]
    more = "struct Inner { z: u8; } enum Kind: u8 { a = 0 }"
    with_inner = program_of(tmp_path, f"module m; {text.replace('INNER', more)}").requested[0]

    before, after = module_names(plain, {}), module_names(with_inner, {})
    assert before.types.items() <= after.types.items()
    assert (before.constants, before.services) == (after.constants, after.services)
    assert after.types["m.Outer.Inner"] == "Outer_Inner_"
    cpp = ModuleNames(with_inner, Inherited())
    assert [cpp.of(f"m.{name}") for name in ("Outer_Inner", "Outer_Kind")] == ["Outer_Inner", "Outer_Kind"]
    assert cpp.of("m.Outer.Inner") == "Outer_Inner_"


def test_names_that_schemas_prescribe_are_parts_of_the_whole(tmp_path: Path) -> None:
    text = """module m;
    @cpp.name("Out") @python.name("Ext") struct Outer {
      @cpp.name("In") @python.name("Int") struct Inner { x: u8; }
      i: Inner;
    }
    """
    module = program_of(tmp_path, text).requested[0]

    cpp, python = ModuleNames(module, Inherited()), module_names(module, {})
    assert cpp.of("m.Outer.Inner") == "Out_In"
    assert [name for name, _ in cpp.inner("m.Outer")] == ["In"]
    assert python.types["m.Outer.Inner"] == "Ext_Int"
    assert python.within["m.Outer"].words == (("Int", "m.Outer.Inner"),)


def test_two_types_within_one_cannot_have_one_name_in_a_language_but_those_within_others_can(
    tmp_path: Path,
) -> None:
    text = 'module m; struct A { @cpp.name("X") struct B { x: u8; } OTHER b: B; } struct X { x: u8; }'
    assert outcome_of(tmp_path, main=text.replace("OTHER", "")).diagnostics == []
    text = text.replace("OTHER", "struct X { x: u8; }")
    assert [each.code for each in outcome_of(tmp_path, main=text).diagnostics] == ["E0317"]


def test_a_word_of_the_class_yields_to_what_generated_code_says_there(tmp_path: Path) -> None:
    text = (
        "module m; union Value { struct Value { x: u8; } struct Kind { x: u8; } value: Value; kind: Kind; }"
    )
    cpp = ModuleNames(program_of(tmp_path, text).requested[0], Inherited())

    assert [name for name, _ in cpp.inner("m.Value")] == ["Value_", "Kind_"]
    assert (cpp.of("m.Value.Value"), cpp.of("m.Value.Kind")) == ("Value_Value", "Value_Kind")


def test_python_reaches_them_through_the_classes_of_what_they_stand_in(tmp_path: Path) -> None:
    for file in generate(
        program_of(tmp_path, OUTER.replace("module m", "module inner_types_m")), EmitOptions("", "0")
    ):
        path = tmp_path / "made" / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text)
    sys.path.insert(0, str(tmp_path / "made"))
    try:
        import inner_types_m as made  # type: ignore[import-not-found]
    finally:
        sys.path.pop(0)

    value = made.Outer(first=made.Outer.Inner(made.Outer.Kind.b))
    assert repr(value) == (
        "Outer(first=Outer_Inner(kind=<Outer_Kind.b: 1>), rest=[], kind=<Outer_Kind.b: 1>)"
    )
    assert made.Outer.Inner is made.Outer_Inner
    assert made.SClient.Filter is made.SServant.Filter is made.S_Filter
    assert made.SAsyncClient.Bad.Why is made.S_Bad_Why
    assert "Inner" not in value.__slots__


def test_messages_stand_in_messages_of_proto_files(tmp_path: Path) -> None:
    text = """module m;
    @tier(archive) struct Outer {
      @tier(archive) struct Inner { enum Kind: u8 { a = 0 } 1: kind: Kind; }
      1: inner: Inner; 2: kind: Inner.Kind = Inner.Kind.a;
    }
    service S { @tier(archive) struct Item { 1: inner: Outer.Inner; } f(item: Item); }
    """
    [file] = generate_proto(program_of(tmp_path, text), EmitOptions("", "0"))

    lines = [line.strip() for line in file.text.splitlines()]
    assert "message Inner {" in lines
    assert "required .m.Outer.Inner.Kind kind = 1;" in lines
    assert "optional .m.Outer.Inner.Kind kind = 2 [default = Kind_a];" in lines
    assert "message S_Item {" in lines
    assert "required .m.Outer.Inner inner = 1;" in lines


def test_descriptors_for_plugins_bring_them_back(tmp_path: Path) -> None:
    program = program_of(tmp_path, OUTER)

    again = from_message(to_message(program))

    assert {name: each.within for name, each in again.declarations.items()} == {
        name: each.within for name, each in program.declarations.items()
    }


@pytest.mark.parametrize("name", ["m.Outer.Inner", "Outer.Inner", "Inner"])
def test_explain_finds_them_by_each_part_of_their_name(tmp_path: Path, name: str) -> None:
    assert "\nstruct Outer.Inner" in render_text(explain(program_of(tmp_path, OUTER), name))


def test_lint_sees_deprecated_ones_from_inside_and_outside(tmp_path: Path) -> None:
    (tmp_path / "m.mfidl").write_text(OUTER)

    found = lint_files([str(tmp_path / "m.mfidl")], [], Settings()).diagnostics

    names = [each.message.split("`")[1] for each in found if each.code == "L0304"]
    assert names == ["Inner", "Inner", "Outer.Inner"]


def test_a_type_that_is_gone_from_within_another_is_told(tmp_path: Path) -> None:
    text = "module m; struct A { INNER x: u8; } struct B { struct C { y: u8; } c: C; }"
    old = program_of(tmp_path, text.replace("INNER", "struct C { y: u8; }"))
    new = program_of(tmp_path, text.replace("INNER", ""))

    assert [each.message for each in compare(old, new)] == ["type `m.A.C` is gone"]
