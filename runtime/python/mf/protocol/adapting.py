"""R2. The adaptations that a process has made: each is made once, and kept for all its clients.

A descriptor comes from a peer. Any error in it, or in making an adaptation of it, becomes a sentence.
"""

from typing import Any, Final

from mf.core.service import ServiceInfo
from mf.evolution.reading import read
from mf.evolution.schema import Schema
from mf.evolution.types import SchemaError, building
from mf.protocol.adapted import adaptation
from mf.protocol.other_schema import Adaptation

_MOST = 256
"""The number of schemas and adaptations that are kept: the latest ones."""

_own: Final[dict[tuple[str, str], Schema]] = {}
_adaptations: Final[dict[tuple[str, str, str, str], Adaptation | str]] = {}


def adapting(service: ServiceInfo, descriptor: str, annex: str) -> Adaptation | str:
    """The adaptation for a consumer of `service` to a provider with that descriptor and annex; otherwise the
    reason why there is none. Thread-safe; two threads may make the same one."""
    key = (service.descriptor, service.annex, descriptor, annex)
    found = _adaptations.get(key)
    if found is None:
        found = _adaptations[key] = _made(service, descriptor, annex)
        _forget(_adaptations)
    return found


def _made(service: ServiceInfo, descriptor: str, annex: str) -> Adaptation | str:
    try:
        with building():
            return adaptation(service, _schema(service), read(descriptor, annex))
    except SchemaError as wrong:
        return str(wrong)


def _schema(service: ServiceInfo) -> Schema:
    key = (service.descriptor, service.annex)
    found = _own.get(key)
    if found is None:
        found = _own[key] = read(service.descriptor, service.annex)
        _forget(_own)
    return found


def _forget(known: dict[Any, Any]) -> None:
    """Drops the oldest entries, if there are too many."""
    if len(known) > _MOST:
        known.pop(next(iter(known)), None)
