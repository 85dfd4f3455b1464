"""Python's libraries, each as a way from a work's value to bytes and back.

A library is a function from the value to its `Case`, or to None if it cannot carry it. The form in which a
library's own users hold the value (a dict, a class of its own, a message) is created before anything is
measured.
"""

from __future__ import annotations

import array
import dataclasses
import io
import pickle
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import archived_pb2
import fastavro
import msgspec
import numpy as np
import orjson
import payload
from payload import archived

import mf
from mf.codec import shape as s
from mf.codec.coding import coding_of
from mf.codec.limits import DEFAULT_LIMITS
from mf.codec.lookup import codec_of, shape_of
from mf.codec.reader import Reader
from mf.codec.writer import Writer


@dataclass(frozen=True, slots=True)
class Case:
    write: Callable[[], bytes] | None  # None: it only reads `data`
    read: Callable[[bytes], Any]
    wanted: Any  # what read(write()) must be equal to
    data: bytes = b""


Library = Callable[[Any], Case | None]


# --- ours


def febird(value: Any) -> Case:
    kind = type(value)
    return Case(lambda: mf.to_bytes(value), lambda data: mf.from_bytes(kind, data), value)


def archive(value: Any) -> Case:
    return febird(_renamed(value, archived))


def febird_pure(value: Any) -> Case:
    """What the runtime does where the native codec is not installed."""
    coding = coding_of(codec_of(type(value)).shape)

    def write() -> bytes:
        w = Writer()
        coding.write_alone(w, value)
        return bytes(w.out)

    return Case(write, lambda data: coding.read_alone(Reader(data, DEFAULT_LIMITS.decoded)), value)


def archive_pure(value: Any) -> Case:
    return febird_pure(_renamed(value, archived))


def _renamed(value: Any, module: Any) -> Any:
    """Converts the value to the types of another module."""
    if dataclasses.is_dataclass(value):
        kind = getattr(module, type(value).__name__)
        return kind(
            **{each.name: _renamed(getattr(value, each.name), module) for each in dataclasses.fields(value)}
        )
    if isinstance(value, payload.Mode):
        return module.Mode(value)
    if isinstance(value, list):
        return [_renamed(each, module) for each in value]
    return value


# --- those that take any object


def pickled(value: Any) -> Case:
    return Case(lambda: pickle.dumps(value, 5), pickle.loads, value)


def json(value: Any) -> Case:
    """orjson writes and reads dicts, not the types."""
    options, made = orjson.OPT_NON_STR_KEYS, dataclasses.asdict(value)
    return Case(
        lambda: orjson.dumps(made, option=options),
        orjson.loads,
        orjson.loads(orjson.dumps(made, option=options)),
    )


# --- those with types of their own

_structs: dict[type, Any] = {}


def _struct_of(kind: type) -> Any:
    """Creates a msgspec.Struct like the dataclass."""
    if kind not in _structs:
        hints = typing.get_type_hints(kind)
        _structs[kind] = msgspec.defstruct(
            kind.__name__, [(name, _struct_hint(hint)) for name, hint in hints.items()], array_like=True
        )
    return _structs[kind]


def _struct_hint(hint: Any) -> Any:
    inner = typing.get_args(hint)
    if dataclasses.is_dataclass(hint):
        return _struct_of(typing.cast(type, hint))
    if typing.get_origin(hint) in (list, dict):
        return typing.get_origin(hint)[tuple(map(_struct_hint, inner))]
    return hint


