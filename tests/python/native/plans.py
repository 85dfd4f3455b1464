"""Codecs of one type that differ in what does their work: the native codec of this tree's build, or the pure
one. Both are in one process, whatever mf.native says of it."""

import sys
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from typing import Any, NamedTuple

from mf.codec import shape as s
from mf.codec.coding import coding_of
from mf.codec.limits import DEFAULT_LIMITS
from mf.codec.plan import describe
from mf.codec.reader import Reader
from mf.codec.writer import Writer
from tests.native import module_folder


@cache
def module() -> Any:
    name = "_mf_native"
    if name in sys.modules:
        return sys.modules[name]
    path = module_folder() / f"{name}{EXTENSION_SUFFIXES[0]}"
    assert path.exists(), f"{path} is not there: cmake --build --preset release --target mf_native"
    spec = spec_from_loader(name, ExtensionFileLoader(name, str(path)))
    assert spec is not None
    assert spec.loader is not None
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@cache
def plan_of(shape: s.Composite) -> Any:
    return module().Plan(describe(shape))


class Read(NamedTuple):
    """What came of reading: a value as it shows itself, or None if it was refused."""

    shown: str | None
    value: Any = None


_REFUSED = Read(None)


def read_natively(shape: s.Composite, data: bytes, budget: int = DEFAULT_LIMITS.decoded) -> Read:
    value = plan_of(shape).decode(data, budget)
    return _REFUSED if value is NotImplemented else Read(repr(value), value)


def read_purely(shape: s.Composite, data: bytes, budget: int = DEFAULT_LIMITS.decoded) -> Read:
    """By the closures of mf.codec.coding alone, which look for messages in parts from the start."""
    from mf.codec.failure import CodecError

    r = Reader(data, budget, in_parts=True)
    try:
        value = coding_of(shape).read_alone(r)
    except CodecError:
        return _REFUSED
    return Read(repr(value), value) if r.pos == r.end and r.violation is None else _REFUSED


def written_natively(shape: s.Composite, value: Any) -> bytes | None:
    data = plan_of(shape).encode(value)
    return None if data is NotImplemented else data


def written_purely(shape: s.Composite, value: Any) -> bytes:
    w = Writer()
    coding_of(shape).write_alone(w, value)
    return bytes(w.out)
