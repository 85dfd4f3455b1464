"""R6. The bounds of a replica, and its times."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Required, TypedDict

from mf.core.agent import Agent
from mf.core.options import check_all_numbers
from mf.core.tls import Tls


@dataclass(frozen=True, slots=True)
class ReplicaSettings:
    """Bounds of a replica, and how long it waits.

    Args:
        most_entries: Messages that are kept for replicas that come back. Defaults to 16,384.
        most_bytes: Bytes that these have in all. Defaults to 67,108,864.
        most_early: Messages that wait for an earlier one, or for their version. Defaults to 4,096.
        most_unapplied: Messages that the servant has yet to apply: beyond, the versioning server takes no
            more. Defaults to 4,096.
        chunk_entries: Messages of a log that are sent at a time. Defaults to 1,024.
        chunk_bytes: Bytes of a log, or of a state, that are sent at a time. Defaults to 4,194,304.
        most_state: Bytes of the longest state of a servant that a replica begins again from. Defaults to
            1,073,741,824.
        repeat: Seconds after which something that was not answered is sent again. Defaults to 0.2.
        unused: Seconds after which a version that was given out and not used becomes a no-op. Defaults to
            1.0.
        patience: Seconds without a majority after which the versioning server gives up the lead. Defaults to
            2.0.

    Raises:
        ValueError: One of them is not more than 0.
        TypeError: One of them is no number.
    """

    most_entries: int = 16_384
    most_bytes: int = 64 << 20
    most_early: int = 4_096
    most_unapplied: int = 4_096
    chunk_entries: int = 1_024
    chunk_bytes: int = 4 << 20
    most_state: int = 1 << 30
    repeat: float = 0.2
    unused: float = 1.0
    patience: float = 2.0

    def __post_init__(self) -> None:
        check_all_numbers(self)
        for name in self.__dataclass_fields__:
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} is {getattr(self, name)}: give a number above 0")


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
