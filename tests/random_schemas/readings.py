"""The readings of bytes, under one interface: Python by the program alone (mfidl/dynamic) and by generated
code. The third, C++, is in cpp.py, and shares no code with them.

    reading.write(type, text)   bytes of the value that a JSON text is
    reading.read(type, data)    the value in bytes, as JSON text and as bytes again, with its hashes
"""

import importlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import mf
from mf.codec import hashing
from mf.codec.codec import Codec
from mf.core.service import Method
from mfidl import dynamic, model
from mfidl.dynamic import Schema
from mfidl.emit.python.facts import Facts
from mfidl.emit.python.names import package_name
from tests.python.codec.generated import writable


@dataclass(frozen=True)
class Subject:
    """A type that is used alone. `has_json`: parameters and results have none in the runtimes."""

    name: str
    type: model.Type
    tier: model.Tier
    has_json: bool


@dataclass(frozen=True)
class Value:
    """`text` is "" where there is no JSON. `violated`: bytes that decode, to what the schema does not allow;
    where it is known, in words.
    """

    text: str
    data: bytes
    hash37: int
    hash64: int
    violated: str = ""


@dataclass(frozen=True)
class Fault:
    name: str
    offset: int
    path: str


@dataclass(frozen=True)
class Violated:
    """A constraint of the schema keeps the value out: Python checks while it reads, C++ behind it."""

    words: str


@dataclass(frozen=True)
class Crash:
    """What must not happen."""

    words: str


Outcome = Value | Fault | Violated | Crash


class Reading(Protocol):
    @property
    def name(self) -> str: ...

    def write(self, subject: Subject, text: bytes) -> Outcome: ...

    def read(self, subject: Subject, data: bytes) -> Outcome: ...


def subjects(program: model.Program) -> list[Subject]:
    """Of all modules that were asked for: the types that can be generated and used alone."""
    schema, found = Schema(program), []
    for module in program.requested:
        for each in module.declarations:
            if isinstance(each, model.Alias) or (
                isinstance(each, model.Struct) and each.tier is model.Tier.CUSTOM
            ):
                continue
            type_ = each.reference
            found.append(Subject(each.full_name, type_, dynamic.planned_tier(schema, type_), True))
        for service in module.services:
            for method in service.methods:
                for struct in (method.params, method.results):
                    found.append(Subject(struct.full_name, struct.reference, struct.tier, False))
    return found


class Dynamic:
    name = "dynamic"

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def write(self, subject: Subject, text: bytes) -> Outcome:
        try:
            return self._value(subject, dynamic.from_json(self._schema, subject.type, text))
        except dynamic.DecodeError as error:
            return Fault(error.fault.name, error.offset, error.path)
        except Exception as error:
            return Crash(f"{type(error).__name__}: {error}")

    def read(self, subject: Subject, data: bytes) -> Outcome:
        try:
            return self._value(subject, dynamic.decode(self._schema, subject.type, data))
        except dynamic.DecodeError as error:
            return Fault(error.fault.name, error.offset, error.path)
        except Exception as error:
            return Crash(f"{type(error).__name__}: {error}")

    def _value(self, subject: Subject, value: Any) -> Value:
        data = dynamic.encode(self._schema, subject.type, value)
        text = dynamic.to_json(self._schema, subject.type, value) if subject.has_json else ""
        return Value(text, data, hashing.hash37(data), hashing.xxh64(data))


def _forget(package: str) -> None:
    """What another schema of the same seed, of another size, has had imported."""
    root = package.partition(".")[0]
    for name in [each for each in sys.modules if each.partition(".")[0] == root]:
        del sys.modules[name]


class Python:
    name = "Python"

    def __init__(self, program: model.Program, folder: Path) -> None:
        self._kinds: dict[str, Any] = {}
        self._codecs: dict[str, Codec[Any, Any]] = {}
        sys.path.insert(0, str(folder))
        importlib.invalidate_caches()
        try:
            for module in program.requested:
                _forget(package_name(module.name, ""))
            facts = Facts(program)
            for module in program.requested:
                self._load(module, facts)
        finally:
            sys.path.remove(str(folder))

    def _load(self, module: model.Module, facts: Facts) -> None:
        package = importlib.import_module(package_name(module.name, ""))
        for full_name, name in facts.names(module.name).types.items():
            self._kinds[full_name] = getattr(package, name)
        if any(service.methods for service in module.services):
            methods = importlib.import_module(f"{package.__name__}._methods")
            for each in vars(methods).values():
                if isinstance(each, Method):
                    for function in (each.decode_requests, each.decode_results):
                        codec = getattr(function, "__self__", None)
                        assert isinstance(codec, Codec)
                        self._codecs[codec.shape.name] = codec

    def write(self, subject: Subject, text: bytes) -> Outcome:
        kind = self._kinds[subject.name]
        return self._tried(lambda: self._value(subject, mf.from_json(kind, text)))

    def read(self, subject: Subject, data: bytes) -> Outcome:
        if subject.has_json:
            kind = self._kinds[subject.name]
            return self._tried(lambda: self._value(subject, mf.from_bytes(kind, data)))
        codec = self._codecs[subject.name]
        return self._tried(lambda: self._parts(codec, codec.decode(data)))

    def _value(self, subject: Subject, value: Any) -> Value:
        kind = self._kinds[subject.name]
        data = mf.to_bytes(value, kind)
        return Value(mf.to_json(value, kind), data, mf.hash37(value, kind), mf.hash64(value, kind))

    def _parts(self, codec: Codec[Any, Any], value: Any) -> Value:
        data = bytes(codec.encode(writable(codec, value)))
        return Value("", data, hashing.hash37(data), hashing.hash64(data))

    def _tried(self, made: Any) -> Outcome:
        try:
            return made()  # type: ignore[no-any-return]
        except mf.DecodeError as error:
            return Fault(error.fault.name, error.offset, error.path)
        except mf.Error as error:
            return Violated(str(error))
        except Exception as error:
            return Crash(f"{type(error).__name__}: {error}")
