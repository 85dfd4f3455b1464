"""F6. Which running programs, built from the older and the newer schemas, can work together.

A client adapts to its server's schema, and a subscriber to its publisher's (docs/evolution.md). So there are
two questions for each service and topic: what older consumers can do with newer providers, and newer ones
with older providers. The answers come from the engine that also decides at run time (mf.evolution).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from mf.evolution.plan import MethodPlan, plan
from mf.evolution.reading import read
from mf.evolution.rules import Verdict
from mf.evolution.types import SchemaError
from mfidl import model
from mfidl.breaking.change import Change
from mfidl.breaking.rules import Impact
from mfidl.source import Span

_SHOWN = 4  # reasons shown for each direction


class Order(Enum):
    """The order in which peers may be upgraded so that no call fails because of its schema."""

    ANY = "any"
    PROVIDERS_FIRST = "providers first"
    CONSUMERS_FIRST = "consumers first"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Together:
    """What consumers of one side can do with providers of the other. `refused`: a sentence for each method
    that cannot be called, or one for a topic, or if nothing can be called. `checked`: methods some of whose
    values cannot be converted.
    """

    refused: tuple[str, ...]
    checked: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rollout:
    """A service or topic of the older program. `older`: older consumers with newer providers; `newer`: newer
    consumers with older providers. `here` is None if the newer program has none of that name."""

    name: str
    older: Together
    newer: Together
    is_topic: bool
    here: Span | None
    before: Span | None

    @property
    def order(self) -> Order:
        if not self.older.refused:
            return Order.PROVIDERS_FIRST if self.newer.refused else Order.ANY
        return Order.NONE if self.newer.refused else Order.CONSUMERS_FIRST

    @property
    def message(self) -> str:
        consumers, providers = ("subscribers", "publishers") if self.is_topic else ("clients", "servers")
        older = f"older {consumers} fail at newer {providers} ({_some(self.older.refused)})"
        newer = f"newer {consumers} fail at older {providers} ({_some(self.newer.refused)})"
        match self.order:
            case Order.ANY:
                return f"{consumers} and {providers} of `{self.name}` may be upgraded in any order"
            case Order.PROVIDERS_FIRST:
                return f"upgrade the {providers} of `{self.name}` first: {newer}"
            case Order.CONSUMERS_FIRST:
                return f"upgrade the {consumers} of `{self.name}` first: {older}"
            case Order.NONE:
                return f"no order of upgrades keeps all of `{self.name}`: {older}, and {newer}"

    def change(self) -> Change | None:
        """The finding; None if any order works."""
        if self.order is Order.ANY:
            return None
        code = "R0902" if self.order is Order.NONE else "R0901"
        return Change(code, (Impact.ROLLOUT,), self.message, self.here, self.before)


def _some(reasons: tuple[str, ...]) -> str:
    shown = "; ".join(reasons[:_SHOWN])
    return shown if len(reasons) <= _SHOWN else f"{shown}; {len(reasons) - _SHOWN} more"


_Peers = model.Service | model.Topic


def rollouts(old: model.Program, new: model.Program) -> list[Rollout]:
    """Sorted by name. Only the requested modules of the older program may have lost something: another one is
    not there if no module imports it any more.
    """
    before, after = _peers(old), _peers(new)
    requested = {each.full_name for module in old.modules if module.requested for each in _of(module)}
    found: list[Rollout] = []
    for name in sorted(before):
        was, now = before[name], after.get(name)
        is_topic = isinstance(was, model.Topic)
        if now is not None and type(now) is type(was):
            older, newer = _together(was, now), _together(now, was)
            lost = _lost_names(was, now, old, new)
            older = Together((*older.refused, *lost), older.checked)
            found.append(Rollout(name, older, newer, is_topic, now.span, was.span))
        elif name in requested:
            words = f"{was.name} is gone"
            found.append(Rollout(name, Together((words,), ()), Together((), ()), is_topic, None, was.span))
    return found


def _lost_names(was: _Peers, now: _Peers, old: model.Program, new: model.Program) -> tuple[str, ...]:
    """The services that one extended, and does not extend any more: no client finds it by these names."""
    if not isinstance(was, model.Service) or not isinstance(now, model.Service):
        return ()
    kept = {each.full_name for each in new.extended(now)}
    lost = [each.full_name for each in old.extended(was) if each.full_name not in kept]
    return tuple(f"{now.name} is not found as {name} any more" for name in lost)


def _peers(program: model.Program) -> Mapping[str, _Peers]:
    return {each.full_name: each for module in program.modules for each in _of(module)}


def _of(module: model.Module) -> tuple[_Peers, ...]:
    return (*module.services, *module.topics)


def _refusal(consumer: _Peers, method: MethodPlan) -> str | None:
    """Why no peer may call this there. A replica stops that cannot read a message which others have applied,
    so one value that does not go over is too many. A result that does not go over fails its call alone.
    """
    if method.reason is not None or method.params.verdict is not Verdict.CHECKED:
        return method.reason
    assert isinstance(consumer, model.Service)
    replicated = any(each.name == method.name and each.replicated for each in consumer.methods)
    stops = f"{consumer.name}.{method.name}: a replica stops at a message whose values do not go over"
    return stops if replicated else None


def _together(consumer: _Peers, provider: _Peers) -> Together:
    if consumer.fingerprint == provider.fingerprint:
        return Together((), ())
    try:
        made = plan(read(consumer.descriptor, consumer.annex), read(provider.descriptor, provider.annex))
    except SchemaError as wrong:
        return Together((str(wrong),), ())
    if made.reason is not None:
        return Together((made.reason,), ())
    refused = tuple(reason for method in made.methods if (reason := _refusal(consumer, method)) is not None)
    checked = tuple(method.name for method in made.methods if method.verdict is Verdict.CHECKED)
    if made.value is not None and made.value.verdict is Verdict.CHECKED:
        checked = (made.ours.short,)
    return Together(refused, checked)
