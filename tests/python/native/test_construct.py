"""Classes that C++ calls: the same objects, defaults and errors as by the generated `__init__`."""

import copy
import gc
import importlib
import inspect
import pickle
import sys
import weakref
from typing import Any

import pytest

from mf.codec.construct import construct
from mf.core.archive_struct import ArchiveStruct
from mf.core.plain_struct import FRESH, PlainStruct
from tests.python.codec.generated import codecs_of
from tests.python.native.plans import module

codecs_of("shapes.mfidl")
shapes: Any = importlib.import_module("vectors.shapes")


def native_construct() -> Any:
    return module().construct


def made(base: type = PlainStruct) -> Any:
    """Two classes alike, of which C++ calls the second."""

    def declare() -> Any:
        class Point(base):  # type: ignore[misc]
            __slots__ = __match_args__ = ("x", "y", "tags", "name")
            x: int
            y: int
            tags: list[int]
            name: str

            def __init__(self, x: int, y: int = 7, tags: list[int] = FRESH, *, name: str = "n") -> None:
                self.x = x
                self.y = y
                self.tags = [] if tags is FRESH else tags
                self.name = name
                if base is ArchiveStruct:
                    self.__mf_unknown__ = b""

        return Point

    by_python, by_native = declare(), declare()
    construct(native_construct(), by_native)
    return by_python, by_native


def outcome(kind: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    try:
        value = kind(*arguments, **named)
    except TypeError as error:
        return str(error)
    unknown = getattr(value, "__mf_unknown__", None)
    return type(value) is kind, value.x, value.y, value.tags, value.name, unknown


@pytest.mark.parametrize("base", [PlainStruct, ArchiveStruct])
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((1, 2, [3]), {}),
        ((1, 2, [3]), {"name": "a"}),
        ((1,), {}),
        ((1,), {"tags": [4]}),
        ((1, 2, FRESH), {}),
        ((), {"x": 1, "y": 2, "tags": [], "name": "b"}),
        ((), {"name": "b", "tags": [], "x": 1}),
        ((), {}),
        ((), {"y": 1}),
        ((1,), {"x": 2}),
        ((1, 2, [3], "a"), {}),
        ((1,), {"z": 2}),
        ((1,), {"na" + "me" * len(sys.argv[:1]): "not interned"}),
    ],
)
def test_a_call_has_the_same_outcome(base: type, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
    by_python, by_native = made(base)
    assert outcome(by_native, arguments, named) == outcome(by_python, arguments, named)


def test_an_object_made_for_an_argument_is_a_new_one_each_time() -> None:
    _, point = made()
    assert point(1).tags is not point(1).tags


def test_arguments_are_neither_copied_nor_lost() -> None:
    _, point = made()
    tags = [object()]
    before = sys.getrefcount(tags)
    values = [point(1, 2, tags) for _ in range(1000)]
    assert all(each.tags is tags for each in values)
    assert sys.getrefcount(tags) == before + 1000
    del values
    gc.collect()
    assert sys.getrefcount(tags) == before


def test_an_object_in_a_circle_is_collected() -> None:
    _, point = made()
    value = point(1, 2, [])
    value.tags.append(value)
    gc.collect()
    del value
    assert gc.collect() > 0


def test_a_class_that_is_changed_later_is_called_by_python() -> None:
    _, point = made()
    assert point(1).y == 7

    def init(self: Any, x: int) -> None:
        self.x = -x

    point.__init__ = init
    assert point(1).x == -1
    assert not hasattr(point(1), "y")


def test_a_derived_class_runs_its_own_init() -> None:
    _, point = made()

    class Named(point):  # type: ignore[misc,valid-type]
        def __init__(self, x: int) -> None:
            super().__init__(x * 2, name="named")

    value = Named(4)
    assert (type(value), value.x, value.name) == (Named, 8, "named")


@pytest.mark.parametrize("value", ["self.x = x + 1", "self.x = check(x)", "self.x = x; self.y = x"])
def test_a_class_whose_init_does_more_is_left_to_python(value: str) -> None:
    scope: dict[str, Any] = {"PlainStruct": PlainStruct, "check": lambda given: given}
    exec(
        "class Odd(PlainStruct):\n    __slots__ = __match_args__ = ('x', 'y')\n"
        f"    def __init__(self, x, y):\n        self.y = y\n        {value}\n",
        scope,
    )
    construct(native_construct(), scope["Odd"])
    if "check" in value:
        scope["check"] = lambda given: -given
        assert scope["Odd"](1, 2).x == -1
    elif "+" in value:
        assert scope["Odd"](1, 2).x == 2
    else:
        assert scope["Odd"](1, 2).y == 1


def test_generated_classes_stay_what_they_are() -> None:
    posting = shapes.Posting
    signature, before = inspect.signature(posting), posting(1, 2, shapes.Rank.bm25)
    construct(native_construct(), posting)
    value = posting(1, tf=2, rank=shapes.Rank.bm25)
    assert value == before
    assert repr(value) == repr(before)
    assert inspect.signature(posting) == signature
    assert pickle.loads(pickle.dumps(value)) == value
    assert copy.deepcopy(value) == value
    with pytest.raises(TypeError, match=r"__init__\(\) got an unexpected keyword argument 'docs'"):
        posting(docs=1)


def test_a_class_that_was_made_for_the_schema_of_a_peer_goes_away_with_it() -> None:
    made_here = type(
        "Made",
        (PlainStruct,),
        {"__slots__": ("f0",), "__init__": lambda self, *values: None},  # noqa: ARG005
    )
    construct(native_construct(), made_here)
    kept = weakref.ref(made_here)
    del made_here
    gc.collect()
    assert kept() is None
