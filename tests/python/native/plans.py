"""Codecs of one type, and sessions, that differ in what does their work: the native module of this tree's
build, or pure Python. Both are in one process, whatever mf.native says of it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from typing import Any, NamedTuple

import pytest

from mf.codec import shape as s
from mf.codec.coding import coding_of
from mf.codec.limits import DEFAULT_LIMITS
from mf.codec.plan import describe
from mf.codec.reader import Reader
from mf.codec.writer import Writer
from mf.protocol import client_session, reply, server_session, session
from mf.protocol.cutting import PURE, of_module
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


@contextmanager
def sessions_use(way: str) -> Iterator[None]:
    """Sessions and replies that are made within it cut and make frames purely, or natively."""
    functions = of_module(module()) if way == "native" else PURE
    with pytest.MonkeyPatch.context() as patch:
        for user in (session, client_session, server_session, reply):
            patch.setattr(user, "cutting", lambda: functions)
        yield


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
