"""R6. What a replica holds: the latest messages in the order of their versions, and which messages of which
clients it has had. Pure data.

The mark of a log's end is a hash over all origins and versions that it has ever held, so that two logs are
compared by their ends alone. Origins are forgotten when their client says that it awaits them no more, and
beyond so many clients by which was last heard of the longest ago: in the order of the log, so that all
replicas forget alike.
"""

from collections import OrderedDict, deque
from dataclasses import dataclass, field
from itertools import islice
from uuid import UUID

from mf.replicated.messages import (
    MOST_AHEAD,
    MOST_CLIENTS,
    Body,
    ClientState,
    Entry,
    Head,
    Known,
    Origin,
    Outcome,
    Version,
)

_ENTRY_BYTES = 100
_MASK = 0xFFFF_FFFF_FFFF_FFFF
_PRIME = 0x9E37_79B1_85EB_CA87


def next_mark(mark: int, entry: Entry) -> int:
    """The mark behind an entry (docs/protocol.md, section 5d)."""
    version, body = entry.version, entry.body
    if body is not None:
        client = body.origin.client.bytes
        mark ^= int.from_bytes(client[:8], "little") ^ int.from_bytes(client[8:], "little")
        mark = (mark * _PRIME + body.origin.sequence + 1) & _MASK
    mark = ((mark << 31 | mark >> 33) & _MASK) ^ version.epoch
    return (mark * _PRIME + version.counter) & _MASK


@dataclass(slots=True)
class Seen:
    """One message of a client: the version that it was first applied under, and what came of it."""

    version: Version
    outcome: Outcome | None = None


@dataclass(slots=True)
class _Client:
    oldest: int = 0
    seen: dict[int, Seen] = field(default_factory=dict)


class Origins:
    """Which messages were had."""

    __slots__ = ("_clients", "_most")

    def __init__(self, most: int = MOST_CLIENTS) -> None:
        self._clients: OrderedDict[UUID, _Client] = OrderedDict()
        self._most = most

    def find(self, origin: Origin) -> Seen | None:
        client = self._clients.get(origin.client)
        return None if client is None else client.seen.get(origin.sequence)

    def is_over(self, origin: Origin) -> bool:
        """Whether the client has said that it awaits this no more."""
        client = self._clients.get(origin.client)
        return client is not None and origin.sequence < client.oldest

    def add(self, origin: Origin, version: Version) -> Seen:
        """Of an origin that was not found."""
        client = self._clients.get(origin.client)
        if client is None:
            client = self._clients[origin.client] = _Client()
            if len(self._clients) > self._most:
                self._clients.popitem(last=False)
        else:
            self._clients.move_to_end(origin.client)
        oldest = max(origin.oldest, origin.sequence - MOST_AHEAD + 1)
        if oldest > client.oldest:
            client.oldest = oldest
            for sequence in [each for each in client.seen if each < oldest]:
                del client.seen[sequence]
        made = client.seen[origin.sequence] = Seen(version)
        return made

    def copy(self) -> "Origins":
        """As of now; outcomes that come later are seen in the copy, too."""
        made = Origins(self._most)
        made._clients = OrderedDict(
            (client, _Client(each.oldest, dict(each.seen))) for client, each in self._clients.items()
        )
        return made

    def states(self) -> list[ClientState]:
        """For another replica: of messages that all have their outcomes."""
        return [
            ClientState(
                client,
                each.oldest,
                [
                    Known(sequence, seen.version, seen.outcome or Outcome())
                    for sequence, seen in each.seen.items()
                ],
            )
            for client, each in self._clients.items()
        ]

    def restore(self, states: list[ClientState]) -> None:
        self._clients = OrderedDict(
            (
                each.client,
                _Client(
                    each.oldest, {known.sequence: Seen(known.version, known.outcome) for known in each.known}
                ),
            )
            for each in states
        )


class Log:
    """At most `most` entries of at most `most_bytes` in all: the oldest go first."""

    __slots__ = ("_bytes", "_entries", "_heads", "_most", "_most_bytes", "base", "head")

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self.reset(Head())

    def reset(self, at: Head) -> None:
        """An empty log that begins behind this."""
        self.base = self.head = at
        self._entries: deque[Entry] = deque()
        self._heads: deque[Head] = deque()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._entries)

    def append(self, entry: Entry) -> None:
        """The entry whose counter is next."""
        assert entry.version.counter == self.head.version.counter + 1
        self.head = Head(entry.version, next_mark(self.head.mark, entry))
        self._entries.append(entry)
        self._heads.append(self.head)
        self._bytes += _size(entry)
        while len(self._entries) > self._most or self._bytes > self._most_bytes:
            self._bytes -= _size(self._entries.popleft())
            self.base = self._heads.popleft()

    def at(self, counter: int) -> Entry | None:
        """None: not yet, or no longer."""
        index = counter - self.base.version.counter - 1
        return self._entries[index] if 0 <= index < len(self._entries) else None

    def head_at(self, counter: int) -> Head | None:
        """How the log ended at a counter. None: not yet, or no longer known."""
        if counter == self.base.version.counter:
            return self.base
        index = counter - self.base.version.counter - 1
        return self._heads[index] if 0 <= index < len(self._heads) else None

    def after(self, counter: int, most: int, most_bytes: int) -> list[Entry]:
        """Entries behind a counter that is still known, as many as fit, and at least one if there is any."""
        begin = counter - self.base.version.counter
        found: list[Entry] = []
        for entry in islice(self._entries, begin, min(begin + most, len(self._entries))):
            most_bytes -= _size(entry)
            if found and most_bytes < 0:
                break
            found.append(entry)
        return found


def size_of(body: Body) -> int:
    """What a message costs in memory, about."""
    return _ENTRY_BYTES + len(body.payload)


def _size(entry: Entry) -> int:
    return _ENTRY_BYTES if entry.body is None else size_of(entry.body)
