"""A provider's descriptor is hostile input for its clients."""

import json
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

import pytest

import mf
from mf.core.error import Code, Error, Execution
from mf.core.service import ServiceInfo
from mf.evolution.reading import read
from mf.evolution.types import SchemaError
from mf.protocol.adapted import Adaptation, Adapted
from mf.protocol.adapting import adapting
from mf.protocol.server_session import ServerSession
from tests.python.conftest import Recorder
from tests.python.echo import DESCRIPTOR, EchoClient, service

MANY = "".join(f"type a.T{n} struct memcpy\n x u8\n" for n in range(4097))
LARGE = "".join(f" method m{n}\n  params memcpy\n  results memcpy\n" for n in range(30_000))
ARCHIVE = "type a.T struct archive\n x 1: u8\n"
DEEP = "list<" * 65 + "u8" + ">" * 65
CHAIN = "".join(f"type a.T{n} struct memcpy\n x a.T{n + 1}\n" for n in range(70))

REFUSED = {
    "nothing": ("", "the server"),
    "no text of lines": (DESCRIPTOR.removesuffix("\n"), "does not end with a line feed"),
    "too large": (DESCRIPTOR + LARGE, "a descriptor or annex is longer than 1048576 bytes"),
    "too many types": (DESCRIPTOR + MANY, "there are more than 4096 types"),
    "types too deep": (DESCRIPTOR.replace("x i32", f"x {DEEP}"), "an expression of types is nested too deep"),
    "structs too deep": (
        DESCRIPTOR + CHAIN + "type a.T70 struct memcpy\n x u8\n",
        "more than 64 levels deep",
    ),
    "a text of Python that would never end": (
        DESCRIPTOR
        + "".join(f"type a.T{n} struct memcpy\n x a.T{n + 1}\n y a.T{n + 1}\n" for n in range(10, 30))
        + "type a.T30 struct memcpy\n x u8\n",
        "has more parts than Python can make of it",
    ),
    "a layout of millions of parts": (
        DESCRIPTOR + "type a.T struct memcpy\n x u8\n y i32\ntype a.S struct memcpy\n x array<a.T,1000000>\n",
        "type `a.S` has more parts than Python can make of it",
    ),
    "a type that holds itself": (
        DESCRIPTOR + "type a.T struct febird\n x a.T\n",
        "type `a.T` holds itself by value",
    ),
    "a text in memory": (DESCRIPTOR.replace("x i32", "x string"), "a type that cannot be there"),
    "a name of Python's": (DESCRIPTOR.replace("x i32", "x); import os; (y i32"), "is no name"),
    "a reference outside of an archive": (
        DESCRIPTOR.replace("memcpy", "febird").replace("x i32", "x ref<a.T>")
        + "type a.T struct archive\n x 1: u8\n",
        "a type that cannot be there",
    ),
}
"""Beside those that both languages refuse in the same words."""
BOTH = json.loads((Path(__file__).parents[2] / "vectors/descriptors/refused.json").read_text())["refused"]


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_descriptor_is_refused_in_words(case: str) -> None:
    text, words = REFUSED[case]
    with pytest.raises(SchemaError) as raised:
        read(text)
    if words != "the server":
        assert words in str(raised.value)


@pytest.mark.parametrize("refused", BOTH, ids=lambda each: each["case"])
def test_what_is_no_descriptor_is_refused_in_the_words_that_both_languages_have(
    refused: dict[str, str],
) -> None:
    with pytest.raises(SchemaError) as raised:
        read(refused["descriptor"])
    assert str(raised.value) == refused["words"]


@pytest.mark.parametrize("cut", range(0, len(DESCRIPTOR), 3))
def test_every_beginning_of_a_descriptor_is_one_or_is_refused(cut: int) -> None:
    with suppress(SchemaError):
        assert read(DESCRIPTOR[:cut]).name == "demo.Echo"


@pytest.mark.parametrize("annex", ["", "x", "annex demo.Other\n", " a\n", "annex demo.Echo\n" * 80_000])
def test_an_annex_is_read_or_refused(annex: str) -> None:
    if annex:
        with pytest.raises(SchemaError):
            read(DESCRIPTOR, annex)
    else:
        assert read(DESCRIPTOR, annex).name == "demo.Echo"


