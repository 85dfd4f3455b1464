"""Bytes of drawn values made by others than us: memcpy by numpy's aligned records, archive by protobuf."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner

from mfidl import model
from mfidl.cli.group import cli
from mfidl.model import DeclKind, Scalar, Tier

_NUMPY = {
    Scalar.BOOL: "?",
    Scalar.F32: "<f4",
    Scalar.F64: "<f8",
    Scalar.TIMESTAMP: "<i8",
    Scalar.DURATION: "<i8",
    Scalar.UUID: "S16",
}


class Numpy:
    """Memcpy: where the fields lie is numpy's opinion (`align=True`), not ours."""

    def __init__(self, program: model.Program) -> None:
        self._program = program

    def encode(self, struct: model.Struct, value: dict[str, Any]) -> bytes:
        if not struct.fields:
            return b""
        record = np.zeros((), dtype=self._struct(struct))
        self._fill(record, struct, value)
        return record.tobytes()

    def _struct(self, struct: model.Struct) -> Any:
        return np.dtype([(field.name, self._dtype(field.type)) for field in struct.fields], align=True)

    def _dtype(self, type_: model.Type) -> Any:
        match type_:
            case model.Primitive(scalar):
                word = scalar.value
                return (
                    np.dtype((np.uint8, (16,)))
                    if scalar is Scalar.UUID
                    else _NUMPY.get(scalar) or _integer(word)
                )
            case model.ArrayOf(element, length):
                return np.dtype((self._dtype(element), (length,)))
            case model.Named(_, DeclKind.ENUM):
                return _integer(self._program.enum(type_).base.scalar.value)
            case model.Named(_, DeclKind.FLAGS):
                return _integer(self._program.flags(type_).base.scalar.value)
            case model.Named():
                return self._struct(self._program.struct(type_))
            case _:
                raise AssertionError(type_)

    def _fill(self, record: Any, struct: model.Struct, value: dict[str, Any]) -> None:
        for field in struct.fields:
            self._put(record, field.name, field.type, value[field.name])

    def _put(self, into: Any, at: Any, type_: model.Type, value: Any) -> None:
        match type_:
            case model.Primitive(Scalar.UUID):
                into[at] = np.frombuffer(value, np.uint8)
            case model.ArrayOf(element, length):
                for index in range(length):
                    self._put(into[at], index, element, value[index])
            case model.Named(_, DeclKind.STRUCT):
                self._fill(into[at], self._program.struct(type_), value)
            case _:
                into[at] = value


def _integer(word: str) -> str:
    return f"<{word[0]}{int(word[1:]) // 8}"


# Python's protobuf writes the entries of a map in an order of its own: as messages they stay where they are.
_MAP = re.compile(r"map<(?P<key>\w+), (?P<value>[^>]+)> (?P<name>\w+) = (?P<number>\d+);")


def _entries(found: re.Match[str]) -> str:
    entry = f"Oracle{found['name']}Entry"
    fields = f"required {found['key']} key = 1; required {found['value']} value = 2;"
    return f"repeated {entry} {found['name']} = {found['number']}; message {entry} {{ {fields} }}"


class Protobuf:
    """Archive: messages of `mfidlc proto`, filled field by field and serialized by protobuf. `inner` encodes
    values of other tiers, which are bytes to protobuf.
    """

    def __init__(self, program: model.Program, schema: Path, folder: Path, inner: Any) -> None:
        self._program = program
        self._inner = inner
        done = CliRunner().invoke(cli, ["proto", str(schema), "--out", str(folder)])
        assert done.exit_code == 0, done.output
        proto = folder / f"{schema.stem}.proto"
        proto.write_text(_MAP.sub(_entries, proto.read_text()))
        subprocess.run(["protoc", "--python_out=.", proto.name], cwd=folder, check=True)
        name = f"{schema.stem}_pb2"
        spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        self._messages = importlib.util.module_from_spec(spec)
        sys.modules[name] = self._messages
        spec.loader.exec_module(self._messages)

    def encode(self, declared: model.Struct | model.Union, value: Any) -> bytes:
        message = getattr(self._messages, declared.name)()
        self._fill(message, declared, value)
        return bytes(message.SerializeToString(deterministic=True))

    def encode_graph(self, root: str, tables: Any) -> bytes:
        message = getattr(self._messages, root + "Graph")()
        for (name, objects), field in zip(tables, message.DESCRIPTOR.fields, strict=True):
            for each in objects:
                self._fill(getattr(message, field.name).add(), self._program.declaration(name), each)
        return bytes(message.SerializeToString(deterministic=True))

    def _fill(self, message: Any, declared: Any, value: Any) -> None:
        if isinstance(declared, model.Union):
            chosen = next(each for each in declared.alternatives if each.name == value[0])
            self._one(message, chosen.name, chosen.type, value[1])
            return
        message.SetInParent()
        for field in declared.fields:
            if value[field.name] is not None:
                self._field(message, field.name, field.type, value[field.name])

    def _field(self, message: Any, name: str, type_: model.Type, value: Any) -> None:
        match type_:
            case model.OptionalOf(element):
                self._one(message, name, element, value)
            case model.ListOf(element) | model.SetOf(element) | model.ArrayOf(element, _):
                for each in value:
                    self._add(getattr(message, name), element, each)
            case model.MapOf(key, held):
                self._map(getattr(message, name), key, held, value)
            case _:
                self._one(message, name, type_, value)

    def _one(self, message: Any, name: str, type_: model.Type, value: Any) -> None:
        """A single value, in a message of its own if it is a container where none may be."""
        if isinstance(type_, model.ListOf | model.SetOf | model.ArrayOf | model.MapOf | model.OptionalOf):
            wrapper = getattr(message, name)
            wrapper.SetInParent()
            if value is not None:
                self._field(wrapper, "value", type_, value)
        elif self._is_message(type_):
            self._fill(getattr(message, name), self._program.declaration(type_.full_name), value)  # type: ignore[union-attr]
        else:
            setattr(message, name, self._scalar(type_, value))

    def _add(self, repeated: Any, type_: model.Type, value: Any) -> None:
        if isinstance(type_, model.ListOf | model.SetOf | model.ArrayOf | model.MapOf | model.OptionalOf):
            wrapper = repeated.add()
            if value is not None:
                self._field(wrapper, "value", type_, value)
        elif self._is_message(type_):
            self._fill(repeated.add(), self._program.declaration(type_.full_name), value)  # type: ignore[union-attr]
        else:
            repeated.append(self._scalar(type_, value))

    def _map(self, field: Any, key: model.Type, held: model.Type, pairs: Any) -> None:
        for k, v in pairs:
            entry = field.add()
            self._one(entry, "key", key, k)
            self._one(entry, "value", held, v)

    def _is_message(self, type_: model.Type) -> bool:
        if isinstance(type_, model.Named) and type_.kind not in (DeclKind.ENUM, DeclKind.FLAGS):
            declared = self._program.declaration(type_.full_name)
            return isinstance(declared, model.Struct | model.Union) and declared.tier is Tier.ARCHIVE
        return False

    def _scalar(self, type_: model.Type, value: Any) -> Any:
        if isinstance(type_, model.Named) and type_.kind not in (DeclKind.ENUM, DeclKind.FLAGS):
            return self._inner(type_, value)
        return value
