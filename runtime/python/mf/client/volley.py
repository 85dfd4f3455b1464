"""R5. Very many single calls from one task of asyncio, for tools that make load: each is a request of its
own, and none has a task or a future. Many are in flight together, and all that are due at one time are
written at once.

    volley = Volley(ended, most_open=256, seconds=30.0)
    await volley.fire((moment, Shot(target, method, arguments, what)) for …)
"""

from asyncio import Task, ensure_future, gather, sleep
from collections.abc import Callable, Coroutine, Iterable
from math import inf
from time import monotonic
from typing import Any

from mf.client.async_target import AsyncRemoteTarget
from mf.client.driving import find, go_on, run
from mf.core.error import DeclaredError, Error, cancelled_by_caller
from mf.core.gate import LoopGate
from mf.core.service import Method
from mf.core.target import AsyncTarget
from mf.protocol.call import Call
from mf.protocol.call_table import ENDED, RESOLVE, CallEvent
from mf.protocol.frame import ONEWAY, pack_deadline
from mf.protocol.reply import OK
from mf.route.finder import Route

_RUN = 256
"""After so many shots the loop has a turn."""


class Shot(Call[Any]):
    """One call. `what`: the caller's own. `due`: the time.monotonic() at which it was to begin. `missed`: the
    failure of a request that cannot be encoded; such a call is not sent."""

    due = 0.0
    sent = 0.0
    missed: Error | None = None
    path: Route[Any] | None = None
    """That of the first attempt."""

    def __init__(
        self, target: AsyncTarget, method: Method[Any, Any], arguments: tuple[Any, ...], what: Any
    ) -> None:
        """Encodes the arguments. Raises TypeError for the target of a client with interceptors, or of a
        Light."""
        if not isinstance(target, AsyncRemoteTarget):
            raise TypeError("a shot is sent over a connection, and passes no interceptors")
        body: Any = b""
        try:
            body = method.encode_request(*arguments)
        except Error as refused:
            self.missed = refused
        flags = method.request_encoding | (ONEWAY if method.oneway else 0)
        super().__init__(method, inf, target.router.budget, flags, body)
        self.target = target
        self.what = what
        self.is_rare = method.oneway or self.missed is not None

    def failed(self) -> Error | DeclaredError | None:
        """How a call that has ended has failed; None: it has not. `value()` is its result then."""
        failure = self.missed or self.failure
        if failure is not None or self.flags & ONEWAY:
            return failure
        try:
            self.value()
        except (Error, DeclaredError) as raised:
            return raised
        return None