def called(descriptor: str, fingerprint: bytes = b"", annex: str = "") -> mf.Error:
    """How a call of a server with this descriptor ends."""
    theirs = service(descriptor)
    theirs.annex = annex
    if fingerprint:
        theirs.fingerprint = fingerprint

    class Hostile(Recorder):
        mf_service: ClassVar[ServiceInfo] = theirs

    server = mf.Server("tcp://127.0.0.1:0")
    server.offer(Hostile(), "a")
    server.start()
    try:
        with mf.Client(server.address) as client, pytest.raises(mf.Error) as raised:
            EchoClient(client).at("a").twice(1)
    finally:
        server.stop()
    return raised.value


@pytest.mark.parametrize("case", ["too large", "a type that holds itself", "a name of Python's"])
def test_a_client_refuses_a_server_with_a_hostile_descriptor_in_words(case: str) -> None:
    text, words = REFUSED[case]
    error = called(text)
    assert (error.code, error.execution) == (Code.SCHEMA_MISMATCH, Execution.NOT_EXECUTED)
    assert error.message.startswith("schemas differ from tcp://")
    assert words in error.message


def test_a_descriptor_that_is_not_that_of_the_servers_fingerprint_is_refused() -> None:
    error = called(DESCRIPTOR.replace("x i32", "x i64"), fingerprint=sha256(b"another").digest()[:16])
    assert (error.code, error.execution) == (Code.SCHEMA_MISMATCH, Execution.NOT_EXECUTED)
    assert "the schema that it describes is not the one that it has" in error.message


def adapted(tier: str, expression: str) -> Adapted | Error:
    """A method whose parameter both sides have, and another one that only the client has."""
    both = f"service a.S\n method f\n  params {tier}\n   x {expression}\n"
    ours, theirs = f"{both}   y u8\n  results memcpy\n", f"{both}  results memcpy\n"
    info = ServiceInfo(name="a.S", agent=None, descriptor=ours, fingerprint=b"", methods=())
    found = adapting(info, theirs, "")
    assert isinstance(found, Adaptation), found
    return found._find(0)


@pytest.mark.parametrize(
    ("tier", "expression"),
    [
        ("memcpy", "array<array<u8,2>,4194304>"),
        ("memcpy", "array<uuid,30000>"),
        ("febird", "list<" * 10 + "i32" + ">" * 10),
        ("febird", "list<" * 25 + "i32" + ">" * 25),
    ],
)
def test_a_large_type_within_the_bounds_is_made(tier: str, expression: str) -> None:
    assert isinstance(adapted(tier, expression), Adapted)


@pytest.mark.parametrize("default", ["nonsense", '"text"', "[1]", "99999999999"])
def test_a_default_that_is_no_value_is_refused_in_words(default: str) -> None:
    more = DESCRIPTOR.replace("   x i32\n", "   x i32\n   y u8\n")
    annex = f"annex demo.Echo\n method twice\n  params\n   y\n    default {default}\n"
    error = called(more, annex=annex)
    assert error.code is Code.SCHEMA_MISMATCH
    assert "a default of demo.Echo is" in error.message


def test_a_description_that_never_comes_ends_the_call_at_its_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def silent(*_: Any) -> None:
        pass

    monkeypatch.setattr(ServerSession, "describe", silent)

    class Newer(Recorder):
        mf_service: ClassVar[ServiceInfo] = service(DESCRIPTOR.replace("x i32", "x i64"))

    server = mf.Server("tcp://127.0.0.1:0")
    server.offer(Newer(), "a")
    server.start()
    try:
        with mf.Client(server.address) as client, pytest.raises(mf.Error) as raised:
            EchoClient(client).at("a").twice(1, options=mf.CallOptions(deadline=0.3))
    finally:
        server.stop()
    assert raised.value.code in (Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED)
    assert raised.value.execution is Execution.NOT_EXECUTED
