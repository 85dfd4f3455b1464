"""R6. The bounds of a replica, and its times."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Required, TypedDict

from mf.core.agent import Agent
from mf.core.tls import Tls


@dataclass(frozen=True, slots=True)
class ReplicaSettings:
    """Bounds, and how long a replica waits, in seconds."""

    most_entries: int = 16_384
    """Messages that are kept for those that come back, of at most `most_bytes` in all."""
    most_bytes: int = 64 << 20
    most_early: int = 4_096
    """Messages that wait for an earlier one, or for their version."""
    most_unapplied: int = 4_096
    """Messages that the servant has yet to apply: beyond, the versioning server takes no more."""
    chunk_entries: int = 1_024
    chunk_bytes: int = 4 << 20
    """How much of a log, or of a state, is sent at a time."""
    most_state: int = 1 << 30
    """The longest state of a servant that a replica begins again from, in bytes."""
    repeat: float = 0.2
    """After so long something that was not answered is sent again."""
    unused: float = 1.0
    """After so long a version that was given out and not used becomes a no-op."""
    patience: float = 2.0
    """After so long without a majority the versioning server gives up the lead."""


class ReplicaFields(TypedDict, total=False):
    """The keyword arguments of replicas. `members`: the names of all replicas, the same at all; `member`:
    this one's. `agent`: of the service, if it is `per` one. `listen`: where clients and the other replicas
    reach it. `advertise` and `tls` as of a server; with `tls` the other replicas are called by it, too.
    `access`: the path of an access file. A replica takes part as the member M of the service S if its
    identity may `replicate S.M`, and clients are linked that may `call` each replicated method of S; others
    are refused. `error_texts`: whether callers get the text of what a servant's function raises, as of a
    server.
    """

    member: Required[str]
    members: Required[Sequence[str]]
    agent: Agent | None
    listen: str
    advertise: str | None
    tls: Tls | None
    access: str
    error_texts: bool
    settings: ReplicaSettings | None
