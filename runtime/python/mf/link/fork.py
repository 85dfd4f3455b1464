"""R4. After a fork the child must not use its parent's connections: replies would go to the wrong process.

Objects that own connections or locks register here, weakly; in the child `after_fork` is called on each.
"""

import os
from typing import Protocol
from weakref import WeakSet


class Forkable(Protocol):
    """Something that must be notified in the child."""

    def after_fork(self) -> None:
        """Called in the child, where no other thread runs and any lock may be held by a thread that is
        gone."""


_registered: "WeakSet[Forkable]" = WeakSet()


def register(item: Forkable) -> None:
    """Calls `after_fork` of `item` in every child that is forked while it lives."""
    _registered.add(item)


def _in_child() -> None:
    for item in list(_registered):
        item.after_fork()


if hasattr(os, "register_at_fork"):  # only on systems where processes fork
    os.register_at_fork(after_in_child=_in_child)
