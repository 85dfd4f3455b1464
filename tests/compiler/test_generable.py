"""What no generator can do yet is left out of the program, by name; what stays keeps its place."""

from pathlib import Path

from mfidl import model
from mfidl.compiler import Exit, Targets, compile_files
from mfidl.diagnostics import Diagnostic, Diagnostics
from mfidl.emit.generable import for_language
from tests.compiler.schema import program_of

SCHEMA = """module m;
import "o.mfidl";
@tier(archive) struct Config { 1: name: string; 2: parent: ref<Config>?; }
@tier(custom) @python.codec("geo:Codec") struct Geo;
struct Plain { x: u32; config: list<o.Point>; }
struct Holder { plain: Plain; geo: map<string, Geo>; }
struct Around { config: Config?; around: list<Around>; }
union Either { plain: Plain; geo: Geo; }
type Many = list<Around>;
type Fine = list<Plain>;
const NAMED: Config = { name: "x" };
const NOBODY: list<Holder> = [];
error Lost { why: string; }
error Held { holder: Holder; }
service S {
  plain(plain: Plain) -> u32 throws Lost;
  around(around: Around?);
  down() -> stream<u32>;
  either() -> list<Either>;
  @cached(entries = 5) cached(x: u32) -> u32;
  @replicated(pattern = one_hop) replicated(x: u32) -> u32;
  held(x: u32) throws Held;
  up(into: u32, held: stream<list<Holder>>) -> u32;
  watch() -> stream<Geo>;
  last(x: Fine);
}
topic T: Plain;
"""
IMPORTED = "module o; struct Point { x: u8; } @tier(archive) struct Own { 1: x: u8; } topic T: Point;"


def cut(folder: Path) -> tuple[model.Program, list[Diagnostic]]:
    diagnostics = Diagnostics()
    program = program_of(folder, SCHEMA, o=IMPORTED)
    return for_language(program, "cpp", diagnostics), diagnostics.sorted()


def test_what_names_no_codec_for_a_language_is_left_out_there_with_all_that_holds_it(tmp_path: Path) -> None:
    program, _ = cut(tmp_path)
    module = program.module("m")
    left = {"Config", "Plain", "Around", "Many", "Fine", "Lost"}
    assert {each.name for each in module.declarations} == left
    assert [each.name for each in module.constants] == ["NAMED"]
    assert [each.name for each in module.topics] == ["T"]
    assert {each.name for each in program.module("o").declarations} == {"Point", "Own"}


def test_a_language_with_a_codec_loses_nothing(tmp_path: Path) -> None:
    diagnostics = Diagnostics()
    whole = program_of(tmp_path, SCHEMA, o=IMPORTED)
    assert for_language(whole, "python", diagnostics) is whole
    assert diagnostics.sorted() == []


def test_methods_keep_their_indices_and_services_their_fingerprints(tmp_path: Path) -> None:
    whole = program_of(tmp_path, SCHEMA, o=IMPORTED).module("m").services[0]
    service = cut(tmp_path)[0].module("m").services[0]
    assert [(each.name, each.index) for each in service.methods] == [
        ("plain", 0),
        ("around", 1),
        ("down", 2),
        ("cached", 4),
        ("replicated", 5),
        ("last", 9),
    ]
    assert service.methods[3].cached == model.Cache(5)
    assert service.fingerprint == whole.fingerprint


def test_each_cause_is_one_warning_with_what_goes_with_it_as_notes(tmp_path: Path) -> None:
    _, diagnostics = cut(tmp_path)
    assert {each.severity for each in diagnostics} == {"warning"}
    left_out = [each for each in diagnostics if each.code == "W0801"]
    assert dict(each.message.split(" is left out of the generated code: ") for each in left_out) == {
        "struct `Geo`": "`Geo` names no codec for C++ (@cpp.codec)",
    }
    (geo,) = (each for each in left_out if "Geo" in each.message)
    assert [(note.message, note.span.text() if note.span else "") for note in geo.notes] == [
        ("so is constant `NOBODY`: it needs `Holder`", "NOBODY"),
        ("so is struct `Holder`: it needs `Geo`", "Holder"),
        ("so is union `Either`: it needs `Geo`", "Either"),
        ("so is error `Held`: it needs `Holder`", "Held"),
        ("so is method `S.either`: it needs `Either`", "either"),
        ("so is method `S.held`: it needs `Held`", "held"),
        ("so is method `S.up`: it needs `Holder`", "up"),
        ("so is method `S.watch`: it needs `Geo`", "watch"),
    ]


def test_a_cause_in_a_module_that_nobody_asked_for_is_told_where_it_is_needed(tmp_path: Path) -> None:
    diagnostics = Diagnostics()
    text = 'module m; import "o.mfidl"; struct A { geo: o.Geo; } struct B { a: A; }'
    program = program_of(
        tmp_path, text, o='module o; @tier(custom) @python.codec("g:C") struct Geo; struct Near { geo: Geo; }'
    )
    for_language(program, "cpp", diagnostics)
    (told,) = diagnostics.sorted()
    assert told.span is not None
    assert told.span.text() == "A"
    assert told.message.endswith("it needs `Geo`, and `Geo` names no codec for C++ (@cpp.codec)")
    assert [note.message for note in told.notes] == ["so is struct `B`: it needs `A`"]


def test_a_program_that_can_be_generated_whole_gives_no_warning(tmp_path: Path) -> None:
    text = "module m; flags F: u8 { a } union U { f: F; } service S { f(u: U) -> F; }"
    diagnostics = Diagnostics()
    program = program_of(tmp_path, text)
    assert (
        for_language(program, "cpp", diagnostics).modules[0].declarations == program.modules[0].declarations
    )
    assert diagnostics.sorted() == []


def test_the_whole_language_compiles_without_a_warning(tmp_path: Path) -> None:
    (tmp_path / "sf1").mkdir()
    (tmp_path / "sf1" / "text.mfidl").write_text("module sf1.text; struct Document { id: u32; }")
    schema = Path(__file__).parent / "whole_language.mfidl"
    out = tmp_path / "out"
    outcome = compile_files([str(schema)], [str(tmp_path)], Targets(str(out / "cpp"), str(out / "python")))
    assert outcome.exit is Exit.OK
    assert outcome.diagnostics == []
    assert {path.suffix for path in out.rglob("*") if path.is_file()} >= {".hpp", ".cpp", ".py"}
