"""Two descriptors of a topic in words."""

import pytest

from mf.protocol.descriptor_diff import difference

HERE = """topic a.Points
 per shelf a.Shelf
 value a.Point
type a.Point struct memcpy
 x f64
 y f64
type a.Shelf enum u8 closed
 low 1
"""


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("x f64", "x f32", "Points: field Point.x: f64 here, f32 there"),
        ("per shelf a.Shelf", "per shelf string", "Points: per shelf Shelf here, per shelf string there"),
        (" per shelf a.Shelf\n", "", "Points: per shelf Shelf here, per nothing there"),
        ("value a.Point", "value a.Other", "Points: value Point here, Other there"),
        ("memcpy", "febird", "Points: type Point: struct memcpy here, struct febird there"),
    ],
)
def test_what_differs_is_named(old: str, new: str, words: str) -> None:
    assert difference(HERE, HERE.replace(old, new)) == words
