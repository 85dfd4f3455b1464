"""Records of generated code: services, methods, and the values of streams."""

import pytest

from mf.core.record import Record
from mf.core.service import ServiceInfo


class Point(Record):
    x: int
    y: int = 2


def test_fields_are_given_by_name_or_have_the_value_of_the_class() -> None:
    assert (Point(x=1).x, Point(x=1).y, Point(x=1, y=3).y) == (1, 2, 3)


def test_wrong_and_missing_names_are_refused() -> None:
    with pytest.raises(TypeError, match="Point has no field 'z'"):
        Point(x=1, z=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="Point needs the field 'x'"):
        Point(y=1)  # type: ignore[call-arg]


def test_records_are_equal_only_to_themselves() -> None:
    made = [ServiceInfo(name="a.B", agent=None, descriptor="", fingerprint=b"", methods=()) for _ in "12"]

    assert made[0] != made[1]
    assert len({*made, made[0]}) == 2
