"""R6. The messages of runtime/idl/mf/replication.mfidl under their short names, and the effects that the
machines ask of their drivers.
"""

from dataclasses import dataclass
from typing import TypeAlias
from uuid import UUID

from mf.core.service import ServiceInfo
from mf.replicated._generated.mf.replication import (
    MOST_CLIENTS,
    MOST_ENTRIES,
    MOST_MEMBERS,
    Ack,
    Ask,
    Body,
    ClientState,
    Direct,
    Entry,
    Given,
    Head,
    Known,
    Leading,
    Numbered,
    Origin,
    Outcome,
    Part,
    Pattern,
    Prepare,
    Pull,
    Recover,
    Recovered,
    Refused,
    Report,
    Require,
    Restore,
    Seal,
    Sealed,
    Stamped,
    State,
    Submit,
    Sync,
    Tagged,
    Took,
    Version,
)

__all__ = [
    "MOST_AHEAD",
    "MOST_CLIENTS",
    "MOST_ENTRIES",
    "MOST_MEMBERS",
    "Ack",
    "Apply",
    "Ask",
    "Body",
    "ClientState",
    "Direct",
    "Distrust",
    "Effect",
    "Entry",
    "Given",
    "Head",
    "Known",
    "Leading",
    "Message",
    "Numbered",
    "Origin",
    "Outcome",
    "Part",
    "Pattern",
    "PeerId",
    "Prepare",
    "Pull",
    "Recover",
    "Recovered",
    "Refused",
    "Report",
    "Require",
    "Resign",
    "Restore",
    "RestoreState",
    "Seal",
    "Sealed",
    "Send",
    "Stamped",
    "State",
    "Stuck",
    "Submit",
    "Sync",
    "Tagged",
    "TakeSnapshot",
    "Took",
    "Version",
    "majority",
    "needed",
    "schema_of",
]

MOST_AHEAD = 1_024
"""How many messages a client may have under way: `sequence - oldest` of an Origin is below this."""

Message: TypeAlias = (
    Ask
    | Submit
    | Tagged
    | Direct
    | Stamped
    | Leading
    | Given
    | Ack
    | Refused
    | Numbered
    | Prepare
    | Report
    | Pull
    | Sync
    | Restore
    | Seal
    | Sealed
    | Recover
    | Recovered
    | Part
    | Took
)

PeerId: TypeAlias = str | UUID
"""A member by its name, or a client by its nonce."""


@dataclass(slots=True)
class Send:
    """A message to a peer. A driver without a link to it drops it: the machines repeat what matters."""

    to: PeerId
    message: Message


@dataclass(slots=True)
class Apply:
    """The servant is to apply a message; `done` gets the outcome. Effects of the next three kinds are
    carried out one after the other, in their order, and each is answered by `done`.
    """

    version: Version
    body: Body


@dataclass(slots=True)
class RestoreState:
    """The servant is to begin again from a snapshot, or (None) as a new one."""

    snapshot: bytes | None


@dataclass(slots=True)
class TakeSnapshot:
    """The servant's state is wanted: the outcome's payload."""


@dataclass(slots=True)
class Resign:
    """The versioning server cannot go on: it is to give up the lead, and may ask for it again."""

    reason: str


@dataclass(slots=True)
class Stuck:
    """The replica cannot get what it lacks: it takes part no more until its process starts anew."""

    reason: str


@dataclass(slots=True)
class Distrust:
    """A member has sent what no replica sends. It was dropped; an operator should look at that member."""

    member: str
    reason: str


Effect: TypeAlias = Send | Apply | RestoreState | TakeSnapshot | Resign | Stuck | Distrust


def majority(members: int) -> int:
    return members // 2 + 1


def schema_of(service: ServiceInfo) -> UUID:
    """The fingerprint, as messages have it."""
    return UUID(bytes=service.fingerprint)


def needed(require: Require, members: int) -> int:
    """How many of a group must have applied a message."""
    return {Require.one: 1, Require.majority: majority(members), Require.all: members}[require]
