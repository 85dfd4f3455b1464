"""R3. Connects on an asyncio loop, without a thread except for host names (names.py). A task that is
cancelled while it connects closes its sockets.
"""

import errno
import os
import socket
from asyncio import FIRST_COMPLETED, AbstractEventLoop, Task, get_running_loop, sleep, wait
from typing import Any

from mf.core.gate import LoopGate
from mf.core.options import INFINITE
from mf.transport import memory_port, tcp
from mf.transport.address import Address
from mf.transport.names import addresses
from mf.transport.network import network_of
from mf.transport.sockets import Dialer
from mf.transport.stream import SocketStream, Stream

_STAGGER = 0.25
"""Seconds before the next address of a host is tried in parallel with those that have not answered."""

_QUEUE_IS_FULL = 0.01
"""Seconds until a unix socket whose listener's queue is full is tried again."""


class Progress:
    """The progress of an attempt, for callers that give it up."""

    __slots__ = ("is_shaking_hands",)

    def __init__(self) -> None:
        self.is_shaking_hands = False

    def too_late(self) -> OSError:
        if self.is_shaking_hands:
            from mf.transport.tls_stream import handshake_took_too_long

            return handshake_took_too_long()
        return TimeoutError(tcp.NO_ANSWER)


async def connect(dialer: Dialer, address: Address, progress: Progress) -> Stream:
    """Has no time limit: the caller must have one. Raises OSError if no server can be reached."""
    network = network_of(get_running_loop())
    if network is not None:
        return await network.connect(address)
    if address.in_memory:
        return memory_port.connect(address, blocking=False)
    if address.local:
        return SocketStream(await _socket(socket.AF_UNIX, address.host), str(address), blocking=False)
    connected = await _connect_any(await addresses(address.host, address.port))
    try:
        stream = tcp.stream_over(connected, address)
    except OSError:
        connected.close()
        raise
    connected.setblocking(False)
    if address.scheme != "tls":
        return stream
    progress.is_shaking_hands = True
    return await _over_tls(dialer, stream, address)


async def _connect_any(found: list[tuple[Any, ...]]) -> socket.socket:
    """Connects to the first address that answers: the next one is tried when the previous one has failed, or
    in parallel if it was silent for a moment."""
    if len(found) == 1:
        return await _socket(found[0][0], found[0][4])
    loop = get_running_loop()
    left = list(found)
    trying: set[Task[socket.socket]] = set()
    failed: OSError | None = None
    try:
        while left or trying:
            if left:
                family, _, _, _, where = left.pop(0)
                trying.add(loop.create_task(_socket(family, where)))
            done, trying = await wait(trying, timeout=_STAGGER if left else None, return_when=FIRST_COMPLETED)
            for each in done:
                try:
                    connected = each.result()
                except OSError as error:
                    failed = failed or error
                else:
                    for other in done - {each}:
                        trying.add(other)
                    return connected
    finally:
        for each in trying:
            _drop(each)
    raise failed or OSError("the host has no address")


def _drop(attempt: "Task[socket.socket]") -> None:
    """Another attempt was faster, or the connection is not wanted any more."""
    attempt.cancel()
    attempt.add_done_callback(_close_late)


def _close_late(attempt: "Task[socket.socket]") -> None:
    if not attempt.cancelled() and attempt.exception() is None:
        attempt.result().close()


async def _socket(family: int, where: Any) -> socket.socket:
    """A connected non-blocking socket."""
    loop = get_running_loop()
    connecting = socket.socket(family, socket.SOCK_STREAM)
    try:
        connecting.setblocking(False)
        error = connecting.connect_ex(where)
        while error == errno.EAGAIN:
            await sleep(_QUEUE_IS_FULL)
            error = connecting.connect_ex(where)
        if error == errno.EINPROGRESS:
            await _ready(loop, connecting.fileno(), write=True)
            error = connecting.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if error:
            raise OSError(error, os.strerror(error))
    except BaseException:
        connecting.close()
        raise
    return connecting


async def _over_tls(dialer: Dialer, stream: SocketStream, address: Address) -> Stream:
    from mf.transport.tls_stream import client_end

    secured = client_end(stream, dialer.tls_context(), address)
    loop = get_running_loop()
    try:
        while not secured.goes_on_shaking():
            await _ready(loop, secured.fileno(), write=False)
    except BaseException:
        secured.close()
        raise
    return secured


async def _ready(loop: AbstractEventLoop, descriptor: int, *, write: bool) -> None:
    """Waits until the descriptor is readable, or writable."""
    gate = LoopGate()
    add, remove = (loop.add_writer, loop.remove_writer) if write else (loop.add_reader, loop.remove_reader)
    add(descriptor, gate.open_here)
    try:
        await gate.wait(INFINITE)
    finally:
        remove(descriptor)
