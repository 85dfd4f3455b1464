"""R7. Registers asyncio servers: for each of the server's controllers a task registers the offers, over a
stream that stays open, sends changes and signs of life, and registers again when the stream has ended.
"""

from asyncio import Event, gather, timeout, wait
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING
from uuid import UUID

from mf.client.standing import StandingCall, side_by_side
from mf.controller._generated.mf.controller import Key, KeyKind, Lead, NotOwner, Standing
from mf.controller._generated.mf.controller import Offer as Entry
from mf.controller.connection import (
    WITHOUT_END,
    ControllerConnection,
    first_of,
    registered_addresses,
)
from mf.controller.known_offers import KnownOffers
from mf.controller.registration import Registration
from mf.core.backoff import Backoff
from mf.core.code_class import GOES_AWAY, ONLY_THIS
from mf.core.error import Code, DeclaredError, Error, not_executed
from mf.core.log import info, line, quote, warning
from mf.core.options import CallOptions
from mf.core.stream import AsyncStreamReader
from mf.link.background import spawn
from mf.server.async_lead import AsyncLead
from mf.server.identity import Identity
from mf.server.offer import Offer
from mf.transport.address import Address

if TYPE_CHECKING:
    from mf.core.tls import Tls

_DEAD_AFTER = 30.0
"""Seconds, see ControllerConnection. The controller sends something more often than that."""
_LOOK_ELSEWHERE = 1.0
"""Seconds for which a lead waits for one controller before it checks whether another one can grant it."""
_LOG_AFTER = 0.7
"""Seconds without a controller before a warning is logged: a restart is over by then."""


class AsyncControllerRegistrar:
    """`controller`: 'mf://host:port', or several separated by commas: the server registers with each.
    `advertise`: see Registration. `tls`: how controllers at mf+tls:// are verified. Raises ValueError for an
    invalid address."""

    __slots__ = ("_controllers", "_each", "_registration", "_tls")

    def __init__(self, controller: str, advertise: str | None, tls: "Tls | None" = None) -> None:
        self._controllers = registered_addresses(controller, tls)
        self._tls = tls
        self._registration = Registration(advertise)
        self._each: list[_AtOne] = []

    def register(self, identity: Identity, addresses: list[str], offers: Callable[[], list[Offer]]) -> None:
        self._registration.begin(identity, addresses, offers)
        self._each = [_AtOne(one, self._registration, self._tls) for one in self._controllers]

    @property
    def registered(self) -> bool:
        """Whether any controller has confirmed the registration."""
        return any(each.stands for each in self._each)

    def reload(self) -> bool:
        """See Client.reload."""
        usable = [each.connection.reload() for each in self._each]
        return all(usable)

    def update(self) -> None:
        for each in self._each:
            each.changed.set()

    def lead(self, service: str, agent: str) -> AsyncLead:
        """Asks the first controller, or one that shares its store: controllers that do not know of each other
        would grant the lead twice.
        """
        if not self._each:
            raise ValueError("start the server first")
        return AsyncLead(partial(self._hold, Key(KeyKind.service, service, agent)))

    async def _hold(self, key: Key, got: Callable[[int], None]) -> None:
        """See mf.server.async_lead.Hold."""
        first, *others = self._each
        held = asked = False

        async def session() -> None:
            nonlocal held, asked
            sharing = (one for one in others if one.stands and one.cluster == first.cluster)
            at = first if first.stands else next(sharing, first)
            held = await at.hold(key, got, is_first=not asked)
            asked = True

        def goes_on(ended: Exception | None) -> bool:
            if ended is not None:
                raise ended
            return not held

        await StandingCall().keep(session, goes_on)

    async def deregister(self, timeout: float) -> None:
        await gather(*(one.deregister(timeout) for one in self._each))

    def after_fork(self) -> None:
        for each in self._each:
            each.connection.after_fork()
        self._each = []


