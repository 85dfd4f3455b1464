"""R7. The watches of one client: a stream for each service that it uses (views.py), over one connection, on
one asyncio loop. resolver.py and async_resolver.py use it.

One task checks whether a controller answers; the tasks of services wait for that, and resume their
interrupted streams at any controller.
"""

from asyncio import AbstractEventLoop, Event, Task, TimerHandle, get_running_loop, wait
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any

from mf.client.standing import StandingCall
from mf.controller.connection import (
    WITHOUT_END,
    ControllerConnection,
    final_code,
    first_of,
    is_over_tls,
    unanswered,
)
from mf.controller.views import Watched, all_of
from mf.core.code_class import GOES_AWAY
from mf.core.error import Code, Error
from mf.core.log import info, line, quote, warning
from mf.link.background import spawn
from mf.route.resolver import View
from mf.transport.address import Address

if TYPE_CHECKING:
    from mf.core.secret import Secret
    from mf.core.tls import Tls

_DEAD_AFTER = 100.0
"""After so many seconds in which a controller sends nothing, not even the answer to a ping, it is given
up."""
_MOST_SKIPPED = 1024


class Watcher:
    """On the running loop. `tell(service, view)` is called there with each new view."""

    __slots__ = (
        "_answers",
        "_code",
        "_connection",
        "_doubted",
        "_loop",
        "_over_tls",
        "_skipped",
        "_tasks",
        "_tell",
        "_timers",
        "_trouble",
        "_watched",
        "_where",
        "client_id",
        "unanswered",
    )

    def __init__(
        self,
        controllers: list[Address],
        tell: Callable[[str, View], None],
        tls: "Tls | None" = None,
        credential: "Secret | str | None" = None,
    ) -> None:
        self._loop: AbstractEventLoop = get_running_loop()
        self._connection = ControllerConnection(controllers, _DEAD_AFTER, tls, credential)
        self._where = ", ".join(map(str, controllers))
        self._tell = tell
        self._over_tls = is_over_tls(controllers, tls, credential)
        self._skipped: set[str] = set()  # addresses that the log names already
        self.unanswered = unanswered(controllers)
        self._trouble = ""
        self._code = Code.UNAVAILABLE
        self._answers = Event()
        self._doubted = Event()
        self._watched: dict[str, Watched] = {}
        self._timers: dict[str, TimerHandle] = {}
        self._tasks: list[Task[None]] = []
        self.client_id = 0
        """This client's id, assigned by a controller; 0: none has answered yet."""

    def watch(self, service: str) -> None:
        """Starts to watch the service."""
        if not self._tasks:
            self._tasks.append(spawn(self._stay_connected()))
        watched = self._watched[service] = Watched(self.unanswered, over_tls=self._over_tls)
        if self._trouble:
            watched.lost(self._trouble, self._code)
            self._tell(service, watched.view)
        self._tasks.append(spawn(self._watch(service, watched)))

    def reload(self) -> bool:
        """See Client.reload."""
        return self._connection.reload()

    def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        for timer in self._timers.values():
            timer.cancel()

    async def closed(self) -> None:
        """After `close`: returns when nothing of it runs any more."""
        if self._tasks:
            await wait(self._tasks)
        self._tasks.clear()
        await self._connection.close()

    async def end(self) -> None:
        self.close()
        await self.closed()

    def after_fork(self) -> None:
        self._connection.after_fork()

    # Whether a controller answers

    async def _stay_connected(self) -> None:
        standing = StandingCall()

        async def session() -> None:
            """Returns when it is doubtful whether the controller still answers."""
            await self._greet(patiently=bool(self._trouble))
            standing.answered()
            if self._trouble:
                info("the controller at %s answers again", self._where)
                self._trouble = ""
            self._answers.set()
            await self._doubted.wait()
            self._doubted.clear()

        def goes_on(ended: Exception | None) -> bool:
            if ended is not None:
                self._lost(self._connection.trouble(ended), final_code(ended))
            return True

        await standing.keep(session, goes_on)

    async def _greet(self, *, patiently: bool) -> None:
        if self.client_id:
            await self._connection.greet(patiently=patiently)
        else:
            self.client_id = await self._connection.new_client(patiently=patiently)

    def _lost(self, trouble: str, code: Code) -> None:
        if not self._trouble:  # one line for each loss, not for each attempt
            warning("%s; trying on", quote(trouble))
        self._trouble, self._code = trouble, code
        for service, watched in self._watched.items():
            if watched.lost(trouble, code):
                self._tell(service, watched.view)

    # One service

    async def _watch(self, service: str, watched: Watched) -> None:
        standing = StandingCall()

        async def session() -> None:
            await self._answers.wait()
            await self._follow(service, watched, standing)

        def goes_on(ended: Exception | None) -> bool:
            if ended is not None and (not isinstance(ended, Error) or ended.code not in GOES_AWAY):
                self._failed(service, watched, self._connection.trouble(ended))
            self._answers.clear()
            self._doubted.set()
            return True

        await standing.keep(session, goes_on)

    async def _follow(self, service: str, watched: Watched, standing: StandingCall) -> None:
        """Returns when the stream has ended."""
        watched.begins()
        stream = self._connection.stub.watch(
            all_of(service), watched.run, watched.revision, options=WITHOUT_END
        )
        async with stream:
            if not watched.view.reached:
                self._take(service, watched, await first_of(stream))
            async for change in stream:
                standing.answered()
                self._take(service, watched, change)

    def _take(self, service: str, watched: Watched, change: Any) -> None:
        if watched.takes(change, monotonic()):
            self._tell(service, watched.view)
        if watched.skipped or watched.unreadable:
            self._log_skipped(watched)
        if watched.old_until and service not in self._timers:
            self._forget_later(service, watched)

    def _log_skipped(self, watched: Watched) -> None:
        """Logs each skipped address once."""
        skipped, watched.skipped = watched.skipped, {}
        unreadable, watched.unreadable = watched.unreadable, {}
        for address, reason in unreadable.items():
            if self._is_new(address):
                warning("%s", line("address_unreadable", controller=self._where, reason=reason))
        for address in skipped:
            if address not in unreadable and self._is_new(address):
                meaning = "this client has TLS, and does not use it"
                fields = {"controller": self._where, "address": address, "meaning": meaning}
                warning("%s", line("address_in_clear", **fields))

    def _is_new(self, address: str) -> bool:
        """Whether the log has not named this address yet."""
        if len(self._skipped) >= _MOST_SKIPPED:
            self._skipped.clear()
        is_new = address not in self._skipped
        self._skipped.add(address)
        return is_new

    def _forget_later(self, service: str, watched: Watched) -> None:
        left = max(watched.old_until - monotonic(), 0.0) + 0.001
        self._timers[service] = self._loop.call_later(left, self._forget, service, watched)

    def _forget(self, service: str, watched: Watched) -> None:
        del self._timers[service]
        if watched.forgets(monotonic()):
            self._tell(service, watched.view)
        if watched.old_until:
            self._forget_later(service, watched)

    def _failed(self, service: str, watched: Watched, trouble: str) -> None:
        if watched.lost(trouble):
            warning("%s; trying on", quote(trouble))
            self._tell(service, watched.view)
