"""R2. The hot part of a session: plain small frames are cut out of received bytes, or appended to the output.

These functions are the reference; where mf-runtime-native is in use, its functions of the same names take
their place (runtime/python-native/src/frames.hpp, gathering.hpp, outcomes.hpp). They stop at the first frame
or value that is not plain, and change nothing for it: the session reads on from there, so that one reader
alone refuses frames and has the words for it.

A frame is plain if it is whole, with its padding, and has at most SMALL bytes, no metadata, no more items
than a header counts, and nothing in it that a session would refuse.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple, Protocol

from mf.codec.native import native
from mf.core.error import Code
from mf.core.outcome import Outcome
from mf.protocol.frame import (
    ENCODING_MASK,
    EXTENDED_COUNT,
    HEADER,
    HEADER_SIZE,
    PADDING,
    REPLY,
    REQUEST,
    Buffer,
    pack_into,
)
from mf.protocol.large import untouched

SMALL = 4096
LAST_CODE = int(max(Code))
Guards = tuple[tuple[Any, str, Any], ...]
"""Objects, the names of attributes, and what they are unless something has happened."""
_unpack_header = HEADER.unpack_from


def replies(data: bytearray, at: int, end: int, by_id: dict[int, Any], events: list[Any]) -> int:
    """Handles consecutive plain replies in data[at:end] to requests of `by_id`, which are taken out of it.
    Appends an event for each (events.Reply), and returns the start of the rest."""
    while end - at >= HEADER_SIZE:
        size, type_, flags, route, id_, word, items = _unpack_header(data, at)
        frame_end = at + size
        next_ = at + ((size + 7) & ~7)
        if type_ != REPLY or not HEADER_SIZE <= size <= SMALL or next_ > end:
            break
        call = by_id.get(id_)
        if (
            call is None
            or call.route != route
            or call.count != items
            or flags > ENCODING_MASK
            or word > LAST_CODE
            or items == EXTENDED_COUNT
            or (next_ != frame_end and data[frame_end:next_] != PADDING[size & 7])
        ):
            break
        del by_id[id_]
        events.append((call, word, flags, data[at + HEADER_SIZE : frame_end]))
        at = next_
    return at


def requests(
    data: bytearray,
    at: int,
    end: int,
    routes: dict[int, Any],
    in_flight: set[int],
    most: int,
    events: list[Any],
) -> int:
    """Handles consecutive plain requests in data[at:end] to bound `routes`. Their ids are added to
    `in_flight`, which holds at most `most`. Appends an event for each (events.RequestReceived), and returns
    the start of the rest."""
    while end - at >= HEADER_SIZE:
        size, type_, flags, route, id_, word, items = _unpack_header(data, at)
        frame_end = at + size
        next_ = at + ((size + 7) & ~7)
        if type_ != REQUEST or not HEADER_SIZE <= size <= SMALL or next_ > end:
            break
        target = routes.get(route)
        if (
            target is None
            or not 0 < items < EXTENDED_COUNT
            or not 0 < flags <= ENCODING_MASK
            or not id_
            or id_ in in_flight
            or len(in_flight) >= most
            or (next_ != frame_end and data[frame_end:next_] != PADDING[size & 7])
        ):
            break
        in_flight.add(id_)
        events.append((target, id_, route, flags, word, items, data[at + HEADER_SIZE : frame_end], None))
        at = next_
    return at


ENDED, FULL, LOOK = range(3)
"""What `gather` returns."""


def plain_bytes(encode: Callable[[Any], Any], value: Any, longest: int) -> bytes | bytearray | None:
    """Those of a value of a stream that needs no further look; None: it has more than `longest`, or cannot be
    encoded so."""
    try:
        made = encode(value)
    except Exception:
        return None
    return made if isinstance(made, bytes | bytearray) and len(made) <= longest else None


def gather(
    given: Iterator[Any],
    encode: Callable[[Any], Any],
    values: list[Any],
    longest: int,
    room: int,
    most: int,
    guards: Guards,
) -> int | tuple[Any]:
    """Appends the bytes of values of a stream to `values` (Outgoing.values), as ElementCodec.plain encodes
    them. ENDED: `given` has no more. FULL: at least `room` bytes were appended, or `most` values. LOOK: an
    attribute of `guards` is not the object that was given, and the caller has to see why. A tuple: its value
    is not plain, since it has more than `longest` bytes or cannot be encoded so; it was not appended. Raises
    what `given` raises."""
    for value in given:
        made = plain_bytes(encode, value, longest)
        if made is None:
            return (value,)
        values.append(made)
        room -= len(made)
        most -= 1
        if room <= 0 or most <= 0:
            return FULL
        for owner, name, wanted in guards:
            if getattr(owner, name) is not wanted:
                return LOOK
    return ENDED


def outcomes(values: list[Any]) -> list[Outcome[Any]]:
    """One for each value, which is its result."""
    return [Outcome(value) for value in values]


class Append(Protocol):
    """See frame.pack_into. 0: the frame is not of the kind that is appended here, and nothing was
    appended."""

    def __call__(
        self,
        out: list[Buffer],
        type_: int,
        flags: int,
        route: int,
        id_: int,
        word: int,
        count: int,
        payload: Buffer,
        /,
    ) -> int: ...


class Replies(Protocol):
    def __call__(
        self, data: bytearray, at: int, end: int, by_id: dict[int, Any], events: list[Any], /
    ) -> int: ...


class Requests(Protocol):
    def __call__(
        self,
        data: bytearray,
        at: int,
        end: int,
        routes: dict[int, Any],
        in_flight: set[int],
        most: int,
        events: list[Any],
        /,
    ) -> int: ...


class Memory(Protocol):
    """See large.untouched."""

    def __call__(self, size: int, /) -> memoryview: ...


class Gather(Protocol):
    def __call__(
        self,
        given: Iterator[Any],
        encode: Callable[[Any], Any],
        values: list[Any],
        longest: int,
        room: int,
        most: int,
        guards: Guards,
        /,
    ) -> int | tuple[Any]: ...


class Outcomes(Protocol):
    def __call__(self, values: list[Any], /) -> list[Outcome[Any]]: ...


class Cutting(NamedTuple):
    """What sessions use."""

    replies: Replies
    requests: Requests
    append: Append
    memory: Memory
    outcomes: Outcomes
    gather: Gather


PURE = Cutting(replies, requests, pack_into, untouched, outcomes, gather)


def of_module(module: Any) -> Cutting:
    """The functions of the native module."""
    slots = Outcome.__dict__["_value"], Outcome.__dict__["error"]
    make = module.outcomes
    return Cutting(
        module.replies,
        module.requests,
        module.append,
        module.memory,
        lambda values: make(Outcome, slots, values),
        module.gather,
    )


@cache
def cutting() -> Cutting:
    """Found once in a process, when its first session begins."""
    module = native().module
    return PURE if module is None else of_module(module)
