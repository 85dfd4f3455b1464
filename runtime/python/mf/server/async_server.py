"""R5. A server on an asyncio loop, from start to drain. It starts no thread; see async_io.py."""

import os
import signal
import socket
import threading
from asyncio import AbstractEventLoop, Event, Task, create_task, get_running_loop, to_thread
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self, Unpack

from mf.core.agent import Agent
from mf.core.intercepting import Interceptors, interceptors_of
from mf.core.log import info, line
from mf.core.server_options import OfferFields, ServerOptions
from mf.core.service import AsyncServant, BaseServant, generated_base
from mf.core.source import OfferSource
from mf.server.async_io import AsyncIo
from mf.server.async_lead import AsyncLead
from mf.server.base import STOP_SIGNALS, BaseServer
from mf.server.manager import tell_manager
from mf.transport.address import Address
from mf.transport.names import addresses
from mf.transport.network import network_of
from mf.transport.sockets import Listening

if TYPE_CHECKING:
    from mf.controller.async_registrar import AsyncControllerRegistrar


class AsyncServer(BaseServer["AsyncControllerRegistrar", AsyncIo]):
    """Serves servants with `async def` on the asyncio loop that runs when it starts, and makes that known to
    a controller. Each call is a task of that loop, which is cancelled at the call's deadline, and when its
    client cancels it or disconnects; no thread is started.

        async with mf.AsyncServer("tcp://127.0.0.1:7401") as server: ...    # or: await server.serve()

    See BaseServer for the arguments; `workers` means nothing here.
    """

    def _registrar_at(self, controller: str) -> "AsyncControllerRegistrar":
        from mf.controller.async_registrar import AsyncControllerRegistrar

        return AsyncControllerRegistrar(controller, self._options.advertise, self._options.controller_tls)

    def _interceptors_of(self, options: ServerOptions) -> Interceptors | None:
        return interceptors_of(options, blocks=False, awaits=True)

    def _set_up(self) -> None:
        self._loop: AbstractEventLoop | None = None
        self._stopping = Event()
        self._stopped: Event | None = None
        self._ending: Task[None] | None = None

    def offer(
        self,
        servant: AsyncServant | OfferSource,
        agent: Agent | None = None,
        **how: Unpack[OfferFields],
    ) -> None:
        """Offers a servant, for one agent if its service is `per` agent; or the topics of this process, with
        all current and future agents of each. Also possible after start(). `how`: see OfferFields. Raises
        ValueError if the offer does not fit, TypeError for an invalid agent, or for a servant with plain
        functions, which would block the loop.
        """
        self._offer(servant, agent, True, how)

    def _check(self, servant: BaseServant) -> None:
        generated_base(servant)
        if not isinstance(servant, AsyncServant):
            text = "an AsyncServer runs `async def`: derive from the generated …AsyncServant, or use a Server"
            raise TypeError(f"{type(servant).__name__} is no servant of asyncio; {text}")

    def _health(self) -> AsyncServant:
        from mf.health.servants import AwaitedHealth

        return AwaitedHealth(self._readiness)

    def _admin(self) -> AsyncServant:
        from mf.admin.servants import AwaitedAdmin

        return AwaitedAdmin(self._taps, self._readiness, self.stop)

    def _is_stopping(self) -> bool:
        return self._stopping.is_set()

    def _offers_changed(self) -> None:
        if self._loop is not None and self._registrar is not None:
            with suppress(RuntimeError):  # the loop was closed
                self._loop.call_soon_threadsafe(self._update_registrar)

    def _update_registrar(self) -> None:
        if self._registrar is not None and not self._stopping.is_set():
            self._registrar.update()

    def lead(self, servant: type[AsyncServant], agent: Agent | None = None) -> AsyncLead:
        """A candidacy for the lead of the service of `servant`, its generated class, and an agent, of all
        processes that ask for it: `async with`
        waits until this process leads. See AsyncLead. The first of this server's controllers decides. To be
        called after start(). Raises ValueError for a server without a controller.
        """
        lead: AsyncLead = self._lead(servant, agent)
        return lead

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
        try:
            self._open_monitor()
        except OSError:
            for each in listening:
                each.close()
            raise
        self._addresses = [str(each.address) for each in listening]
        self._loop = get_running_loop()
        self._io = AsyncIo(self._loop, listening, self._offers, self._hello, self._load, self._access)
        self._io.watch_files(self._files)
        self._log_started()
        if self._registrar is not None:
            self._registrar.register(self._identity, self.addresses, self._offers.made_known)

    async def serve(self) -> bool:
        """Starts if necessary, and serves until SIGTERM, SIGINT, stop(), or the cancellation of its task;
        then finishes running calls. A second signal ends the program at once. SIGHUP is reload(). Returns
        what stop() returns. Raises OSError as start() does."""
        if self._io is None:
            await self.start()
        before = self._catch_signals()
        try:
            tell_manager("READY=1")
            await self._stopping.wait()
        finally:
            tell_manager("STOPPING=1")
            try:
                whole = await self.stop()
            finally:
                self._restore_signals(before)
        return whole

    async def stop(self) -> bool:
        """Withdraws the offers, notifies clients, finishes running calls (within `drain_timeout` seconds),
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
        self._readiness.stop()
        info("%s", line("draining"))
        try:
            if self._registrar is not None:
                await self._registrar.deregister(min(self._options.drain_timeout, 2.0))
        finally:
            try:
                await self._io.drain(self._options.drain_timeout)
                self._log_stopped(not self._io.cut)
            finally:
                if self._monitor is not None:
                    await to_thread(self._close_monitor)
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
        before: dict[int, Any] = {each: signal.getsignal(each) for each in (*STOP_SIGNALS, signal.SIGHUP)}
        for number in STOP_SIGNALS:
            loop.add_signal_handler(number, self._signalled, number)
        loop.add_signal_handler(signal.SIGHUP, self._reload_signalled)
        return before

    def _reload_signalled(self) -> None:
        tell_manager("RELOADING=1")
        self.reload()
        tell_manager("READY=1")

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


async def _looked_up(address: Address) -> tuple[Any, ...] | None:
    """The result of getaddrinfo for it; None for a path."""
    if address.local or address.in_memory:
        return None
    try:
        return (await addresses(address.host, address.port, socket.AI_PASSIVE))[0]
    except OSError as failed:
        raise OSError(f"cannot listen on {address}: {failed.strerror or failed}") from None