class _AtOne:
    """The registration at one controller. `changed`: the offers differ from those that the controller has.
    `cluster`: the controller's cluster when it last answered; all that share a store are of one.
    """

    __slots__ = (
        "_address",
        "_asked",
        "_either",
        "_ended",
        "_leads",
        "_registration",
        "_silent",
        "_task",
        "changed",
        "cluster",
        "connection",
        "stands",
    )

    def __init__(self, controller: Address, registration: Registration, tls: "Tls | None") -> None:
        self._address = controller
        self._registration = registration
        self.stands = False
        self._asked = False  # the controller may know of the server already, whether it has answered or not
        self.cluster: UUID | None = None
        self._ended = False
        self._either = Event()  # it is registered, or has ended
        self._leads: dict[AsyncStreamReader[Lead], None] = {}
        self._silent = False  # the log says that the controller does not answer
        self.changed = Event()
        self.connection = ControllerConnection([controller], _DEAD_AFTER, tls)
        self._task = spawn(self._stay_registered())

    async def deregister(self, timeout: float) -> None:
        if self._ended:
            return
        self._ended = True
        self._either.set()
        for lead in self._leads:  # before another process can be granted what this one leads
            lead.cancel()
        if self._asked:  # while its stream is open, whose end would count as the loss of the server
            with suppress(Error, DeclaredError):  # it is gone, and so are our entries
                options = CallOptions(deadline=max(timeout, 0.001))
                await self.connection.stub.deregister(self._registration.credential, options=options)
        self._task.cancel()
        await wait((self._task,))
        await self.connection.close()

    async def _stay_registered(self) -> None:
        call = StandingCall()
        since = monotonic()

        def goes_on(ended: Exception | None) -> bool:
            """None: it only has to register again."""
            nonlocal since
            self._asked = False
            if self.stands:
                self.stands = False
                if not self._ended:
                    self._either.clear()
                since = monotonic()
            late = monotonic() - since > _LOG_AFTER or isinstance(ended, NotOwner)
            if ended is not None and late and not self._silent:
                warning("%s; trying on", quote(self.connection.trouble(ended)))
                self._silent = True
            return not self._ended

        await call.keep(lambda: self._register(call), goes_on)

    async def _register(self, call: StandingCall) -> None:
        """Returns when the registration has ended. Raises the reason, unless the server only has to register
        again."""
        await self.connection.greet(patiently=self._silent)
        self.changed.clear()
        entries = await self._registration.entries(self._address)
        credential = self._registration.credential
        self._asked = True
        stream = self.connection.stub.register(
            credential, self._registration.process, entries, options=WITHOUT_END
        )
        async with stream:
            standing = await first_of(stream)
            self.stands = True
            self.cluster = standing.cluster
            self._either.set()
            call.answered()
            info("%s", line("registered_again" if self._silent else "registered", controller=self._address))
            self._silent = False
            try:
                await side_by_side(self._keep(standing, entries), _hear(standing, stream))
            finally:
                for lead in self._leads:
                    lead.cancel()

    async def _keep(self, standing: Standing, begun_with: list[Entry]) -> None:
        """Sends signs of life in time, and the current offers. Returns only by raising."""
        usual = max(standing.lease.to_seconds() / 3, 0.001)
        pause = usual
        known = KnownOffers(begun_with)
        backoff = Backoff()
        while True:
            with suppress(TimeoutError):
                async with timeout(max(min(pause, known.again - monotonic()), 0.0)):
                    await self.changed.wait()
            self.changed.clear()
            put, removed = known.changes(await self._registration.entries(self._address), monotonic())
            pause = usual
            try:
                # There is no time limit: a controller that was only stopped would treat the registration
                # as withdrawn when it continues, and tell clients that the server is gone. A dead
                # connection ends by itself.
                await self.connection.stub.update(
                    self._registration.credential, put, removed, options=WITHOUT_END
                )
            except Error as refused:
                if refused.code not in ONLY_THIS:
                    raise
                for each in known.refuse(put, refused.code, monotonic()):
                    warning("the controller refuses %s: %s", quote(each.key.name), quote(refused.message))
                # A refusal may not count as a sign of life, so one follows, unless the refused update was
                # one.
                pause = 0.0 if put else backoff.next()
            else:
                known.accept(put, removed)
                backoff.reset()

    async def hold(self, key: Key, got: Callable[[int], None], *, is_first: bool) -> bool:
        """Whether the lead was granted. The lead ends with the registration at the latest. `is_first`: the
        offers may reach the controller after this request."""
        with suppress(TimeoutError):
            async with timeout(_LOOK_ELSEWHERE):
                await self._either.wait()
        if self._ended:
            raise not_executed(Code.CANCELLED, "the server was stopped")
        if not self.stands:
            return False
        stream = self.connection.stub.lead(self._registration.credential, key, options=WITHOUT_END)
        self._leads[stream] = None
        held = False
        try:
            async with stream:
                async for lead in stream:
                    held = True
                    got(lead.epoch)
        except (Error, DeclaredError) as error:
            early = is_first and isinstance(error, Error) and error.code is Code.PERMISSION_DENIED
            if not held and isinstance(error, Error) and error.code not in GOES_AWAY and not early:
                warning("%s; trying on", quote(self.connection.trouble(error)))
        finally:
            del self._leads[stream]
        return held


async def _hear(standing: Standing, stream: AsyncStreamReader[Standing]) -> None:
    """Logs the warnings of the controller, until the stream ends."""
    _warn(standing)
    async for later in stream:
        _warn(later)


def _warn(standing: Standing) -> None:
    for each in standing.warnings:
        warning("the controller warns: %s", quote(each.text))
