"""R2. The hot part of a session: plain small frames are cut out of received bytes, or appended to the output.

These functions are the reference; where mf-runtime-native is in use, its functions of the same names take
their place (runtime/python-native/src/frames.hpp, outcomes.hpp). They stop at the first frame that is not
plain, and change nothing for it: the session reads on from there, so that one reader alone refuses frames and
has the words for it.

A frame is plain if it is whole, with its padding, and has at most SMALL bytes, no metadata, no more items
than a header counts, and nothing in it that a session would refuse.
"""

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


class Outcomes(Protocol):
    def __call__(self, values: list[Any], /) -> list[Outcome[Any]]: ...


class Cutting(NamedTuple):
    """What sessions use."""

    replies: Replies
    requests: Requests
    append: Append
    memory: Memory
    outcomes: Outcomes


PURE = Cutting(replies, requests, pack_into, untouched, outcomes)


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
    )


@cache
def cutting() -> Cutting:
    """Found once in a process, when its first session begins."""
    module = native().module
    return PURE if module is None else of_module(module)
