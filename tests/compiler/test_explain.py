"""`mfidlc explain`: what it says, for people and for tools. MF_REGEN=1 writes the golden texts anew."""

import dataclasses
import json
import os
import re
from pathlib import Path

import pytest

from mfidl.compiler import check
from mfidl.explain import UnknownNameError, explain, render_text
from mfidl.explain import report as r
from mfidl.explain.as_json import render_json
from tests.compiler.schema import program_of
from tests.compiler.test_cli import mfidlc

HERE = Path(__file__).parent
GOLDEN = HERE / "golden" / "explain"
SCHEMAS = {
    "page": HERE / "whole_language.mfidl",  # the example of the language's page
    "kinds": HERE / "golden/python/kinds/schema/kinds.mfidl",
}
IMPORTS = [str(HERE / "golden/python/search/schema")]


def _reports(case: str) -> list[r.ModuleReport]:
    outcome = check([str(SCHEMAS[case])], IMPORTS)
    assert outcome.program is not None, [each.message for each in outcome.diagnostics]
    return explain(outcome.program)


@pytest.mark.parametrize("case", SCHEMAS)
@pytest.mark.parametrize("view", ["txt", "json"])
def test_the_explanation_is_the_one_that_was_read(case: str, view: str) -> None:
    text = render_text(_reports(case)) if view == "txt" else render_json(_reports(case))
    golden = GOLDEN / f"{case}.{view}"
    if os.environ.get("MF_REGEN"):
        golden.write_text(text)
    assert text == golden.read_text()


@pytest.mark.parametrize("case", SCHEMAS)
def test_the_text_is_narrow_and_has_no_trailing_blanks(case: str) -> None:
    for line in render_text(_reports(case)).splitlines():
        assert len(line) <= 80, line
        assert line == line.rstrip()
        assert line.isascii()


def _type(folder: Path, schema: str, name: str) -> r.TypeReport:
    [module] = explain(program_of(folder, schema), name)
    [found] = module.types
    assert isinstance(found, r.TypeReport)
    return found


def _tier(found: r.TypeReport, tier: str) -> r.TierRow:
    return next(each for each in found.tiers if each.tier == tier)


def test_the_way_leads_through_the_containing_types_to_the_field_that_decides(tmp_path: Path) -> None:
    schema = """module m;
    struct Outer { id: u32; middles: array<Middle, 2>; }
    struct Middle { inner: Inner; }
    struct Inner { x: u8; name: string; }"""
    found = _type(tmp_path, schema, "Outer")
    assert found.path == ("Outer.middles", "Middle.inner", "Inner.name")
    assert found.why == "`middles.inner.name` is a string, which has no fixed size"


def test_a_type_that_asks_for_less_is_told_what_it_could_have(tmp_path: Path) -> None:
    found = _type(tmp_path, "module m; @tier(febird) struct A { x: u8; y: u32; }", "A")
    assert found.asked
    assert found.path == ()
    assert _tier(found, "memcpy").cost == r.Cost(8, 8, 8)
    assert _tier(found, "febird").cost == r.Cost(2, 3, 6)


def test_padding_is_counted_and_drawn_and_a_cheaper_order_is_offered(tmp_path: Path) -> None:
    found = _type(tmp_path, "module m; struct A { a: u8; b: u64; c: u8; }", "A")
    assert found.layout is not None
    assert (found.layout.size, found.layout.padding) == (24, 14)
    assert [slot.offset for slot in found.layout.slots if slot.name is None] == [1, 17]
    assert found.layout.better_order == r.Order(("b", "a", "c"), 16, 8)


def test_an_order_that_saves_nothing_is_not_offered(tmp_path: Path) -> None:
    found = _type(tmp_path, "module m; struct A { a: u8; b: u64; }", "A")
    assert found.layout is not None
    assert found.layout.padding == 7
    assert found.layout.better_order is None


def test_nested_structs_are_opened_and_their_padding_is_seen(tmp_path: Path) -> None:
    schema = "module m; struct In { a: u8; b: u32; } struct Out { x: u64; in: In; last: array<In, 2>; }"
    found = _type(tmp_path, schema, "Out")
    assert found.layout is not None
    assert found.layout.padding == 9
    assert [slot.name for slot in found.layout.slots] == ["x", "in.a", None, "in.b", "last"]


