"""R4. After a fork the child must not use its parent's connections: replies would go to the wrong process.

Objects that own connections or locks register here, weakly; in the child `after_fork` is called on each.
"""

import os
import random
from typing import Protocol
from weakref import WeakSet


class Forkable(Protocol):
    """Something that must be told in the child."""

    def after_fork(self) -> None:
        """Called in the child, where no other thread runs and any lock may be held by one that is gone."""


JITTER = random.Random()
"""Of our own, as the module's state belongs to the program; and seeded anew in a child, so that processes
which were forked together do not do everything at the same moments."""

_registered: "WeakSet[Forkable]" = WeakSet()


def register(item: Forkable) -> None:
    """Tells `item` in every child that is forked from now on, as long as it lives."""
    _registered.add(item)


def _in_child() -> None:
    JITTER.seed()
    for item in list(_registered):
        item.after_fork()


if hasattr(os, "register_at_fork"):  # where processes fork at all
    os.register_at_fork(after_in_child=_in_child)
