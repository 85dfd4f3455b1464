"""F6. What a finding means to programs that run already: they adapt to it, it does not reach them, or they
notice it.

Callers and subscribers adapt to other bytes. Bytes that are kept, or handed on without their schema, still
break. Archives are made for that, so a finding about bytes that an archive can hold is noticed in any case.
"""

from collections.abc import Sequence
from enum import Enum

from mfidl import model
from mfidl.breaking.change import Change
from mfidl.breaking.reach import Reach
from mfidl.breaking.rollout import Order, Rollout


class Effect(Enum):
    ADAPTED = "adapted"  # any order of upgrades keeps all calls, with all of their values
    UNREACHED = "unreached"  # no service, topic or archive of the older program has the type
    NOTICED = "noticed"


class Effects:
    """The effect of each finding of a comparison, given its `rollouts`."""

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

    def of(self, change: Change) -> Effect:
        """One order of upgrades (R0901) is enough for programs that run to adapt."""
        if change.code == "R0901":
            return Effect.ADAPTED
        if not change.subject:
            return Effect.NOTICED
        above = set().union(*(reach.above(change.subject) for reach in self._reaches))
        names = above | {name.rpartition(".")[0] for name in above}  # a method counts for its service
        peers = [self._rollouts[name] for name in names if name in self._rollouts]
        if not above.isdisjoint(self._archives) or not all(map(_is_free, peers)):
            return Effect.NOTICED
        return Effect.ADAPTED if peers else Effect.UNREACHED


def _is_free(rollout: Rollout) -> bool:
    """Whether any order of upgrades keeps all calls, with all of their values."""
    return rollout.order is Order.ANY and not rollout.older.checked and not rollout.newer.checked
