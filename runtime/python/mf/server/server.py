"""R5. A server of plain functions, from start to drain. One IO thread, a few workers; see io.py and
workers.py.
"""

import os
import signal
import threading
from typing import TYPE_CHECKING, Any, Unpack

from mf.core.agent import Agent
from mf.core.intercepting import Interceptors, interceptors_of
from mf.core.log import info, line
from mf.core.server_options import OfferFields, ServerOptions
from mf.core.service import AsyncServant, BaseServant, Servant, is_async
from mf.core.source import OfferSource
from mf.server.base import STOP_SIGNALS, BaseServer
from mf.server.dispatch import run, run_stream
from mf.server.io import IoThread
from mf.server.lead import Lead
from mf.server.manager import tell_manager
from mf.server.offer import handlers_of
from mf.server.wakeups import Wakeups
from mf.server.workers import StreamThreads, Workers
from mf.transport.sockets import Listening

if TYPE_CHECKING:
    from mf.controller.registrar import ControllerRegistrar


class Server(BaseServer["ControllerRegistrar", IoThread]):
    """Serves servants with plain functions, and makes that known to a controller. See BaseServer for the
    arguments.
    """

    def _registrar_at(self, controller: str) -> "ControllerRegistrar":
        from mf.controller.registrar import ControllerRegistrar

        return ControllerRegistrar(controller, self._options.advertise, self._options.controller_tls)

    def _interceptors_of(self, options: ServerOptions) -> Interceptors | None:
        return interceptors_of(options, blocks=True, awaits=False)

    def _set_up(self) -> None:
        self._make_threads()
        self._stop_lock = threading.Lock()
        self._wakeups: Wakeups | None = None  # within run()
        self._ends = self._must_reload = self._stops = False
        self._signals_before: dict[int, Any] = {}

    def _health(self) -> Servant:
        from mf.health.servants import PlainHealth

        return PlainHealth(self._readiness)

    def _admin(self) -> Servant:
        from mf.admin.servants import PlainAdmin

        return PlainAdmin(self._taps, self._readiness, self.stop)

    def _is_stopping(self) -> bool:
        return self._stops

    def _make_threads(self) -> None:
        self._workers = Workers(self._options.workers, run)
        self._streams = StreamThreads(run_stream)

    def offer(
        self,
        servant: Servant | OfferSource,
        agent: Agent | None = None,
        *,
        inline: bool = False,
        **how: Unpack[OfferFields],
    ) -> None:
        """Offers a servant, for one agent if its service is `per` agent; or the topics of this process, with
        all current and future agents of each. Also possible after start(). `how`: see OfferFields.

        `inline`: its handlers run on the IO thread where the request was read, if it has at most 4 KiB: that
        is fast, but delays all other work while they run. Requests may still run on several threads at once.
        Raises ValueError if the offer does not fit, TypeError for an invalid agent, or for a servant with
        `async def`.
        """
        self._offer(servant, agent, inline, how)

    def _check(self, servant: BaseServant) -> None:
        if isinstance(servant, AsyncServant) or any(map(is_async, handlers_of(servant))):
            name = type(servant).__name__
            raise TypeError(f"{name} has functions with `async def`: an mf.AsyncServer runs these")

    def _offers_changed(self) -> None:
        if self._io is not None and self._registrar is not None:
            self._registrar.update()

    def lead(self, servant: type[Servant], agent: Agent | None = None) -> Lead:
        """A candidacy for the lead of the service of `servant`, its generated class, and an agent, of all
        processes that ask for it: `with` waits
        until this process leads. See Lead. The first of this server's controllers decides. To be called after
        start(). Raises ValueError for a server without a controller.
        """
        lead: Lead = self._lead(servant, agent)
        return lead

    def start(self) -> None:
        """Listens and serves in the background. Raises OSError, in one sentence, if it cannot listen at an
        address.
        """
        if self._io is not None:
            raise ValueError("the server was started already")
        listening: list[Listening] = []
        try:
            for address in self._listen:
                listening.append(Listening(address, self._tls))
        except OSError:
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
        self._io = IoThread(
            listening,
            self._offers,
            self._hello,
            self._load,
            self._access,
            self._workers,
            self._streams,
        )
        self._io.watch_files(self._files)
        self._io.thread.start()
        self._log_started()
        if self._registrar is not None:
            self._registrar.register(self._identity, self.addresses, self._offers.made_known)

    def run(self) -> bool:
        """Serves until SIGTERM, SIGINT or stop(), then finishes running calls. A second signal ends the
        process at once. SIGHUP is reload(). Returns what stop() returns:
        `sys.exit(0 if server.run() else mf.CALLS_CUT)`.

        Ends the program with one sentence if it cannot listen at an address.
        """
        if self._io is None:
            try:
                self.start()
            except OSError as failed:
                raise SystemExit(str(failed.args[-1])) from None
        self._wakeups = Wakeups(signals=threading.current_thread() is threading.main_thread())
        self._signals_before = self._catch_signals()
        try:
            tell_manager("READY=1")
            while self._wait_for_signal(self._wakeups):
                tell_manager("RELOADING=1")
                self.reload()
                tell_manager("READY=1")
        finally:
            tell_manager("STOPPING=1")
            self._restore_signals(final=False)
            whole = self.stop()
            self._restore_signals(final=True)
            wakeups, self._wakeups = self._wakeups, None
            if wakeups is not None:
                wakeups.close()
        return whole

    def stop(self) -> bool:
        """Withdraws the offers, notifies clients, finishes running calls (within `drain_timeout` seconds),
        and closes. False if that time was not enough, so that calls were cut, which the log counts by method
        (`calls_cut`). In a handler of this server it returns at once, True, and the server stops when the
        handler has ended, or after `drain_timeout`.
        """
        self._end_run()
        io = self._io
        if io is not None and io.is_here():
            threading.Thread(target=self._stop, name="mf-stop", daemon=True).start()
            return True
        return self._stop()

    def _stop(self) -> bool:
        with self._stop_lock:
            io = self._io
            if io is None or not io.thread.is_alive():
                return io is None or not io.cut
            self._stops = True
            self._readiness.stop()
            info("%s", line("draining"))
            if self._registrar is not None:
                self._registrar.deregister(min(self._options.drain_timeout, 2.0))
            io.drain(self._options.drain_timeout)
            io.thread.join(self._options.drain_timeout + 5.0)
            self._workers.stop(0.1)
            self._close_monitor()
            self._log_stopped(not io.cut)
            return not io.cut

    def __enter__(self) -> "Server":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    # Signals. Handlers only release a lock, since they may interrupt any code.

    def _end_run(self) -> None:
        self._ends = True
        wakeups = self._wakeups
        if wakeups is not None:
            wakeups.wake()

    def _wait_for_signal(self, wakeups: Wakeups) -> bool:
        """True: for SIGHUP. False: run() ends."""
        while not self._ends:
            if self._must_reload:
                self._must_reload = False
                return True
            wakeups.wait()
        return False

    def _catch_signals(self) -> dict[int, Any]:
        if threading.current_thread() is not threading.main_thread():
            return {}

        def stop(*_: object) -> None:
            self._ends = True

        def reload(*_: object) -> None:
            self._must_reload = True

        handlers = {signal.SIGHUP: reload, **dict.fromkeys(STOP_SIGNALS, stop)}
        return {number: signal.signal(number, handler) for number, handler in handlers.items()}

    def _restore_signals(self, *, final: bool) -> None:
        for number, handler in self._signals_before.items():
            if final:
                signal.signal(number, handler)
            elif number in STOP_SIGNALS:
                signal.signal(number, _end_now)

    def after_fork(self) -> None:
        """Signals have their effects from before run(), too."""
        self._restore_signals(final=True)
        self._signals_before = {}
        wakeups, self._wakeups = self._wakeups, None
        if wakeups is not None:
            wakeups.after_fork()
        self._ends = self._must_reload = False
        self._make_threads()
        self._stop_lock = threading.Lock()
        super().after_fork()


def _end_now(number: int, _: object) -> None:
    os._exit(128 + number)
