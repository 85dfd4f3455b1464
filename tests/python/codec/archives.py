"""Schemas of tier archive as Python codecs and as protobuf's own message classes, and values from one to the
other. Values go by the generated shapes; how they lie in messages is read from protobuf's descriptors.
"""

import atexit
import importlib
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from mf.codec import shape as s
from mf.codec.codec import Codec
from mf.codec.contents import bare
from mfidl.compiler import check
from mfidl.emit import proto, python
from mfidl.emit.output import EmitOptions


@cache
def _out() -> Path:
    out = Path(tempfile.mkdtemp(prefix="mf-archives-"))
    atexit.register(shutil.rmtree, out, ignore_errors=True)
    sys.path.insert(0, str(out))
    return out


class Archives:
    """One schema. `codec(name)` is ours, `message(name)` protobuf's class, None without protoc's files."""

    def __init__(self, text: str) -> None:
        self.module = text.split("module ", 1)[1].split(";", 1)[0]
        folder = _out() / f"schema_{self.module}"
        folder.mkdir(exist_ok=True)  # a module's fixture is made again where pytest-xdist comes back to it
        source = folder / f"{self.module}.mfidl"
        source.write_text(text)
        outcome = check([str(source)])
        assert outcome.program is not None, [each.message for each in outcome.diagnostics]
        for each in python.generate(outcome.program, EmitOptions()):
            target = _out() / each.path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(each.text)
        for each in proto.generate(outcome.program, EmitOptions()):
            (folder / each.path).write_text(each.text)
        importlib.invalidate_caches()
        self.package: Any = importlib.import_module(self.module)
        self._codecs: ModuleType = importlib.import_module(f"{self.module}._codec")
        self._folder = folder
        self._pool: descriptor_pool.DescriptorPool | None = None

    def codec(self, name: str) -> Codec[Any, Any]:
        full_name = f"{self.module}.{name}"
        return next(
            each
            for each in vars(self._codecs).values()
            if isinstance(each, Codec) and each.shape.name == full_name
        )

    def message(self, name: str) -> Any:
        if self._pool is None:
            described = self._folder / "described"
            command = ["protoc", f"-I{self._folder}", f"{self.module}.proto", f"-o{described}"]
            subprocess.run(command, check=True, timeout=60)
            files = descriptor_pb2.FileDescriptorSet.FromString(described.read_bytes())
            self._pool = descriptor_pool.DescriptorPool()
            for each in files.file:
                self._pool.Add(each)
        return message_factory.GetMessageClass(self._pool.FindMessageTypeByName(f"{self.module}.{name}"))


def inner_codec(shape: s.Shape) -> Codec[Any, Any]:
    assert isinstance(shape, s.Struct | s.Union | s.Custom)
    return Codec(shape)


# --- our values into protobuf's messages


def filled(message: Any, shape: s.Shape, value: Any) -> Any:
    """Of a struct or union of tier archive, which holds no references."""
    match shape:
        case s.Struct():
            message.SetInParent()
            for each in shape.fields:
                _put(message, each.name, each.shape, getattr(value, each.attribute))
        case s.Union():
            chosen = next(each for each in shape.alternatives if type(value) is each.type)
            _put_one(message, chosen.name, chosen.shape, value.value)
    return message


def _put(message: Any, name: str, shape: s.Shape, value: Any) -> None:
    match bare(shape):
        case s.Optional(element=element):
            if value is not None:
                _put_one(message, name, element, value)
        case s.List(element=element) | s.Array(element=element):
            for each in value:
                _add(getattr(message, name), element, each)
        case s.Set(element=element):
            for each in sorted(value):
                _add(getattr(message, name), element, each)
        case s.Map() as map_:
            _put_entries(message, name, map_, value)
        case plain:
            _put_one(message, name, plain, value)


def _put_entries(message: Any, name: str, shape: s.Map, value: dict[Any, Any]) -> None:
    entries = getattr(message, name)
    field = message.DESCRIPTOR.fields_by_name[name]
    for key, each in value.items():
        if not field.message_type.GetOptions().map_entry:
            entry = entries.add()
            _put_one(entry, "key", shape.key, key)
            _put_one(entry, "value", shape.value, each)
        elif field.message_type.fields_by_name["value"].message_type is not None:
            _into(entries[_scalar(shape.key, key)], shape.value, each)
        else:
            entries[_scalar(shape.key, key)] = _scalar(shape.value, each)


def _put_one(message: Any, name: str, shape: s.Shape, value: Any) -> None:
    if message.DESCRIPTOR.fields_by_name[name].message_type is not None:
        _into(getattr(message, name), shape, value)
    else:
        setattr(message, name, _scalar(shape, value))


def _add(repeated: Any, shape: s.Shape, value: Any) -> None:
    if hasattr(repeated, "add"):
        _into(repeated.add(), shape, value)
    else:
        repeated.append(_scalar(shape, value))


def _into(message: Any, shape: s.Shape, value: Any) -> None:
    """A declared type, or a message around a container or optional."""
    message.SetInParent()
    plain = bare(shape)
    if isinstance(plain, s.Struct | s.Union):
        filled(message, plain, value)
    else:
        _put(message, "value", plain, value)


def _scalar(shape: s.Shape, value: Any) -> Any:
    match bare(shape):
        case s.Scalar(name="uuid"):
            return value.bytes
        case s.Scalar(name="string" | "bytes" | "bool" | "f32" | "f64"):
            return value
        case s.Scalar() | s.Enum():
            return int(value)
        case other:
            return bytes(inner_codec(other).encode(value))


# --- and back


def taken(message: Any, shape: s.Shape) -> Any:
    match shape:
        case s.Struct():
            return shape.make(*(_get(message, each.name, each.shape) for each in shape.fields))
        case s.Union():
            name = message.WhichOneof(message.DESCRIPTOR.oneofs[0].name)
            chosen = next(each for each in shape.alternatives if each.name == name)
            return chosen.type(_get_one(message, name, chosen.shape))
    raise TypeError(shape)


def _get(message: Any, name: str, shape: s.Shape) -> Any:
    match bare(shape):
        case s.Optional(element=element):
            return _get_one(message, name, element) if message.HasField(name) else None
        case s.List(element=element) | s.Array(element=element):
            return [_taken_one(each, element) for each in getattr(message, name)]
        case s.Set(element=element):
            return {_taken_one(each, element) for each in getattr(message, name)}
        case s.Map() as map_:
            entries = getattr(message, name)
            if hasattr(entries, "items"):
                pairs = entries.items()
            else:
                pairs = [(each.key, each.value) for each in entries]
            return {_taken_one(key, map_.key): _taken_one(each, map_.value) for key, each in pairs}
        case plain:
            return _get_one(message, name, plain)


def _get_one(message: Any, name: str, shape: s.Shape) -> Any:
    return _taken_one(getattr(message, name), shape)


def _taken_one(value: Any, shape: s.Shape) -> Any:
    import uuid

    match bare(shape):
        case s.Scalar(name="uuid"):
            return uuid.UUID(bytes=value)
        case s.Scalar():
            return value
        case s.Enum(values=values):
            return values[value]
        case s.Struct() | s.Union() as plain if plain.archive:
            return taken(value, plain)
        case s.Struct() | s.Union() | s.Custom() as plain:
            return inner_codec(plain).decode(value)
        case plain:
            return _get(value, "value", plain)
