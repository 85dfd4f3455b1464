"""Generated classes behave like dataclasses, though nothing is made before it is used."""

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mf.core.dataclass import dataclass, field
from mf.core.error import DeclaredError

ROOT = Path(__file__).parents[3]


@dataclass(slots=True)
class Point:
    """Somewhere."""

    x: int
    y: int = 2
    names: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class Nothing:
    pass


@dataclass(slots=True)
class Missing(DeclaredError):  # noqa: N818 - as a schema names it
    name: str
    at: Point = field(default_factory=lambda: Point(7))

    __hash__ = DeclaredError.__hash__


@dataclass(slots=True)
class Early(DeclaredError):  # noqa: N818 - as a schema names it
    """A default before a field without one: that must be named, and so must later ones."""

    code: int = 3
    what: str = field(kw_only=True)
    at: Point = field(default_factory=lambda: Point(7), kw_only=True)
    note: str | None = field(default=None, kw_only=True)

    __hash__ = DeclaredError.__hash__


def test_a_default_in_front_of_a_field_without_one_stays() -> None:
    early = Early(what="x")
    assert (early.code, early.what, early.at, early.note) == (3, "x", Point(7), None)
    assert early.at is not Early(what="x").at
    assert Early(4, what="x") != early
    with pytest.raises(TypeError, match="keyword-only argument: 'what'"):
        Early()  # type: ignore[call-arg]
    assert pickle.loads(pickle.dumps(early)) == early
    assert dataclasses.replace(early, code=5) == Early(5, what="x")
    assert [each.name for each in dataclasses.fields(Early) if each.kw_only] == ["what", "at", "note"]
    assert str(inspect.signature(Early)).startswith("(code: int = 3, *, what: str, at: ")


def test_it_is_built_by_place_and_by_name() -> None:
    assert Point(1) == Point(x=1, y=2, names=[])
    assert Point(1, 3).y == 3
    untyped: Any = Point
    for arguments, named in (((), {}), ((1,), {"z": 2}), ((1, 2, [], 4), {})):
        with pytest.raises(TypeError, match=r"Point\.__init__\(\)"):
            untyped(*arguments, **named)


def test_no_instance_shares_a_default() -> None:
    first, second = Point(1), Point(1)
    first.names.append("a")
    assert second.names == []


def test_it_has_slots_and_can_be_changed() -> None:
    point = Point(1)
    point.x = 5
    assert point.x == 5
    assert not hasattr(point, "__dict__")
    with pytest.raises(AttributeError):
        point.z = 1  # type: ignore[attr-defined]


def test_it_shows_and_compares_its_fields() -> None:
    assert repr(Point(1)) == "Point(x=1, y=2, names=[])"
    assert repr(Nothing()) == "Nothing()"
    assert Nothing() == Nothing()
    nothing: object = Nothing()
    assert Point(1) != nothing
    with pytest.raises(TypeError, match="unhashable"):
        hash(Point(1))


def test_dataclasses_takes_it_for_its_own() -> None:
    assert dataclasses.is_dataclass(Point)
    assert [each.name for each in dataclasses.fields(Point)] == ["x", "y", "names"]
    assert dataclasses.replace(Point(1), x=9) == Point(9)
    assert dataclasses.asdict(Missing("n")) == {"name": "n", "at": {"x": 7, "y": 2, "names": []}}
    assert [each.type for each in dataclasses.fields(Point(1))] == [int, int, list[str]]


def test_it_can_be_matched_copied_and_pickled() -> None:
    match Point(1, 3):
        case Point(x, y):
            assert (x, y) == (1, 3)
    for each in (Point(1, 3, ["a"]), Missing("n"), Missing(name="n")):
        assert copy.deepcopy(each) == pickle.loads(pickle.dumps(each)) == each


def test_it_can_be_derived_from() -> None:
    class Named(Point):
        def __init__(self, x: int, name: str) -> None:
            super().__init__(x)
            self.name = name

    @dataclasses.dataclass
    class Wide(Point):
        width: int = 3

    assert repr(Named(4, "n")).endswith("Named(x=4, y=2, names=[])")
    assert Named(4, "n") == Named(4, "m")
    assert Named(4, "n") != Point(4)
    assert Wide(1, width=8) == Wide(1, 2, [], 8)
    assert [each.name for each in dataclasses.fields(Wide)] == ["x", "y", "names", "width"]


def test_tools_see_its_signature_and_doc() -> None:
    assert list(inspect.signature(Point).parameters) == ["x", "y", "names"]
    assert inspect.signature(Point).parameters["y"].default == 2
    assert inspect.getdoc(Point) == "Somewhere."
    assert Point.__qualname__ == "Point"
    assert Point.__module__ == __name__


def test_an_error_says_its_fields() -> None:
    with pytest.raises(Missing, match="name='n', at=Point") as caught:
        raise Missing(name="n")
    assert repr(caught.value) == "Missing(name='n', at=Point(x=7, y=2, names=[]))"
    assert len({caught.value, Missing("n")}) == 2


@pytest.mark.parametrize("name", ["_missing", "default", "cls", "names", "__mf_default_0___"])
def test_no_field_hides_what_the_constructor_uses(name: str) -> None:
    made: Any = dataclass(slots=True)(
        type(
            "Odd",
            (),
            {"__annotations__": {"a": "int", name: "list"}, "a": 1, name: field(default_factory=list)},
        )
    )
    assert getattr(made(), name) == []
    assert getattr(made(2, [3]), name) == [3]


def test_dataclasses_itself_is_not_imported_for_generated_code() -> None:
    program = (
        "import sys; from mf.core.dataclass import dataclass\n"
        "@dataclass(slots=True)\nclass A:\n    x: int = 1\n"
        "assert repr(A(x=2)) == 'A(x=2)' and A() == A(1)\n"
        "sys.exit('dataclasses' in sys.modules or 'inspect' in sys.modules)"
    )
    ran = subprocess.run(
        [sys.executable, "-S", "-c", program], env={"PYTHONPATH": str(ROOT / "runtime/python")}, timeout=60
    )
    assert ran.returncode == 0


def test_copy_replace_works_as_python_3_13_calls_it() -> None:
    point: Any = Point(1, 2, ["a"])

    assert type(point).__replace__(point, y=5) == Point(1, 5, ["a"])
    with pytest.raises(TypeError):
        type(point).__replace__(point, z=5)