class Volley:
    """For one loop. `ended` is called with each shot that has ended, with whatever outcome, from the loop; an
    exception that it raises ends the volley. `most_open`: so many are in flight at once. `seconds`: the
    deadline of each, counted from when it is sent."""

    __slots__ = (
        "_crowd",
        "_ended",
        "_failure",
        "_fewer",
        "_flying",
        "_is_lost",
        "_most",
        "_seconds",
        "_slow",
        "_word",
        "given_up",
        "late",
    )

    def __init__(self, ended: Callable[[Shot], None], most_open: int, seconds: float) -> None:
        self._ended = ended
        self._most = most_open
        self._fewer = most_open // 2
        self._seconds = seconds
        self._word = pack_deadline(seconds)
        self._slow: set[Task[None]] = set()
        self._crowd: LoopGate | None = None
        self._failure: BaseException | None = None
        self._flying: set[Shot] = set()
        self._is_lost = False  # no server was found for the latest one that looked for one
        self.given_up = 0
        """How many were in flight, and have no outcome, when fire() has raised."""
        self.late = 0.0
        """How many seconds too late the latest of those with a moment began."""

    async def fire(self, shots: Iterable[tuple[float | None, Shot]], begun: float | None = None) -> None:
        """Sends each when it is due: so many seconds after `begun`, a time.monotonic(), or None: at once. All
        have ended when it returns. Raises what `shots` or `ended` has raised; those in flight are given up
        then, also at the server, as they are if its task is cancelled."""
        begun = monotonic() if begun is None else begun
        flying, most = self._flying, self._most
        target: AsyncRemoteTarget | None = (
            None  # that of the shot before, unless the loop has had a turn since
        )
        route: Route[Any] | None = None
        try:
            for number, (moment, shot) in enumerate(shots, 1):
                if moment is not None and (wait := begun + moment - monotonic()) > 0:
                    await sleep(wait)
                    target = None
                if len(flying) >= most:
                    await self._until(most // 2)
                    target = None
                elif number % _RUN == 0:
                    await sleep(0)
                    target = None
                if self._failure is not None:
                    break
                now = monotonic()
                if moment is None:
                    shot.due = now
                else:
                    shot.due = begun + moment
                    self.late = max(self.late, now - shot.due)
                shot.deadline = now + self._seconds
                flying.add(shot)
                if target is not shot.target:
                    target = shot.target
                    route = target.kept()
                if route is None or shot.is_rare:
                    target = None
                    if self._is_lost and not shot.is_rare:
                        self._aside(self._begin(shot))
                    else:
                        await self._begin(shot)
                    continue
                shot.begin_at(route.binding, now)
                shot.path = route
                shot.on_done = self._done
                if not route.link.start(shot, self._word, now):
                    self._done(shot)
            await self._until(0)
            if self._failure is not None:
                raise self._failure
        finally:
            await self._give_up()

    async def _until(self, few: int) -> None:
        """Waits until at most so many are in flight."""
        while len(self._flying) > few and self._failure is None:
            self._crowd = LoopGate()
            self._fewer = few
            await self._crowd.wait(inf)

    async def _begin(self, shot: Shot) -> None:
        """Sends one for which there is no route yet, or which is no common one. They wait here one behind the
        other, so that they keep their order, until one has found no server."""
        if shot.missed is None and shot.flags & ONEWAY:
            await run(shot, shot.target)
        elif shot.missed is None:
            shot.begin()
            route = await find(shot, shot.target)
            self._is_lost = route is None
            if route is not None:
                shot.path = route
                shot.sent = now = monotonic()
                shot.on_done = self._done
                if not route.link.start(shot, self._word, now):
                    self._done(shot)
                return
        self._over(shot)

    def _done(self, shot: Any) -> None:
        """The link is done with the latest attempt."""
        route = shot.path
        if route.chosen:
            shot.target.router.learn(route, shot, shot.sent, monotonic())
        if shot.status == OK and shot.failure is None and shot.adapted is None:
            shot.state = ENDED
        elif shot.settle(monotonic()) is RESOLVE:
            shot.on_done = None
            self._aside(self._again(shot, route))
            return
        self._over(shot)

    async def _again(self, shot: Shot, route: Route[Any]) -> None:
        """The server has refused it, or the connection has ended: elsewhere, or later."""
        await go_on(shot, shot.target, route)
        self._over(shot)

    def _aside(self, work: Coroutine[Any, Any, None]) -> None:
        """In a task of its own, since it waits for what the others do not wait for."""
        task = ensure_future(work)
        self._slow.add(task)
        task.add_done_callback(self._was_aside)

    def _was_aside(self, task: Task[None]) -> None:
        self._slow.discard(task)
        if not task.cancelled() and (raised := task.exception()) is not None:
            self._fail(raised)

    def _over(self, shot: Shot) -> None:
        flying = self._flying
        flying.discard(shot)
        try:
            self._ended(shot)
        except BaseException as raised:
            self._fail(raised)
        if self._crowd is not None and len(flying) <= self._fewer:
            self._wake()

    def _fail(self, raised: BaseException) -> None:
        self._failure = self._failure or raised
        self._wake()

    def _wake(self) -> None:
        if self._crowd is not None:
            crowd, self._crowd = self._crowd, None
            crowd.open_here()

    async def _give_up(self) -> None:
        """Those that are in flight still."""
        flying, self._flying = self._flying, set()
        self.given_up = len(flying)
        for task in self._slow:
            task.cancel()
        await gather(*self._slow, return_exceptions=True)
        for shot in flying:
            if shot.path is not None and not shot.done:
                shot.on_done = None
                shot.path.link.abandon(shot, CallEvent.CANCELLED, cancelled_by_caller())
