"""A default and a bound of an f32 are compared as numbers of f32. Python: test_python_literals.py."""

from pathlib import Path

import pytest

from mfidl.compiler import Exit, Targets, compile_files
from tests.compiler.schema import outcome_of

HELD = "0.10000000149011612"  # by an f32, of 0.1


@pytest.mark.parametrize(
    "field",
    [
        "f32 @range(0.0..0.1) = 0.1",
        f"f32 @range(0.0..0.1) = {HELD}",
        f"f32 @range({HELD}..) = 0.1",
        f"Share? = {HELD}",
        f"list<f32 @range(..0.1)> = [0.1, {HELD}]",
    ],
)
def test_a_default_that_is_its_bound_once_both_are_f32_is_taken(tmp_path: Path, field: str) -> None:
    outcome = outcome_of(
        tmp_path, main=f"module m; type Share = f32 @range(..0.1); struct S {{ x: {field}; }}"
    )
    assert [each.message for each in outcome.diagnostics] == []


@pytest.mark.parametrize("field", [f"f64 @range(..0.1) = {HELD}", "f32 @range(..0.1) = 0.10000001"])
def test_a_default_beyond_its_bound_is_refused(tmp_path: Path, field: str) -> None:
    outcome = outcome_of(tmp_path, main=f"module m; struct S {{ x: {field}; }}")
    assert [each.code for each in outcome.diagnostics] == ["E0509"]


def test_cpp_compares_floats_with_floats(tmp_path: Path) -> None:
    schema = tmp_path / "m.mfidl"
    schema.write_text("module m; struct S { x: f32 @range(0.0..0.1) = 0.1; }")
    assert compile_files([str(schema)], [], Targets(cpp=str(tmp_path), python=None)).exit is Exit.OK
    made = "".join(path.read_text() for path in sorted(tmp_path.glob("m.*pp")))
    assert "float x = 0.1F;" in made
    assert 'in_range<float>(value.x, 0.0F, 0.1F, "0.0", "0.1")' in made
