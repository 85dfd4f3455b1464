"""Bytes of one schema to those of another: any bytes are refused in words, or become the other side's, the
same ones each time. Two bytes pick the pair of schemas and the third the way; the rest is what is converted.
"""

from collections.abc import Callable
from functools import cache

import mf
from mf.adapt.values import LostError
from mf.core.service import FEBIRD, MEMCPY, ServiceInfo
from mf.evolution.reading import read
from mf.evolution.schema import Schema
from mf.evolution.types import building
from mf.protocol.adapted import Adaptation, Adapted, adaptation
from mf.protocol.frame import Buffer
from tests.fuzz.in_python.harness import Target
from tests.fuzz.in_python.schemas import Texts, pairs

_OK, _MIXED = 0, 1
_MOST_ITEMS = 8


def _request(adapted: Adapted, own: int, body: bytes) -> Buffer:
    items = 1 + (body[0] % _MOST_ITEMS if own & 0x40 and body else 0)
    return adapted.request(own & 0x3F, items, body)[1]


def _reply(adapted: Adapted, encoding: int, body: bytes) -> Buffer:
    return adapted.reply(_OK, encoding, 1, body)[2]


def _mixed(adapted: Adapted, encoding: int, body: bytes) -> Buffer:
    return adapted.reply(_MIXED, encoding, 1 + (body[0] % _MOST_ITEMS if body else 0), body)[2]


def _outcome(adapted: Adapted, _: int, body: bytes) -> Buffer:
    return adapted.outcome(_OK, 0, body)[2]


_WAYS: tuple[Callable[[Adapted, int, bytes], Buffer], ...] = (_request, _reply, _mixed, _outcome)


@cache
def _adapted(at: int) -> Adapted | None:
    pair = pairs()[at]
    ours, theirs = _schema(pair.ours), _schema(pair.theirs)
    service = ServiceInfo(name=ours.name, agent=None, descriptor="", fingerprint=ours.fingerprint, methods=())
    with building():
        made = adaptation(service, ours, theirs)
        assert isinstance(made, Adaptation)
        found = made._find(list(ours.methods).index(pair.method))
    return found if isinstance(found, Adapted) else None


@cache
def _schema(texts: Texts) -> Schema:
    return read(texts.descriptor, texts.annex)


def seeds() -> list[bytes]:
    found = []
    for at, pair in enumerate(pairs()):
        number = at.to_bytes(2, "little")
        for way, values in ((0, pair.requests), (1, pair.results), (3, pair.results)):
            found += [number + bytes([way]) + value for value in values]
    return found


def refusal(data: bytes) -> str:
    if len(data) < 3:
        return "cut off"
    adapted = _adapted(int.from_bytes(data[:2], "little") % len(pairs()))
    if adapted is None:
        return "the method cannot be called"
    first, second = (_converted(adapted, data[2], data[3:]) for _ in range(2))
    assert first == second
    return first if isinstance(first, str) else ""


def _converted(adapted: Adapted, way: int, body: bytes) -> str | bytes:
    """Encodings that the plan does not have are refused; so both are tried, unless one is named."""
    words = ""
    for encoding in (MEMCPY, FEBIRD):
        try:
            return bytes(_WAYS[way % len(_WAYS)](adapted, encoding | way & 0x40, body))
        except LostError as lost:
            words = lost.reason
        except mf.Error as refused:
            words = refused.message
        assert words
    return words


TARGET = Target("adapted", seeds, refusal)
