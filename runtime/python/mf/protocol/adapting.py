"""R2. What a process knows of other schemas: what was made of each is made once, and kept for all its
clients.

A descriptor comes from a peer. Whatever is wrong with it, or with what was made of it, is a sentence.
"""

from typing import Any, Final

from mf.core.service import ServiceInfo
from mf.evolution.reading import read
from mf.evolution.schema import Schema
from mf.evolution.types import SchemaError
from mf.protocol.adapted import adaptation
from mf.protocol.other_schema import Adaptation

_MOST = 256
"""Schemas, and what was made of them, that are kept: those that were made last."""

_own: Final[dict[tuple[str, str], Schema]] = {}
_adaptations: Final[dict[tuple[str, str, str, str], Adaptation | str]] = {}


def adapting(service: ServiceInfo, descriptor: str, annex: str) -> Adaptation | str:
    """How a consumer of `service` uses a provider with that descriptor and annex; else, in words, why it
    cannot. Any thread may ask; two may make the same."""
    key = (service.descriptor, service.annex, descriptor, annex)
    found = _adaptations.get(key)
    if found is None:
        found = _adaptations[key] = _made(service, descriptor, annex)
        _forget(_adaptations)
    return found


def _made(service: ServiceInfo, descriptor: str, annex: str) -> Adaptation | str:
    try:
        return adaptation(service, _schema(service), read(descriptor, annex))
    except SchemaError as wrong:
        return str(wrong)
    except RecursionError:
        return "its types are nested too deep"


def _schema(service: ServiceInfo) -> Schema:
    key = (service.descriptor, service.annex)
    found = _own.get(key)
    if found is None:
        found = _own[key] = read(service.descriptor, service.annex)
        _forget(_own)
    return found


def _forget(known: dict[Any, Any]) -> None:
    """The oldest, if there are too many."""
    if len(known) > _MOST:
        known.pop(next(iter(known)), None)