@pytest.mark.parametrize(
    ("fields", "cost"),
    [
        ("x: u32;", (1, 2, 5)),
        ("x: i64;", (1, 2, 10)),
        ("x: i16 @range(-64..63);", (1, 1, 1)),
        ("x: u64 @range(128..);", (2, 2, 10)),
        ("x: string @length(..127);", (1, 8, 128)),
        ("x: bytes @length(128..130);", (130, 130, 132)),
        ("x: u8?;", (1, 2, 2)),
        ("x: list<u16 @range(..10)> @length(2..200);", (3, 4, 202)),
        ("x: set<bool>;", (1, 3, 3)),
        ("x: set<u16> @length(129..);", (131, 260, 131_139)),  # 65,536 of two bytes, and 64 of codes
        ("x: set<string @length(..1)>;", (1, 7, 259)),  # the empty one, and 128 of one byte
        ("x: map<Side, u8>;", (1, 5, 5)),
        ("x: array<Side, 3>; y: timestamp;", (11, 11, 11)),
        ("x: list<Nothing>;", (1, 1, 3)),  # at most 65,536 elements without bytes
        ("x: uuid; y: f32; z: f64;", (28, 28, 28)),
    ],
)
def test_the_least_and_the_most_bytes_follow_from_types_and_constraints(
    tmp_path: Path, fields: str, cost: tuple[int, int, int]
) -> None:
    schema = "module m; enum Side: u8 { left = 1, right = 2 } struct Nothing {} @tier(febird) struct A { %s }"
    assert _type(tmp_path, schema % fields, "A").cost == r.Cost(*cost)


def test_no_text_is_made_that_is_longer_than_an_example_may_be(tmp_path: Path) -> None:
    found = _type(tmp_path, "module m; struct A { name: string @length(1500000000..); }", "A")
    assert found.problem == ("its shortest text has 1500000000 bytes, and examples have at most 1048576")


def test_a_type_that_holds_itself_has_no_most_and_a_short_example(tmp_path: Path) -> None:
    found = _type(
        tmp_path, "module m; struct Tree { label: string; children: list<Tree>; left: Tree?; }", "Tree"
    )
    assert found.cost is not None
    assert (found.cost.fewest, found.cost.most) == (3, None)
    assert found.cost.example < 50


def test_what_no_value_satisfies_is_said_and_not_guessed(tmp_path: Path) -> None:
    endless = _type(tmp_path, "module m; struct C { c: list<C> @length(1..); }", "C")
    assert (endless.cost, endless.problem) == (None, "`C` holds itself without end")
    few = _type(tmp_path, 'module m; struct D { m: set<string @pattern("ab")> @length(2..); }', "D")
    assert few.problem == "an example would need 2 different keys"


def test_chains_and_rings_of_hundreds_of_types_cost_neither_stack_nor_time(tmp_path: Path) -> None:
    lines = ["module chain; struct S0 { x: u32; } struct M0 { x: u32; }"]
    lines += [f"struct S{at} {{ a: list<S{at - 1}>; b: map<string, S{at - 1}>; }}" for at in range(1, 300)]
    lines += [f"struct R{at} {{ a: list<R{at % 299 + 1}>; }}" for at in range(1, 300)]
    lines += [f"struct M{at} {{ a: M{at - 1}; b: u8; }}" for at in range(1, 300)]
    [module] = explain(program_of(tmp_path, "\n".join(lines)))
    assert len(module.types) == 899


SERVICE = """module m;
agent shelf: string;
error Gone { why: string; }
struct Book { title: string @length(1..80); pages: u32; }
service Shop per shelf {
  @idempotent @deadline(250ms) find(title: string @length(1..)) -> Book throws Gone;
  @oneway @ordered @batch(max = 10) seen(a: u8, b: u64);
}
"""


