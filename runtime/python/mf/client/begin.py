"""R5. Creates calls: with deadline, metadata and payload. It is the only place that encodes requests.

A call that a handler makes inherits the remaining deadline of that handler, its trace context, and the keys
that the client forwards.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

from mf.core.current import current
from mf.core.error import Error
from mf.core.metadata import passed_on
from mf.core.options import DEFAULT_DEADLINE, INFINITE, CallOptions, check_options
from mf.core.service import Method
from mf.protocol.call import Call
from mf.protocol.frame import BULK, METADATA, ONEWAY, STREAM, pack_deadline
from mf.protocol.metadata import pack_metadata
from mf.protocol.stream_call import StreamCall
from mf.route.routing import Routing

T = TypeVar("T")
C = TypeVar("C", bound=Call[Any])

_DEFAULT_WORD = pack_deadline(DEFAULT_DEADLINE)


def seconds_of(method: Method[Any, Any], options: CallOptions | None) -> float:
    """The timeout of a call in seconds: the caller's, else the schema's, else 30."""
    if options is not None and options.deadline is not None:
        return options.deadline
    return method.deadline or DEFAULT_DEADLINE


def deadline_of(method: Method[Any, Any], options: CallOptions | None, now: float) -> float:
    deadline = now + seconds_of(method, options)
    outer = current.get()
    return deadline if outer is None else min(deadline, outer.deadline)


def metadata_of(router: Routing[Any, Any], options: CallOptions | None) -> bytes:
    """The block that precedes a request; empty: none. Raises Error, NOT_EXECUTED."""
    outer = current.get()
    entries = passed_on(outer.metadata, router.forward_metadata) if outer is not None else {}
    check_options(options)
    if options is not None and options.metadata:
        entries = {**entries, **options.metadata}
    return pack_metadata(entries) if entries else b""


def begin(
    router: Routing[Any, Any],
    method: Method[Any, T],
    options: CallOptions | None,
    arguments: tuple[Any, ...],
    now: float,
) -> Call[T]:
    """A call of one item, not sent yet. Raises Error, NOT_EXECUTED, for values that cannot be encoded."""
    body = method.encode_request(*arguments)
    flags = method.request_encoding
    if method.oneway:
        flags |= ONEWAY
    if options is None and current.get() is None:  # most calls
        seconds = method.deadline
        if not seconds:
            return Call(method, now + DEFAULT_DEADLINE, router.budget, flags, body, _DEFAULT_WORD)
        return Call(method, now + seconds, router.budget, flags, body, pack_deadline(seconds))
    block = metadata_of(router, options)
    if block:
        flags |= METADATA
        body = block + body
    method = decoding(method, options)
    deadline = deadline_of(method, options, now)
    call = Call(method, deadline, router.budget, flags, body, pack_deadline(max(deadline - now, 0.0)))
    return _noted(options, call)


def begin_bulk(
    router: Routing[Any, Any],
    method: Method[Any, T],
    options: CallOptions | None,
    requests: Sequence[Any],
    now: float,
) -> Call[T]:
    """A call with all requests in one message."""
    block = metadata_of(router, options)
    body = block + method.encode_requests(requests)
    flags = method.request_encoding | BULK | (ONEWAY if method.oneway else 0) | (METADATA if block else 0)
    call = Call(decoding(method, options), deadline_of(method, options, now), router.budget, flags, body)
    call.items = len(requests)
    if method.ordered:
        call.in_order = True
    return _noted(options, call)


def begin_stream(
    router: Routing[Any, Any],
    method: Method[Any, T],
    options: CallOptions | None,
    arguments: tuple[Any, ...],
    now: float,
) -> StreamCall[T]:
    block = metadata_of(router, options)
    body = block + method.encode_request(*arguments)
    flags = method.request_encoding | STREAM | (METADATA if block else 0)
    deadline = deadline_of(method, options, now)
    return _noted(options, StreamCall(decoding(method, options), deadline, router.budget, flags, body))


def decoding(method: Method[Any, T], options: CallOptions | None) -> Method[Any, T]:
    """The method as a caller with these options has its results decoded."""
    return method.with_arrays() if options is not None and options.arrays else method


def _noted(options: CallOptions | None, call: C) -> C:
    """Adds the call to those of its options, if these are collected."""
    if options is not None and options.calls is not None:
        options.calls.append(call)
    return call


def idle_of(options: CallOptions | None) -> float:
    return INFINITE if options is None else options.idle


def give_metadata(options: CallOptions | None, metadata: dict[str, str] | Error | None) -> None:
    """Passes the metadata of a reply to a caller that asked for it."""
    if options is not None and options.reply_metadata is not None and isinstance(metadata, dict):
        options.reply_metadata.update(metadata)
