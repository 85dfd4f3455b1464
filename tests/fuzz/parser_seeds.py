"""The seeds of the fuzz targets of in_cpp/: by target, the byte that says how it is read, and the bytes."""

import dataclasses
import enum
import typing
import uuid
from typing import Any

from mf.codec.hashing import hash64
from mf.protocol.frame import HEADER_SIZE
from mf.protocol.handshake import MAGIC, pack_bind
from mf.replicated._generated.mf import replication
from mf.topics._generated.mf import topics
from tests.fuzz.in_python.schemas import joined, pairs

Seeds = list[tuple[int, bytes]]
_NONCE = bytes(range(16))

_ADDRESSES = (
    *("tcp://127.0.0.1:7401", "tls://[::1]:65535", "mf://a.example:1", "mf+tls://h:7400", "relay://h:1"),
    *("relay+tls://h:2", "unix:/run/a.sock", "unix:///run/a.sock", "unix:////run/a.sock", "memory:shop"),
    *("tcp://h:1,unix:/s", " mf://a:1 , mf://b:2", "tcp://[fe80::1%eth0]:9", "etcd://h:2379", "tcp://0:0"),
    *("tls://a.b.c:443, tls://d:1, memory:x",),
)
_ETCD = (
    '{"header":{"revision":"7"}}',
    '{"header":{"revision":"7"},"kvs":[{"key":"YQ==","value":"Yg==","mod_revision":"6"}],"count":"1"}',
    '{"header":{"revision":"7"},"succeeded":true,"responses":[{"response_put":{"header":{"revision":"7"}}}]}',
    '{"header":{"revision":"7"},"responses":[{"response_range":{"kvs":[{"key":"YQ==","mod_revision":"1"}]}}]}',
    '{"header":{"revision":"7"},"ID":"7587861098310465547","TTL":"10"}',
    '{"header":{"revision":"7"},"created":true}',
    '{"header":{"revision":"8"},"events":[{"kv":{"key":"YQ==","value":"","mod_revision":"8"}}]}',
    '{"header":{"revision":"8"},"events":[{"type":"DELETE","kv":{"key":"YQ=="}}]}',
    '{"header":{},"token":"simple.7"}',
    *(
        f'{{"header":{{"revision":{number}}},"kvs":[]}}'
        for number in ("0", '"0"', "-1", '"9223372036854775807"')
    ),
    *(f'{{"header":{{}},"kvs":[{{"value":"{text}"}}]}}' for text in ("AA==", "AAA=", "AAAA")),
)
_AGENTS = ("a", "eu.de.books", "*", "*.books", "eu.*", "eu.*.books", "é", "a.b.c.d.e.f")
_OPENINGS = (
    b"\x16\x03\x01\x02\x00\x01\x00",
    b"GET / HTTP/1.1\r\n",
    b"POST",
    bytes(HEADER_SIZE) + MAGIC,
    b"HTTP/1.1 400",
)


def parser_seeds() -> dict[str, Seeds]:
    return {
        "addresses": [(0, text.encode()) for text in _ADDRESSES],
        "binds": [(0, each) for each in _binds()],
        "etcd": [(0, text.encode()) for text in _ETCD],
        "headers": [(0, each) for each in _headers()],
        "openings": [
            (0, start + more) for start in _OPENINGS for more in (b"", b"\0", b"Host: a\r\n", bytes(40))
        ],
        "patterns": [(0, f"{one}\0{two}".encode()) for one in _AGENTS for two in _AGENTS[:3]],
        "plans": [(0, joined(each.ours, each.theirs)) for each in pairs()[::3]],
        "records": [(0, each) for each in _files()],
        "replication": [(0, each) for each in _messages()],
        "topics": [*((0, each) for each in _subscriptions()), *((1, each) for each in _deliveries())],
    }


def _binds() -> list[bytes]:
    vias = [
        b"",
        *(b"\x01\x00" + (16 * n).to_bytes(2, "little") + _NONCE * n for n in (1, 2, 8)),
        b"\7\0\1\0x",
    ]
    methods: tuple[tuple[str, ...], ...] = ((), ("get",), ("a", "b", "é"), ("m",) * 50)
    return [
        pack_bind(_NONCE, "a.Service", agent, each) + via
        for agent in ("", "eu")
        for each in methods
        for via in vias
    ]


def _headers() -> list[bytes]:
    publisher, schema = str(uuid.UUID(bytes=_NONCE)), _NONCE.hex()
    return [
        "".join(f"{each}\n" for each in ("a.Topic", agent, publisher, number, time, tier, schema)).encode()
        for agent in ("", "eu.books", "%20%25", "x%C3%A9")
        for number, time in (("1", "0"), ("18446744073709551615", "-9223372036854775808"))
        for tier in ("memcpy", "febird", "archive", "custom")
    ]


def _files() -> list[bytes]:
    """As runtime/cpp/src/controller/record_file.hpp says; 16 of them."""
    return [_file(start, payloads) for start in (0, 1, 7, (1 << 64) - 1) for payloads in _PAYLOADS]


_PAYLOADS: tuple[tuple[bytes, ...], ...] = ((), (b"",), (b"one",), (b"first", b"", b"x" * 100))
_RECORD_MAGIC = 0x3152_464D  # "MFR1"


def _file(start: int, payloads: tuple[bytes, ...]) -> bytes:
    head = b"MFSTORE\n" + (1).to_bytes(4, "little") + bytes(4) + start.to_bytes(8, "little")
    file = head + hash64(head).to_bytes(8, "little")
    for number, payload in enumerate(payloads, start):
        rest = len(payload).to_bytes(4, "little") + _RECORD_MAGIC.to_bytes(4, "little")
        rest += (number % (1 << 64)).to_bytes(8, "little") + payload
        file += hash64(rest).to_bytes(8, "little") + rest + bytes(-len(payload) % 8)
    return file


def _messages() -> list[bytes]:
    """Each alternative of the union, with one element in each list."""
    alternatives = typing.get_args(replication.Message)
    return [bytes(replication.MESSAGE_CODEC.encode(filled(each))) for each in alternatives]


def _subscriptions() -> list[bytes]:
    made = [topics.Subscription(agents=agents, max_messages=10, max_bytes=1000) for agents in _AGENTS]
    made[0].path = [uuid.UUID(bytes=_NONCE)] * 8
    made[1].seen = [topics.Position(uuid.UUID(bytes=_NONCE), "eu", 7)]
    return [bytes(topics.SUBSCRIPTION_CODEC.encode(each)) for each in made]


def _deliveries() -> list[bytes]:
    alternatives = typing.get_args(topics.Delivery)
    return [bytes(topics.DELIVERY_CODEC.encode(filled(each))) for each in alternatives for _ in range(2)]


def filled(kind: Any) -> Any:
    """A value of a generated type, whose texts and lists are not empty."""
    if kind is str:
        return "a"
    if kind is bytes:
        return b"payload"
    if dataclasses.is_dataclass(kind):
        assert isinstance(kind, type)
        hints = typing.get_type_hints(kind, include_extras=False)
        return kind(**{each.name: filled(hints[each.name]) for each in dataclasses.fields(kind)})
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return next(iter(kind))
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is list:
        return [filled(arguments[0])]
    if origin is dict:
        return {filled(arguments[0]): filled(arguments[1])}
    if arguments:  # optional, or a union
        return filled(arguments[0])
    return kind(int=7) if kind is uuid.UUID else kind(1)
