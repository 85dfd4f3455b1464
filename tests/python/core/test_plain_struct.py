"""Classes as the compiler writes them: what their base adds, and what Python's own tools make of them."""

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mf.core.error import DeclaredError
from mf.core.plain_struct import FRESH, PlainStruct, by_place

ROOT = Path(__file__).parents[3]


class Point(PlainStruct):
    """Somewhere."""

    __slots__ = __match_args__ = ("x", "y", "names")

    x: int
    y: int
    names: list[str]

    def __init__(self, x: int, y: int = 2, names: list[str] = FRESH) -> None:
        self.x = x
        self.y = y
        self.names = [] if names is FRESH else names


class Nothing(PlainStruct):
    __slots__ = __match_args__ = ()


class Early(DeclaredError):  # noqa: N818 - as a schema names it
    """A default before a field without one: that must be named, and so must later ones."""

    __slots__ = __match_args__ = ("code", "what", "at", "note")

    code: int
    what: str
    at: Point
    note: str | None

    def __init__(self, code: int = 3, *, what: str, at: Point = FRESH, note: str | None = None) -> None:
        self.code = code
        self.what = what
        self.at = Point(7) if at is FRESH else at
        self.note = note

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Early):
            return NotImplemented
        return self.code == other.code and self.what == other.what and self.at == other.at

    __hash__ = DeclaredError.__hash__


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
    early = Early(what="x")
    assert dataclasses.is_dataclass(type(early))
    assert [each.name for each in dataclasses.fields(Point)] == ["x", "y", "names"]
    assert dataclasses.replace(Point(1), x=9) == Point(9)
    assert dataclasses.replace(early, code=5) == Early(5, what="x")
    assert dataclasses.asdict(early)["at"] == {"x": 7, "y": 2, "names": []}
    assert [each.name for each in dataclasses.fields(Early) if each.kw_only] == ["what", "at", "note"]


def test_it_can_be_matched_copied_and_pickled() -> None:
    match Point(1, 3):
        case Point(x, y):
            assert (x, y) == (1, 3)
    for each in (Point(1, 3, ["a"]), Early(what="n"), Early(4, what="n", note="m")):
        assert copy.deepcopy(each) == pickle.loads(pickle.dumps(each)) == copy.copy(each) == each


class Tagged(Point):
    """As a program derives one."""

    tag: str = ""


def test_a_derived_class_is_copied_and_pickled_with_its_own_attributes() -> None:
    tagged = Tagged(1)
    tagged.tag = "t"
    for each in (copy.copy(tagged), copy.deepcopy(tagged), pickle.loads(pickle.dumps(tagged))):
        assert (type(each), each.x, each.tag) == (Tagged, 1, "t")


def sent_as(kind: Any, fields: tuple[str, ...]) -> bytes:
    """A pickle by a program whose class of that name has these fields, all with the value 1."""
    named = {"__slots__": fields, "__match_args__": fields, "__module__": __name__}
    other: Any = type(kind.__name__, (kind.__base__,), named)
    value = other()
    for each in fields:
        setattr(value, each, 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules[__name__], kind.__name__, other)
        return pickle.dumps(value)


@pytest.mark.parametrize(
    ("kind", "fields", "wrong"),
    [
        (Point, ("x", "y"), "Point has no field `names`"),
        (Point, ("x", "y", "names", "z"), "Point has a field `z`"),
        (Point, ("x", "z", "names"), "Point has no field `y`"),
        (Early, ("code", "what", "at"), "Early has no field `note`"),
    ],
)
def test_a_pickle_of_another_schema_is_refused(kind: type, fields: tuple[str, ...], wrong: str) -> None:
    with pytest.raises(TypeError, match=f"the pickled {wrong}, so it is of another schema"):
        pickle.loads(sent_as(kind, fields))


def test_copy_replace_works_as_python_3_13_calls_it() -> None:
    point, early = Point(1, 2, ["a"]), Early(what="x", note="n")
    assert point.__replace__(y=5) == Point(1, 5, ["a"])
    changed = early.__replace__(what="y")
    assert (changed.code, changed.what, changed.note) == (3, "y", "n")
    with pytest.raises(TypeError):
        point.__replace__(z=5)


def test_fields_that_must_be_named_can_be_given_in_their_order() -> None:
    made = by_place(Early)(4, "x", Point(1), "n")
    assert (made.code, made.what, made.at, made.note) == (4, "x", Point(1), "n")
    assert by_place(Point) is Point
    assert by_place(len) is len


def test_tools_see_its_signature() -> None:
    assert str(inspect.signature(Point)) == ("(x: int, y: int = 2, names: list[str] = <a new one>) -> None")


def test_an_error_says_its_fields() -> None:
    with pytest.raises(Early, match="code=3, what='n', at=Point") as caught:
        raise Early(what="n")
    assert len({caught.value, Early(what="n")}) == 2


def test_nothing_is_compiled_or_imported_for_generated_code() -> None:
    golden = ROOT / "tests/compiler/golden/python/required/out"
    program = """
import sys
import mf.core.generated, mf.codec.archived, mf.core.error
made = []
def hear(event, arguments):
    if event == "exec" and arguments[0].co_filename == "<string>":
        made.append(arguments[0])
sys.addaudithook(hear)
from required._types import Item, Order
item = Item("pen")
assert repr(item) == "Item(name='pen', count=1)" and item == Item("pen", 1)
assert Order(item="a", gift_for=None).__replace__(note="b").note == "b"
sys.exit(repr(made) if made else "dataclasses" in sys.modules or "inspect" in sys.modules)
"""
    path = f"{ROOT / 'runtime/python'}:{golden}"
    ran = subprocess.run(
        [sys.executable, "-S", "-c", program],
        env={"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr


def test_classes_of_older_generated_code_are_made_by_their_decorator() -> None:
    from mf.core.dataclass import dataclass, field

    untyped: Any = (dataclass, field)
    written = type(
        "Old",
        (),
        {"__annotations__": {"a": "int", "b": "list", "c": "str"}, "a": 1}
        | {"b": untyped[1](default_factory=list), "c": untyped[1](kw_only=True)},
    )
    old: Any = untyped[0](slots=True)(written)

    assert repr(old(c="x")) == "Old(a=1, b=[], c='x')"
    assert old(2, [3], "x") == old(a=2, b=[3], c="x")
    assert old(c="x").b is not old(c="x").b
    for placed, named in (
        ((), {}),
        ((1, [], "x", 4), {}),
        ((1,), {"a": 1, "c": "x"}),
        ((), {"z": 1, "c": "x"}),
    ):
        with pytest.raises(TypeError, match=r"Old\.__init__\(\)"):
            old(*placed, **named)
