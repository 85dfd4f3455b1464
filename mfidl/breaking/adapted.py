"""F6. Findings that running peers do not notice: only bytes differ, and callers and subscribers adapt.

Bytes that are kept, or handed on without their schema, still break. Archives are made for that, so a finding
about bytes that an archive can hold counts in any case; so does one about a type that reaches no service and
no topic, where only kept bytes are left to break.
"""

from collections.abc import Sequence

from mfidl import model
from mfidl.breaking.change import Change
from mfidl.breaking.reach import Reach
from mfidl.breaking.rollout import Order, Rollout
from mfidl.breaking.rules import Impact

_BYTES = {Impact.WIRE, Impact.LAYOUT}


class Adapted:
    """Those findings of a comparison that running peers do not notice, given its `rollouts`."""

    def __init__(self, old: model.Program, new: model.Program, rollouts: Sequence[Rollout]) -> None:
        self._reaches = (Reach(old), Reach(new))
        self._rollouts = {each.name: each for each in rollouts}
        self._archives = {
            each.full_name
            for program in (old, new)
            for module in program.modules
            for each in module.declarations
            if isinstance(each, model.Struct | model.Union) and each.tier is model.Tier.ARCHIVE
        }

    def __contains__(self, change: object) -> bool:
        if not isinstance(change, Change) or not change.subject or not set(change.impacts) <= _BYTES:
            return False
        above = set().union(*(reach.above(change.subject) for reach in self._reaches))
        names = above | {name.rpartition(".")[0] for name in above}  # a method counts for its service
        peers = [self._rollouts[name] for name in names if name in self._rollouts]
        return bool(peers) and above.isdisjoint(self._archives) and all(map(_is_free, peers))


def _is_free(rollout: Rollout) -> bool:
    """Whether any order of upgrades keeps all calls, with all of their values."""
    return rollout.order is Order.ANY and not rollout.older.checked and not rollout.newer.checked
