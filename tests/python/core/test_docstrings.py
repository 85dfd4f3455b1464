"""Public names have docstrings, which name what is given to them; their type hints can be read."""

import datetime
import inspect
import re
import types
import typing
import uuid
from collections.abc import Iterator
from enum import Enum
from typing import Any

import numpy
import pytest

import mf

_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def named(kind: type) -> Iterator[tuple[str, Any]]:
    """What `kind` or a base of it within the runtime defines, and programs may use."""
    for name in dir(kind):
        owner = next((each for each in kind.__mro__ if name in vars(each)), object)
        if not name.startswith("_") and owner.__module__.startswith("mf."):
            yield name, inspect.getattr_static(kind, name)


def missing(name: str, callable_: Any, also: str = "") -> Iterator[str]:
    """What the docstring of a function or class does not say; `also`: another text that may say it."""
    said = inspect.getdoc(callable_) or ""
    if not said:
        yield f"{name} has no docstring"
        return
    for each in inspect.signature(callable_).parameters.values():
        is_given = each.kind not in _VARIABLE and each.name != "self"
        if is_given and not re.search(rf"\b{each.name}\b", said + also):
            yield f"{name} does not say what {each.name} is"


def is_record(kind: type) -> bool:
    """Whether its arguments are its fields, each with words of its own; those of options have another
    test."""
    return issubclass(kind, (Enum, BaseException)) or "__dataclass_fields__" in vars(kind)


def findings(name: str, value: Any) -> Iterator[str]:
    if not isinstance(value, type):
        yield from missing(name, value)
        return
    said = vars(value).get("__doc__") or ""
    if not said and "._generated." not in value.__module__:
        yield f"{name} has no docstring"
    elif "__init__" in vars(value) and not is_record(value):
        yield from missing(name, value)
    for inner, each in named(value):
        if isinstance(each, property) and not inspect.getdoc(each):
            yield f"{name}.{inner} has no docstring"
        elif isinstance(each, types.FunctionType | classmethod | staticmethod):
            yield from missing(f"{name}.{inner}", getattr(value, inner), said)


PUBLIC = {
    name: value
    for name in mf.__all__
    if callable(value := getattr(mf, name)) and getattr(value, "__module__", "").startswith("mf.")
}


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_says_what_it_takes(name: str) -> None:
    assert list(findings(name, PUBLIC[name])) == []


LATER = {
    "AsyncLead": mf.AsyncLead,
    "AsyncControllerRegistrar": Any,
    "Background": Any,
    "ControllerRegistrar": Any,
    "Exposition": Any,
    "Identity": mf.Identity,
    "Interceptor": mf.Interceptor,
    "UUID": uuid.UUID,
    "datetime": datetime.datetime,
    "np": numpy,
    "timedelta": datetime.timedelta,
}
"""What the runtime imports when it is needed, so that programs that do not use it start sooner."""


@pytest.mark.parametrize("name", PUBLIC)
def test_the_hints_of_a_public_name_can_be_read(name: str) -> None:
    value = PUBLIC[name]
    typing.get_type_hints(value, localns=LATER)
    for each in vars(value).values() if isinstance(value, type) else ():
        function = inspect.unwrap(getattr(each, "__func__", getattr(each, "fget", None) or each))
        if isinstance(function, types.FunctionType):
            typing.get_type_hints(function, localns=LATER)
