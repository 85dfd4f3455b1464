"""Constraints at every depth of a type: what a peer without them sends is refused."""

from dataclasses import dataclass, field
from typing import Any

import pytest

import mf
from mf.codec import shape as s
from mf.codec.lookup import codec_of
from mf.codec.rules import HasLength, InRange


@dataclass(slots=True)
class Box:
    held: Any
    __mf_unknown__: Any = field(default=None, compare=False)


def few(shape: s.Shape) -> s.Shape:
    return s.Checked(shape, (HasLength(0, 2),))


SMALL = s.Checked(s.U32, (InRange(0, 9),))
NESTED: dict[str, tuple[s.Shape, s.Shape, Any, str]] = {
    "a list": (few(s.List(s.U32)), s.List(s.U32), [1, 2, 3], "held"),
    "a list in a list": (s.List(few(s.List(s.U32))), s.List(s.List(s.U32)), [[1], [1, 2, 3]], "held[1]"),
    "texts in a list": (
        s.List(few(s.List(s.STRING))),
        s.List(s.List(s.STRING)),
        [["a", "b", "c"]],
        "held[0]",
    ),
    "a list in an array": (
        s.Array(few(s.List(s.U32)), 2),
        s.Array(s.List(s.U32), 2),
        [[], [1, 2, 3]],
        "held[1]",
    ),
    "a number in a list in a list": (
        s.List(s.List(SMALL)),
        s.List(s.List(s.U32)),
        [[1], [2, 10]],
        "held[1][1]",
    ),
    "a map in a list": (
        s.List(few(s.Map(s.U32, s.U32))),
        s.List(s.Map(s.U32, s.U32)),
        [{1: 1, 2: 2, 3: 3}],
        "held[0]",
    ),
    "a list in a map": (
        s.Map(s.U32, few(s.List(s.U32))),
        s.Map(s.U32, s.List(s.U32)),
        {7: [1, 2, 3]},
        "held[0]",
    ),
    "an optional list in a list": (
        s.List(s.Optional(few(s.List(s.U32)))),
        s.List(s.Optional(s.List(s.U32))),
        [None, [1, 2, 3]],
        "held[1]",
    ),
    "a list in a list in a list": (
        s.List(s.List(few(s.List(s.U32)))),
        s.List(s.List(s.List(s.U32))),
        [[[]], [[1], [1, 2, 3]]],
        "held[1][1]",
    ),
}


def box(shape: s.Shape, *, archive: bool) -> s.Struct:
    return s.Struct("demo.Box", Box, lambda: (s.Field("held", shape, number=1),), archive=archive)


@pytest.mark.parametrize("archive", [True, False])
@pytest.mark.parametrize("name", NESTED)
def test_a_constraint_is_asked_at_every_depth(name: str, archive: bool) -> None:
    checked, loose, wrong, where = NESTED[name]
    sent = bytes(codec_of(box(loose, archive=archive)).encode(Box(wrong)))

    with pytest.raises(mf.InvalidArgument, match=r"not in 0\.\.") as refused:
        codec_of(box(checked, archive=archive)).decode(sent)
    assert f"Box.{where}," in str(refused.value) or f"Box.{where}:" in str(refused.value)
    with pytest.raises(mf.InvalidArgument):
        codec_of(box(checked, archive=archive)).encode(Box(wrong))