def _as_struct(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        fields = [_as_struct(getattr(value, each.name)) for each in dataclasses.fields(value)]
        return _struct_of(type(value))(*fields)
    return [_as_struct(each) for each in value] if isinstance(value, list) else value


def messagepack(value: Any) -> Case:
    """msgspec, MessagePack, structs as arrays: its fastest mode."""
    made = _as_struct(value)
    encoder, decoder = msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(type(made))
    return Case(lambda: encoder.encode(made), decoder.decode, made)


def protobuf(value: Any) -> Case:
    message = getattr(archived_pb2, type(value).__name__)()
    _fill(message, value)
    return Case(message.SerializeToString, type(message).FromString, message)


def _fill(message: Any, value: Any) -> None:
    message.SetInParent()
    for each in dataclasses.fields(value):
        held = getattr(value, each.name)
        if dataclasses.is_dataclass(held):
            _fill(getattr(message, each.name), held)
        elif isinstance(held, list) and held and dataclasses.is_dataclass(held[0]):
            for element in held:
                _fill(getattr(message, each.name).add(), element)
        elif isinstance(held, list):
            getattr(message, each.name).extend(held)
        elif isinstance(held, dict):
            getattr(message, each.name).update(held)
        elif held is not None:
            setattr(message, each.name, held)


_AVRO = {
    "bool": "boolean", "i8": "int", "i16": "int", "i32": "int", "u8": "int", "u16": "int", "u32": "long",
    "i64": "long", "f32": "float", "f64": "double", "string": "string",
}  # fmt: skip


def _avro_schema(shape: s.Shape, known: set[str]) -> Any:
    if isinstance(shape, s.Struct):
        if shape.name in known:
            return shape.name
        known.add(shape.name)
        fields = [{"name": each.name, "type": _avro_schema(each.shape, known)} for each in shape.fields]
        return {"type": "record", "name": shape.name, "fields": fields}
    if isinstance(shape, s.List | s.Array):
        return {"type": "array", "items": _avro_schema(shape.element, known)}
    if isinstance(shape, s.Map):
        if shape.key is s.STRING:
            return {"type": "map", "values": _avro_schema(shape.value, known)}
        name = f"Entry{len(known)}"
        known.add(name)
        kinds = {"key": shape.key, "value": shape.value}
        fields = [{"name": key, "type": _avro_schema(kind, known)} for key, kind in kinds.items()]
        return {"type": "array", "items": {"type": "record", "name": name, "fields": fields}}
    if isinstance(shape, s.Optional):
        return ["null", _avro_schema(shape.element, known)]
    return "int" if isinstance(shape, s.Enum) else _AVRO[shape.name]  # type: ignore[union-attr]


def _avro_value(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return {each.name: _avro_value(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if isinstance(value, list):
        return [_avro_value(each) for each in value]
    if isinstance(value, dict) and not all(isinstance(key, str) for key in value):
        return [{"key": key, "value": _avro_value(each)} for key, each in value.items()]
    return value


def avro(value: Any) -> Case:
    """fastavro: dicts, and lists of entries for maps whose keys are numbers, which Avro does not have."""
    schema = fastavro.parse_schema(_avro_schema(shape_of(type(value)), set()))
    made = _avro_value(value)

    def write() -> bytes:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, schema, made)
        return out.getvalue()

    return Case(write, lambda data: fastavro.schemaless_reader(io.BytesIO(data), schema, None), made)


# --- numbers in a row

_ROWS = {payload.IntList: ("i", np.int32), payload.DoubleList: ("d", np.float64)}


def as_array(value: Any) -> Case | None:
    """From a list and to a list."""
    if type(value) not in _ROWS:
        return None
    code = _ROWS[type(value)][0]
    values = value.values

    def read(data: bytes) -> Any:
        row = array.array(code)
        row.frombytes(data)
        return row.tolist()

    return Case(lambda: array.array(code, values).tobytes(), read, values)


def as_numpy(value: Any) -> Case | None:
    """From an array and to one that refers to the bytes."""
    if type(value) not in _ROWS:
        return None
    kind = _ROWS[type(value)][1]
    row = np.array(value.values, dtype=kind)
    return Case(row.tobytes, lambda data: np.frombuffer(data, dtype=kind), _Row(row))


class _Row:
    """Equal if all elements are."""

    def __init__(self, row: Any) -> None:
        self._row = row

    def __eq__(self, other: object) -> bool:
        return bool(np.array_equal(self._row, other))  # type: ignore[arg-type]

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]


def febird_of_numpy(value: Any) -> Case | None:
    """The same codec, given an array instead of the list."""
    if type(value) not in _ROWS:
        return None
    made = type(value)(np.array(value.values, dtype=_ROWS[type(value)][1]))
    return Case(lambda: mf.to_bytes(made), lambda data: mf.from_bytes(type(value), data), value)


def view(value: Any) -> Case | None:
    """Tier memcpy, read in place."""
    if type(value) not in _ROWS:
        return None
    code = _ROWS[type(value)][0]
    row = array.array(code, value.values)
    kind = s.I32 if code == "i" else s.F64
    return Case(None, lambda data: mf.view(kind, data), row, row.tobytes())


def raw(value: Any) -> Case:
    """One copy: of the row of numbers, or of the bytes that febird writes."""
    if type(value) in _ROWS:
        data = array.array(_ROWS[type(value)][0], value.values).tobytes()
    else:
        data = mf.to_bytes(value)
    held = bytearray(data)
    return Case(lambda: bytes(held), lambda _data: bytes(held), data)


LIBRARIES: dict[str, Library] = {
    "raw": raw,
    "mf/febird": febird,
    "mf/febird/numpy": febird_of_numpy,
    "mf/memcpy/view": view,
    "mf/archive": archive,
    "mf/febird/pure": febird_pure,
    "mf/archive/pure": archive_pure,
    "msgspec": messagepack,
    "pickle": pickled,
    "protobuf": protobuf,
    "fastavro": avro,
    "orjson": json,
    "array": as_array,
    "numpy": as_numpy,
}
