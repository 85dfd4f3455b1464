"""Uses a tree of generated Python: `python use_generated.py OUT` prints how many codecs and methods it tried.

Imports everything that is public, and sends a value of every type and an empty batch of every method through
its codec. Names that hide another show as a wrong value, a wrong type, or a NameError.
"""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mf.codec import shape as s
from mf.codec.codec import Codec
from mf.core.service import ServiceInfo

SCALARS: dict[str, Any] = {"string": "text", "bytes": b"bytes", "bool": True, "f32": 0.5, "f64": 0.5}
CANDIDATES: list[Any] = [0, 1, 2, 10, 100, 0.0, 1.0, "a", "abc", "", b"", b"a", [], ["a"], [1]]


def value_of(shape: s.Shape) -> Any:
    """One that its constraints allow."""
    match shape:
        case s.Custom() | s.Ref():
            return archived(shape)
        case s.Union():
            first = shape.alternatives[0]
            return first.type(value_of(first.shape))
        case s.Struct():
            return shape.make(*(value_of(each.shape) for each in shape.fields))
        case s.Checked():
            return _allowed(shape)
        case s.Enum():
            return shape.type(1) if shape.members is None else next(iter(shape.members.values()))
        case s.Scalar(name="uuid"):
            return importlib.import_module("uuid").UUID(int=1)
        case s.Scalar():
            return SCALARS.get(shape.name, 1)
        case s.Array():
            return [value_of(shape.element) for _ in range(shape.length)]
        case s.List():
            return [] if isinstance(shape.element, s.Union | s.Struct) else [value_of(shape.element)]
        case s.Set():
            return {value_of(shape.element)}
        case s.Map() | s.Optional():
            return {} if isinstance(shape, s.Map) else None


OBJECTS: dict[str, Any] = {}


def archived(shape: s.Custom | s.Ref) -> Any:
    if isinstance(shape, s.Ref):
        return object_of(shape.element)
    return importlib.import_module("mf.codec.custom").custom_value(shape.module, shape.codec)


def object_of(shape: s.Shape) -> Any:
    """One of a graph, always the same of a type, so that cycles end."""
    assert isinstance(shape, s.Struct | s.Union)
    if shape.name not in OBJECTS:
        if isinstance(shape, s.Union):
            first = shape.alternatives[0]
            made = OBJECTS[shape.name] = object.__new__(first.type)  # type: ignore[arg-type]
            made.value = value_of(first.shape)
        else:
            made = OBJECTS[shape.name] = shape.make()
            for each in shape.fields:
                setattr(made, each.attribute, value_of(each.shape))
    return OBJECTS[shape.name]


def _allowed(shape: s.Checked) -> Any:
    usual = value_of(shape.shape)
    tried = [usual, *(each for each in CANDIDATES if type(each) is type(usual))]
    holding = [each for each in tried if all(rule.violation(each) is None for rule in shape.rules)]
    if not holding:
        raise LookupError(shape.rules)
    return holding[0]


def use(package: str) -> Iterator[None]:
    """One step a codec and a method."""
    whole = importlib.import_module(package)
    exec(f"from {package} import *", {})
    assert len(whole.__all__) == len(set(whole.__all__))
    assert all(getattr(whole, name) is not None for name in whole.__all__)
    for codec in vars(importlib.import_module(f"{package}._codec")).values():
        if isinstance(codec, Codec):
            try:
                value = value_of(codec.shape)
            except LookupError:
                continue  # its constraints are narrower than what is tried
            assert codec.decode(codec.encode(value)) == value, value
            assert repr(value)
            yield
    for service in list(vars(whole).values()):
        if isinstance(service, ServiceInfo):
            servants = [each for each in vars(whole).values() if getattr(each, "mf_service", None) is service]
            for method in service.methods:
                assert method.encode_requests([]) == b""
                assert list(method.decode_results(b"", 0)) == []
                has_items = method.param_element is None and method.result_element is None
                for name in (method.attribute, method.batch_attribute)[: 1 + has_items]:
                    assert len(servants) == 2
                    assert all(callable(getattr(each, name)) for each in servants)
                for element in (method.param_element, method.result_element):
                    assert element is None or element.decode_all(b"", 0) == []
                yield


def main() -> None:
    out = Path(sys.argv[1])
    packages = [each.parent.relative_to(out).as_posix().replace("/", ".") for each in out.rglob("_types.py")]
    print(sum(1 for package in sorted(packages) for _ in use(package)))


if __name__ == "__main__":
    main()