def test_a_service_is_told_with_its_frames(tmp_path: Path) -> None:
    program = program_of(tmp_path, SERVICE)
    [module] = explain(program, "Shop")
    [shop] = module.services
    assert (shop.agent, shop.fingerprint) == (
        "shelf: string",
        program.modules[0].services[0].fingerprint.hex(),
    )
    find, seen = shop.methods
    assert (find.index, find.idempotent, find.deadline_ns, find.batch_max) == (0, True, 250_000_000, 128)
    assert find.request.body.cost == r.Cost(2, 8, None)
    assert find.request.frame == r.Cost(24, 24, None)
    assert find.reply is not None
    assert find.reply.body.path == ("value", "Book.title")
    assert r.Check("Book.title", "@length(1..80)") in find.reply.checks
    assert (seen.oneway, seen.reply, seen.batch_max, seen.batch_frame) == (True, None, 10, 16 + 160)
    assert seen.request.frame == r.Cost(32, 32, 32)
    assert (find.ordered, seen.ordered) == (False, True)
    text = " ".join(render_text(explain(program, "Shop")).split())
    assert text.count("ordered: the calls of one batch run one after the other") == 1


def test_a_call_of_the_protocol_page_has_the_bytes_of_that_page(tmp_path: Path) -> None:
    [module] = explain(program_of(tmp_path, "module demo; service Echo { twice(x: i32) -> i32; }"), "twice")
    [method] = module.services[0].methods
    assert method.reply is not None
    assert (method.request.frame, method.reply.frame) == (r.Cost(24, 24, 24), r.Cost(24, 24, 24))


def test_a_method_that_is_asked_for_is_told_with_its_layout(tmp_path: Path) -> None:
    text = render_text(explain(program_of(tmp_path, SERVICE), "Shop.seen"))
    assert "parameters of seen" in text
    assert "cheaper    b, a: saves" not in text
    assert "| a |///" in text
    assert "find" not in text


@pytest.mark.parametrize("name", ["Book", "m.Book", "Shop", "m.Shop.find", "find", "Gone"])
def test_a_name_may_be_short_or_full(tmp_path: Path, name: str) -> None:
    assert render_text(explain(program_of(tmp_path, SERVICE), name))


@pytest.mark.parametrize("name", ["far.B", "f.B", "B"])
def test_an_imported_type_is_found_by_each_of_its_names(tmp_path: Path, name: str) -> None:
    near = 'module near; import "far.mfidl" as f; struct A { b: f.B; }'
    program = program_of(tmp_path, near, far="module far; struct B { x: u8; }")
    [module] = explain(program, name)
    assert module.name == "far"


def test_a_name_of_two_things_asks_which(tmp_path: Path) -> None:
    schema = "module m; service A { go(); } service B { go(); }"
    with pytest.raises(UnknownNameError, match=r"could be `m\.A\.go`, `m\.B\.go`"):
        explain(program_of(tmp_path, schema), "go")


def test_a_misspelled_name_is_answered_with_the_right_one(tmp_path: Path) -> None:
    (tmp_path / "shop.mfidl").write_text(SERVICE)
    done = mfidlc("explain", "shop.mfidl", "Bok", cwd=tmp_path)
    assert done.returncode == 2
    assert "did you mean `Book`?" in done.stderr
    assert done.stdout == ""


def test_json_and_text_go_to_standard_output(tmp_path: Path) -> None:
    (tmp_path / "shop.mfidl").write_text(SERVICE)
    done = mfidlc("explain", "shop.mfidl", "--json", cwd=tmp_path)
    data = json.loads(done.stdout)
    assert (done.returncode, data["version"], data["modules"][0]["name"]) == (0, 1, "m")
    text = mfidlc("explain", "shop.mfidl", "Book", cwd=tmp_path)
    assert (text.returncode, text.stderr) == (0, "")
    assert text.stdout.startswith("module m ")
    assert "\033" not in text.stdout


def test_the_page_names_every_member_of_the_json() -> None:
    page = (HERE.parents[1] / "docs" / "explain.md").read_text()
    classes = [each for each in vars(r).values() if dataclasses.is_dataclass(each)]
    assert len(classes) > 15
    for each in classes:
        for field in dataclasses.fields(each):
            assert re.search(rf"[`\"]{field.name}[`\"]", page), (each, field.name)


