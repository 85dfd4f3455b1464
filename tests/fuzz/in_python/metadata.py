"""Blocks of metadata before a payload: any bytes are refused in words, or are the bytes that the entries are
written as.
"""

import mf
from mf.protocol.metadata import pack_metadata, take_metadata
from tests.fuzz.in_python.harness import Target

_ENTRIES: tuple[dict[str, str], ...] = (
    {},
    {"a": ""},
    {"trace-id": "4bf92f3577b34da6a3ce929d0e0e4736", "b.c_d": "ä€😀"},
    {f"key{number}": "x" * number for number in range(64)},
    {"long": "y" * 16_000},
)


def seeds() -> list[bytes]:
    return [pack_metadata(entries) + payload for entries in _ENTRIES for payload in (b"", b"payload")]


def refusal(data: bytes) -> str:
    entries, rest = take_metadata(data)
    if isinstance(entries, mf.Error):
        assert not rest
        return entries.message
    assert pack_metadata(entries) + bytes(rest) == data
    return ""


TARGET = Target("metadata", seeds, refusal, (b"\0\0", b"\xff\xff", b"\x01a\0\0", b"\x00\x40\0\0"))
