"""What generated Python says of values: it must be Python, whatever the schema says."""

import importlib
import sys
from pathlib import Path

import pytest

import mf
from mfidl.compiler import Exit, Targets, compile_files


@pytest.fixture
def bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    (tmp_path / "bounds_of_floats.mfidl").write_text(
        "module bounds_of_floats; struct Depth { below: f64 @range(-inf..0); above: f32 @range(0..inf); }"
        "struct Near { third: f32 @range(..0.1); }"
    )
    outcome = compile_files([str(tmp_path / "bounds_of_floats.mfidl")], [], Targets(python=str(tmp_path)))
    assert outcome.exit is Exit.OK, outcome.diagnostics
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("bounds_of_floats")
    for name in [each for each in sys.modules if each.startswith("bounds_of_floats")]:
        del sys.modules[name]


def test_an_infinite_bound_of_a_range_is_one(bounds: object) -> None:
    depth = bounds.Depth(-1.0, float("inf"))  # type: ignore[attr-defined]

    assert mf.from_bytes(type(depth), mf.to_bytes(depth)) == depth
    with pytest.raises(mf.Error, match=r"below.*0\.0"):
        mf.to_bytes(bounds.Depth(1.0, 0.0))  # type: ignore[attr-defined]


def test_a_bound_of_an_f32_is_one_itself(bounds: object) -> None:
    """0.1 as an f32 is more than 0.1, and within ..0.1 all the same."""
    near = mf.from_json(bounds.Near, '{"third":0.1}')  # type: ignore[attr-defined]

    assert near.third > 0.1
    assert mf.to_json(mf.from_bytes(type(near), mf.to_bytes(near))) == '{"third":0.1}'
    with pytest.raises(mf.Error):
        mf.to_bytes(mf.from_json(type(near), '{"third":0.10000001}'))
