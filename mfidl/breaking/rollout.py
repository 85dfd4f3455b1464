"""F6. Which running programs, built from the older and the newer schemas, can work together.

A client adapts to its server's schema, and a subscriber to its publisher's (docs/evolution.md). So there are
two questions for each service and topic: what older consumers can do with newer providers, and newer ones
with older providers. The answers come from the engine that also decides at run time (mfidl.evolution).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from mfidl import model
from mfidl.breaking.change import Change
from mfidl.breaking.rules import Impact
from mfidl.evolution.plan import plan
from mfidl.evolution.reading import read
from mfidl.evolution.rules import Verdict
from mfidl.evolution.types import SchemaError
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
    """A service or topic that both programs have. `older`: older consumers with newer providers; `newer`:
    newer consumers with older providers."""

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
    """Sorted by name. A removed service is a finding of its own, and has no peers to consider."""
    before, after = _peers(old), _peers(new)
    return [
        Rollout(
            name,
            _together(before[name], after[name]),
            _together(after[name], before[name]),
            isinstance(after[name], model.Topic),
            after[name].span,
            before[name].span,
        )
        for name in sorted(before.keys() & after.keys())
        if type(before[name]) is type(after[name])
    ]


def _peers(program: model.Program) -> Mapping[str, _Peers]:
    found: dict[str, _Peers] = {}
    for module in program.modules:
        found |= {each.full_name: each for each in module.services}
        found |= {each.full_name: each for each in module.topics}
    return found


def _together(consumer: _Peers, provider: _Peers) -> Together:
    if consumer.fingerprint == provider.fingerprint:
        return Together((), ())
    try:
        made = plan(read(consumer.descriptor, consumer.annex), read(provider.descriptor, provider.annex))
    except SchemaError as wrong:
        return Together((str(wrong),), ())
    if made.reason is not None:
        return Together((made.reason,), ())
    refused = tuple(method.reason for method in made.methods if method.reason is not None)
    checked = tuple(method.name for method in made.methods if method.verdict is Verdict.CHECKED)
    if made.value is not None and made.value.verdict is Verdict.CHECKED:
        checked = (made.ours.short,)
    return Together(refused, checked)
