"""Defaults as a schema writes them, from the JSON of an annex."""

import ast
from pathlib import Path

import pytest

from mf import described
from mf_tools.rendering import Rendering
from mfidl.compiler import Exit, Targets, compile_files

SCHEMA = r"""module defaults;

enum Rank: u8 { low = 1, high = 2 }
flags Marks: u8 { new = 0, sale = 1 }
@tier(memcpy) struct Point { x: f64 = 1.5; y: f32 = inf; }
union Answer { text: string; number: u64; }

struct All {
  flag: bool = true;
  small: i8 = -5;
  large: u64 = 18446744073709551615;
  real: f64 = nan;
  text: string = "a \"quote\"\n\u{1F600}";
  raw: bytes = "\x00\xff";
  at: timestamp = "2024-02-29T12:30:45.5Z";
  ttl: duration = 1500ms;
  id: uuid = "123e4567-e89b-12d3-a456-426614174000";
  rank: Rank = Rank.high;
  marks: Marks = [Marks.new, Marks.sale];
  none: Marks = [];
  numbers: list<i64> = [1, -2];
  places: map<string, Point> = { "here": { x: 2 } };
  ranks: map<Rank, bool> = { Rank.low: false };
  answer: Answer = { number: 7 };
  maybe: Rank? = Rank.low;
  @was("former") now: u32 @range(1..9) = 3;
}

service Keeper { keep(all: All, rank: Rank = Rank.low, wait: duration = 200us) -> All; }
"""


def texts(path: Path) -> tuple[str, str]:
    """Descriptor and annex of the only service of a schema, as the compiler writes them."""
    outcome = compile_files([str(path)], [], Targets(python=str(path.parent / "out")))
    assert outcome.exit is Exit.OK, outcome.diagnostics
    made = ast.parse((path.parent / "out/defaults/_methods.py").read_text())
    texts = {
        ast.unparse(each.target): ast.literal_eval(each.value)
        for each in made.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.value, ast.Constant)
    }
    return texts["KEEPER_DESCRIPTOR"], texts["KEEPER_ANNEX"]


def test_defaults_of_each_kind_come_back(tmp_path: Path) -> None:
    (tmp_path / "defaults.mfidl").write_text(SCHEMA)
    before = texts(tmp_path / "defaults.mfidl")
    description = described.Description("defaults.Keeper", *before)
    shown = "\n".join(Rendering(described.Service(description).schema, description).lines()) + "\n"
    for line in ("ttl: duration = 1500ms;", "rank: Rank = Rank.high;", "wait: duration = 200us"):
        assert line in shown
    (tmp_path / "again").mkdir()
    (tmp_path / "again/defaults.mfidl").write_text(shown)
    assert texts(tmp_path / "again/defaults.mfidl") == before


@pytest.mark.parametrize("default", ["{", "[1]", '"x"', "null", "[" * 10_000])
def test_what_is_no_default_is_shown_as_it_came(default: str) -> None:
    descriptor = "service a.B\n method m\n  params febird\n   x duration\n  results memcpy\n"
    annex = f"annex a.B\n method m\n  params\n   x\n    default {default}\n"
    description = described.Description("a.B", descriptor, annex)
    shown = "\n".join(Rendering(described.Service(description).schema, description).lines())
    assert f"m(x: duration = {default})" in shown
