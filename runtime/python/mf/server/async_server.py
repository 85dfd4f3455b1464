"""R5. A server on an asyncio loop, from start to drain. It starts no thread; see async_io.py."""

import os
import signal
import socket
import threading
from asyncio import AbstractEventLoop, Event, Task, create_task, get_running_loop
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self, Unpack

from mf.core.agent import Agent
from mf.core.offered import offered_agent
from mf.core.server_options import DEFAULTS, Limit, ServerFields, ServerOptions, checked
from mf.core.service import AsyncServant, generated_base
from mf.core.source import OfferSource
from mf.link import fork
from mf.server.async_io import AsyncIo
from mf.server.async_lead import AsyncLead
from mf.server.base import BaseServer, stop_signals
from mf.server.offer import Announced
from mf.transport.address import Address
from mf.transport.names import addresses
from mf.transport.network import network_of
from mf.transport.sockets import Listening
from mf.transport.stream import SocketStream

if TYPE_CHECKING:
    from mf.controller.async_registrar import AsyncControllerRegistrar


class AsyncServer(BaseServer):
    """Serves servants with `async def` on the asyncio loop that runs when it starts, and makes that known to
    a controller. Each call is a task of that loop, which is cancelled at the call's deadline, and when its
    client cancels it or disconnects; no thread is started.

        async with mf.AsyncServer("tcp://127.0.0.1:7401") as server: ...    # or: await server.serve()

    `listen`, `controller` and the options are those of Server, but `workers`.
    """

    def __init__(
        self,
        listen: str = "tcp://127.0.0.1:0",
        controller: str | None = None,
        options: ServerOptions = DEFAULTS,
        **changes: Unpack[ServerFields],
    ) -> None:
        options = checked(options, **changes)
        super().__init__(listen, options)
        self._registrar = None if controller is None else _registrar_at(controller, options)
        self._offers.registered = controller is not None
        self._io: AsyncIo | None = None
        self._loop: AbstractEventLoop | None = None
        self._stopping = Event()
        self._stopped: Event | None = None
        self._ending: Task[None] | None = None
        fork.register(self)

    def offer(
        self,
        servant: AsyncServant | OfferSource,
        agent: Agent | None = None,
        *,
        limits: Mapping[str, Limit] | None = None,
        weight: int = 1,
        labels: Mapping[str, str] | None = None,
        alone: bool = False,
    ) -> None:
        """Offers a servant, for one agent if its service is `per` agent; or the topics of this process, with
        all current and future agents of each. Also possible after start().

        `limits`: those of methods, by their names in the schema: {"look_up": mf.Limit(8)}. A controller tells
        clients the relative capacity of the server (`weight`), shows `labels` to tools, and warns if another
        server offers the same although this one wants to be `alone`. Raises ValueError if the offer does not
        fit, TypeError for an invalid agent, or for a servant with plain functions, which would block the
        loop.
        """
        announced = Announced(weight, labels or {}, alone)
        if isinstance(servant, OfferSource):
            self._offer_source(servant, announced)
            self._offers_changed()
            return
        generated_base(servant)
        is_async: bool = isinstance(servant, AsyncServant)
        if not is_async:  # type checkers detect it, too
            text = "an AsyncServer runs `async def`: derive from the generated …AsyncServant, or use a Server"
            raise TypeError(f"{type(servant).__name__} is no servant of asyncio; {text}")
        self._offers.add(servant, agent, False, limits, announced)
        self._offers_changed()

    def _offers_changed(self) -> None:
        if self._loop is not None and self._registrar is not None:
            with suppress(RuntimeError):  # the loop was closed
                self._loop.call_soon_threadsafe(self._update_registrar)

    def _update_registrar(self) -> None:
        if self._registrar is not None and not self._stopping.is_set():
            self._registrar.update()

    def withdraw(self, servant: AsyncServant, agent: Agent | None = None) -> None:
        """Withdraws one offer: controllers are told, and it cannot be bound any more. Running calls continue,
        as do calls of clients that have bound it. Raises ValueError for what is not offered."""
        service = servant.mf_service
        self._offers.remove(service.name, offered_agent(service, agent))
        self._offers_changed()

    def lead(self, servant: type[AsyncServant], agent: Agent | None = None) -> AsyncLead:
        """A candidacy for the lead of a service and agent, of all processes that ask for it: `async with`
        waits until this process leads. See AsyncLead. The first of this server's controllers decides. To be
        called after start(). Raises ValueError for a server without a controller.
        """
        named = self._lead(servant, agent)
        assert self._registrar is not None
        return self._registrar.lead(*named)

    async def start(self) -> None:
        """Listens, and serves from now on. Raises OSError, in one sentence, if it cannot listen at an
        address."""
        if self._io is not None:
            raise ValueError("the server was started already")
        network = network_of(get_running_loop())
        listening: list[Listening] = []
        try:
            for address in self._listen:
                if network is not None:
                    listening.append(network.listen(address))
                else:
                    listening.append(Listening(address, self._tls, await _looked_up(address)))
        except BaseException:
            for each in listening:
                each.close()
            raise
        self._addresses = [str(each.address) for each in listening]
        self._loop = get_running_loop()
        self._io = AsyncIo(self._loop, listening, self._offers, self._hello, self._load)
        if self._registrar is not None:
            self._registrar.register(self._identity, self.addresses, self._offers.made_known)

    def adopt(self, connected: socket.socket) -> None:
        """Serves one connected socket, which the server owns from now on. After start()."""
        if self._io is None:
            raise ValueError("start the server first")
        self._io.adopt(SocketStream(connected, "local", blocking=False))

    async def serve(self) -> bool:
        """Starts if necessary, and serves until SIGTERM, SIGINT, SIGHUP, stop(), or the cancellation of its
        task; then finishes running calls. A second signal ends the program at once. Returns what stop()
        returns. Raises OSError as start() does."""
        if self._io is None:
            await self.start()
        before = self._catch_signals()
        try:
            await self._stopping.wait()
        finally:
            try:
                whole = await self.stop()
            finally:
                self._restore_signals(before)
        return whole

    async def stop(self) -> bool:
        """Withdraws the offers, tells the clients, finishes running calls (within `drain_timeout` seconds),
        and closes. When it returns, nothing of the server runs any more. May be called twice. False if calls
        were cut, as for mf.Server. In a handler of this server it returns at once, True, and the server stops
        when the handler has ended."""
        self._stopping.set()
        if self._io is None:
            return True
        if self._io.is_here():
            self._ending = create_task(self._stop())
            return True
        await self._stop()
        return not self._io.cut

    async def _stop(self) -> None:
        assert self._io is not None
        if self._stopped is not None:
            await self._stopped.wait()
            return
        self._stopped = Event()
        try:
            if self._registrar is not None:
                await self._registrar.deregister(min(self._options.drain_timeout, 2.0))
        finally:
            try:
                await self._io.drain(self._options.drain_timeout)
            finally:
                self._stopped.set()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    # Signals

    def _catch_signals(self) -> dict[int, Any]:
        if threading.current_thread() is not threading.main_thread():
            return {}
        loop = get_running_loop()
        before: dict[int, Any] = {each: signal.getsignal(each) for each in stop_signals()}
        for number in before:
            loop.add_signal_handler(number, self._signalled, number)
        return before

    def _signalled(self, number: int) -> None:
        if self._stopping.is_set():
            os._exit(128 + number)
        self._stopping.set()

    @staticmethod
    def _restore_signals(before: dict[int, Any]) -> None:
        loop = get_running_loop()
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)

    def after_fork(self) -> None:
        """In a child nothing is served."""
        self._become_another()
        if self._registrar is not None:
            self._registrar.after_fork()
        if self._io is not None:
            self._io.after_fork()
            self._io = None


def _registrar_at(controller: str, options: ServerOptions) -> "AsyncControllerRegistrar":
    from mf.controller.async_registrar import AsyncControllerRegistrar  # as in server.py

    return AsyncControllerRegistrar(controller, options.advertise, options.controller_tls)


async def _looked_up(address: Address) -> tuple[Any, ...] | None:
    """The result of getaddrinfo for it; None for a path."""
    if address.local or address.in_memory:
        return None
    try:
        return (await addresses(address.host, address.port, socket.AI_PASSIVE))[0]
    except OSError as failed:
        raise OSError(f"cannot listen on {address}: {failed.strerror or failed}") from None
