"""Arrays of numpy by both codecs, of messages whose bytes were changed at random: the native one gives up, or
reads what the pure one does."""

import importlib
import random
from typing import Any

import pytest

import mf
from mf.codec import shape as s
from mf.codec.limits import DEFAULT_LIMITS
from mf.core.error import Error
from tests.fuzz.in_python.harness import changed
from tests.python.codec.generated import codecs_of
from tests.python.native.plans import plan_of

codecs_of("shapes.mfidl")
shapes: Any = importlib.import_module("vectors.shapes")
POSTING = shapes.Posting(1, 2, shapes.Rank.bm25)

CASES: tuple[tuple[Any, Any], ...] = (
    (s.List(s.F64), [1.5] * 40),
    (s.List(s.U32), [1] * 256 + [70_000] * 10),
    (s.List(s.I16), list(range(-40, 40))),
    (list[shapes.Posting], [POSTING] * 9),
    (s.Map(s.STRING, s.List(s.F32)), {"a": [0.5] * 3, "b": []}),
    (s.List(s.List(s.U8)), [[1, 2], [], [3] * 70]),
)


def shown(value: Any) -> Any:
    """Lists and arrays as their elements, so that NaN equals itself."""
    if isinstance(value, dict):
        return {key: shown(each) for key, each in value.items()}
    if isinstance(value, list):
        return [shown(each) for each in value]
    return type(value).__name__, value.dtype.str, repr(value.tolist())


@pytest.mark.parametrize("case", range(len(CASES)))
def test_both_codecs_read_the_same_arrays(case: int, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, value = CASES[case]
    codec: Any = mf.codec_of(kind).arrays()
    monkeypatch.setattr(codec.shape, "plan", False)  # so that the codec is the pure one
    plan = plan_of(codec.shape)
    good = bytes(codec.encode(value))
    source = random.Random(case)
    read = given_up = 0
    for data in (good, *(changed(good, source) for _ in range(1_500))):
        found = plan.decode_items(data, 0, 1, DEFAULT_LIMITS.decoded, True, True)
        if found is NotImplemented:
            given_up += 1
            assert data != good
            continue
        read += 1
        try:
            values = codec.decode_all(data, 1)
        except Error as refused:
            pytest.fail(f"{data.hex()}: only the pure codec refuses it: {refused}")
        assert shown(found[0]) == shown(values), data.hex()
    assert read > 1
    assert given_up > 100
