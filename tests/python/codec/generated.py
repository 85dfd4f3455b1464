"""Compiles a schema to Python and imports it, once a process; and values of its structs from and to JSON.

Values go by the generated shapes, so that nothing here depends on a schema.
"""

import atexit
import importlib
import shutil
import sys
import tempfile
import uuid
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from mf.codec import shape as s
from mf.codec.codec import Codec
from mf.codec.times import Duration, Timestamp
from mf.core.service import Method
from mfidl.compiler import Exit, Targets, compile_files

VECTORS = Path(__file__).parents[2] / "vectors"
SCHEMAS = VECTORS / "schemas"


@cache
def _out() -> Path:
    """One folder for all schemas: they share the package `vectors`."""
    out = Path(tempfile.mkdtemp(prefix="mf-generated-"))
    atexit.register(shutil.rmtree, out, ignore_errors=True)
    sys.path.insert(0, str(out))
    return out


@cache
def codecs(schema: str) -> ModuleType:
    """The `_codec` module of a schema under tests/vectors/schemas."""
    out = _out()
    path = SCHEMAS / schema
    outcome = compile_files([str(path)], [str(SCHEMAS)], Targets(python=str(out)))
    assert outcome.exit is Exit.OK, outcome.diagnostics
    assert outcome.program is not None
    importlib.invalidate_caches()
    return importlib.import_module(f"{outcome.program.requested[0].name}._codec")


@cache
def codecs_of(schema: str) -> tuple[Codec[Any, Any], ...]:
    """Of all types of a schema, and then of the parameters and results of its methods."""
    declared = codecs(schema)
    found = [each for each in vars(declared).values() if isinstance(each, Codec)]
    try:
        methods = importlib.import_module(f"{declared.__package__}._methods")
    except ModuleNotFoundError:
        return tuple(found)
    for each in vars(methods).values():
        if isinstance(each, Method):
            found += [_codec_behind(each.decode_requests), _codec_behind(each.decode_results)]
    return tuple(found)


def _codec_behind(function: Any) -> Codec[Any, Any]:
    codec = function.__self__
    assert isinstance(codec, Codec)
    return codec


def codec_of(schema: str, full_name: str) -> Codec[Any, Any]:
    """The codec of a struct, error, union, or `...method.params` and `...method.results`."""
    return next(each for each in codecs_of(schema) if each.shape.name == full_name)


class Given:
    """What a method's parameters are written from: an object with their names."""

    def __init__(self, **parts: Any) -> None:
        self.__dict__.update(parts)


def writable(codec: Codec[Any, Any], value: Any) -> Any:
    """A value as `encode` takes it: parameters are read as a tuple, and written from an object."""
    if isinstance(codec.shape, s.Struct) and codec.shape.make is s.parts_made:
        return Given(**{each.attribute: part for each, part in zip(codec.shape.fields, value, strict=True)})
    return value


def _same(value: Any) -> Any:
    return value


_FROM_JSON: dict[str, Callable[[Any], Any]] = {
    "bytes": bytes.fromhex,
    "uuid": uuid.UUID,
    "timestamp": Timestamp,
    "duration": Duration,
    "f32": float,
    "f64": float,
}


def from_json(shape: s.Shape, value: Any) -> Any:
    match shape:
        case s.Scalar():
            return _FROM_JSON.get(shape.name, _same)(value)
        case s.Enum():
            return shape.type(value)
        case s.Checked():
            return from_json(shape.shape, value)
        case s.Optional():
            return None if value is None else from_json(shape.element, value)
        case s.List() | s.Array():
            return [from_json(shape.element, each) for each in value]
        case s.Set():
            return {from_json(shape.element, each) for each in value}
        case s.Map():
            return {from_json(shape.key, key): from_json(shape.value, each) for key, each in value}
        case s.Struct():
            return shape.make(*(from_json(each.shape, value[each.name]) for each in shape.fields))
        case s.Union():
            ((name, inner),) = value.items()
            chosen = next(each for each in shape.alternatives if each.name == name)
            return chosen.type(from_json(chosen.shape, inner))


def to_json(shape: s.Shape, value: Any) -> Any:
    """The inverse of from_json, as the vectors have it."""
    match shape:
        case s.Scalar(name="bytes"):
            return value.hex()
        case s.Scalar(name="uuid"):
            return value.bytes.hex()
        case s.Scalar(name="string" | "bool" | "f32" | "f64"):
            return value
        case s.Scalar() | s.Enum():
            return int(value)
        case s.Checked():
            return to_json(shape.shape, value)
        case s.Optional():
            return None if value is None else to_json(shape.element, value)
        case s.List() | s.Array():
            return [to_json(shape.element, each) for each in value]
        case s.Set():
            return [to_json(shape.element, each) for each in sorted(value)]
        case s.Map():
            return [[to_json(shape.key, key), to_json(shape.value, value[key])] for key in sorted(value)]
        case s.Struct():
            parts = parts_of(shape, value)
            return {
                each.name: to_json(each.shape, part) for each, part in zip(shape.fields, parts, strict=True)
            }
        case s.Union():
            chosen = next(each for each in shape.alternatives if each.type is type(value))
            return {chosen.name: to_json(chosen.shape, value.value)}


def parts_of(shape: s.Struct, value: Any) -> list[Any]:
    if shape.make is s.parts_made:
        return list(value)
    if shape.parts is not None:
        return list(shape.parts(value))
    return [getattr(value, each.attribute) for each in shape.fields]
