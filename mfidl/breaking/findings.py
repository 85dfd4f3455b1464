"""F6. All that two programs make of each other, by a profile."""

from collections.abc import Collection, Sequence

from mfidl.breaking.compare import compare
from mfidl.breaking.effect import Effects
from mfidl.breaking.profile import Profile
from mfidl.breaking.report import Finding
from mfidl.breaking.rollout import Rollout
from mfidl.model import Program


def findings(
    old: Program, new: Program, rollouts: Sequence[Rollout], profile: Profile, ignored: Collection[str] = ()
) -> list[Finding]:
    """The changes that the profile shows, and the orders in which peers must be upgraded, without the codes
    `ignored`."""
    effects = Effects(old, new, rollouts)
    orders = [change for each in rollouts if (change := each.change()) is not None]
    return [
        Finding(change, effect := effects.of(change), profile.fails(change, effect))
        for change in (*compare(old, new), *orders)
        if profile.shows(change) and change.code not in ignored
    ]