SCHEMAS_OF_THE_TREE = sorted(
    path for path in (HERE / "golden").rglob("schema/**/*.mfidl") if "cpp" not in path.parts
)


@pytest.mark.parametrize("path", SCHEMAS_OF_THE_TREE, ids=lambda path: path.stem)
def test_the_explanation_agrees_with_the_planner(path: Path) -> None:
    """A chosen tier is possible; memcpy is possible where it was chosen, or the file asks for another."""
    root = next(each for each in path.parents if each.name == "schema")
    outcome = check([str(path)], [str(root)])
    assert outcome.program is not None, [each.message for each in outcome.diagnostics]
    for module in explain(outcome.program):
        found = [each for each in module.types if isinstance(each, r.TypeReport)]
        found += [method.request.body for service in module.services for method in service.methods]
        for each in found:
            assert _tier(each, each.tier).possible, each.full_name
            if not each.asked:
                assert _tier(each, "memcpy").possible == (each.tier == "memcpy"), each.full_name
            assert (each.layout is not None) == (each.tier == "memcpy"), each.full_name


def test_letters_that_the_terminal_lacks_become_question_marks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "k.mfidl").write_text('module k; struct A { a: string = "서울"; }')
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    done = mfidlc("explain", "k.mfidl", cwd=tmp_path)
    assert done.returncode == 0
    assert 'string = "??"' in done.stdout
    listed = json.loads(mfidlc("explain", "k.mfidl", "--json", cwd=tmp_path).stdout)
    assert listed["modules"][0]["types"][0]["fields"][0]["default"] == '"서울"'


def test_mistakes_in_the_schema_are_shown_instead(tmp_path: Path) -> None:
    (tmp_path / "bad.mfidl").write_text("module bad; struct A { x: u33; }")
    done = mfidlc("explain", "bad.mfidl", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "error[E0301]" in done.stderr
    listed = json.loads(mfidlc("explain", "bad.mfidl", "--json", cwd=tmp_path).stdout)
    assert listed["diagnostics"][0]["code"] == "E0301"


def test_times_are_written_as_a_schema_writes_them_and_sets_as_they_travel(tmp_path: Path) -> None:
    (tmp_path / "m.mfidl").write_text(
        'module m; type Short = string; type When = timestamp @range("2001-01-01T00:00:00Z"..);'
        "enum E: u8 { b = 2, a = 1, z = 0 }"
        "struct A {"
        ' a: timestamp @range("1969-12-31T23:59:59.999999999Z".."2024-02-29T12:30:45.5Z");'
        ' b: timestamp = "2024-02-29T12:30:45Z"; c: timestamp? @range(.."2262-01-01T00:00:00Z");'
        ' d: When; n: Short = "ab"; e: set<E>; f: map<E, u8>; }'
    )
    done = mfidlc("explain", "m.mfidl", cwd=tmp_path)
    assert done.returncode == 0
    for words in (
        '@range("1969-12-31T23:59:59.999999999Z".."2024-02-29T12:30:45.5Z")',
        '"2024-02-29T12:30:45Z"',
        '@range(.."2262-01-01T00:00:00Z")',
        '@range("2001-01-01T00:00:00Z"..)',
        "Short (string)",
        "When (timestamp)",
        'timestamp = "2024-02-29T12:30:45Z" 1',  # whole
        "e: [E.z, E.a, E.b]",
        "f: { E.z: 100, E.a: 100, E.b: 100 }",
    ):
        assert words in " ".join(done.stdout.split()), words


def test_what_is_kept_is_of_each_agent_only_where_there_are_agents(tmp_path: Path) -> None:
    schema = (
        "module m; agent a: string; struct S { x: u8; }"
        "@replay(3) topic Of per a : S; @replay(3) topic Lone : S; @replay(1) topic One : S; topic None : S;"
    )
    text = render_text(explain(program_of(tmp_path, schema)))
    assert re.findall(r"replay +(.*)", text) == [
        "the last 3 of each agent",
        "the last 3",
        "the last one",
        "none: a subscriber begins with the next message",
    ]
