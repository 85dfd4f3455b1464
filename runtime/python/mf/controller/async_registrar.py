"""R6. How a server of asyncio is found: registers what it offers, waits in `keep`, and registers again when
that ends. See registrar.py; here it is a task.
"""

from asyncio import Task, gather, get_running_loop, sleep, wait
from contextlib import suppress
from contextvars import Context
from time import monotonic

from mf.client.async_client import AsyncClient
from mf.controller._generated.mf.controller import ControllerAsyncClient
from mf.controller.connection import controller_addresses, over_tcp, to_uuid, trouble_with
from mf.controller.registration import TELL_AFTER, Registration, keep_for, register_within
from mf.core.error import DeclaredError, Error
from mf.core.log import info, quote, warning
from mf.core.options import CallOptions
from mf.link.reconnect import Backoff
from mf.server.async_server import AsyncRegistrar
from mf.server.offer import Offer
from mf.transport import names
from mf.transport.address import Address


class AsyncControllerRegistrar(AsyncRegistrar):
    """`controller`: 'mf://host:port', or several with commas between them: the server registers with each.
    `advertise`: see Registration."""

    __slots__ = ("_each",)

    def __init__(self, controller: str, advertise: str | None) -> None:
        self._each = [_OneRegistrar(one, advertise) for one in controller_addresses(controller)]

    def register(self, nonce: bytes, addresses: list[str], offers: list[Offer]) -> None:
        for each in self._each:
            each.register(nonce, addresses, offers)

    async def deregister(self, timeout: float) -> None:
        await gather(*(each.deregister(timeout) for each in self._each))


class _OneRegistrar(AsyncRegistrar):
    """At one controller."""

    __slots__ = ("_address", "_client", "_nonce", "_registered", "_registration", "_stub", "_task")

    _client: AsyncClient
    _stub: ControllerAsyncClient

    def __init__(self, controller: Address, advertise: str | None) -> None:
        self._address = controller
        self._registration = Registration(self._address, advertise)
        self._nonce = b""
        self._registered = False
        self._task: Task[None] | None = None

    def register(self, nonce: bytes, addresses: list[str], offers: list[Offer]) -> None:
        self._nonce = nonce
        self._client = AsyncClient(over_tcp([self._address]), dead_after=0)  # the kernel looks after it
        self._stub = ControllerAsyncClient(self._client)
        stay = self._stay_registered(addresses, offers)
        # In a context of its own: it belongs to no call.
        self._task = get_running_loop().create_task(stay, context=Context())

    async def deregister(self, timeout: float) -> None:
        if self._task is None:
            return
        self._task.cancel()
        await wait((self._task,))
        self._task = None
        if self._registered:
            try:
                options = CallOptions(deadline=max(timeout, 0.001))
                await self._stub.deregister(to_uuid(self._nonce), options=options)
            except (Error, DeclaredError):
                pass  # it is gone, and so are our entries
        await self._client.close()

    async def _stay_registered(self, addresses: list[str], offers: list[Offer]) -> None:
        backoff = Backoff()
        waiting_since = monotonic()
        told = False
        while True:
            try:
                lease_ms = await self._register(addresses, offers, told)
                if told:
                    info("registered at controller %s", self._address)
                told = False
                backoff.reset()
                await self._keep(lease_ms)
                waiting_since = monotonic()
            except Exception as error:  # whatever it was: a server that gave up would never be found again
                self._registered = False
                if not told and monotonic() - waiting_since > TELL_AFTER:
                    warning("%s; trying on", quote(trouble_with([self._address], error)))
                    told = True
                await sleep(backoff.next())

    async def _register(self, addresses: list[str], offers: list[Offer], told: bool) -> int:
        await self._look_up()
        instances = self._registration.instances(self._nonce, addresses, offers)
        lease_ms = await self._stub.register(
            to_uuid(self._nonce), instances, options=CallOptions(deadline=register_within(told))
        )
        self._registered = True
        return lease_ms

    async def _look_up(self) -> None:
        """So that nothing behind this asks a name server."""
        with suppress(OSError):  # the call that follows says why the controller cannot be reached
            found = await names.addresses(self._address.host, self._address.port)
            self._registration.controller = Address("mf", found[0][4][0], self._address.port)

    async def _keep(self, lease_ms: int) -> None:
        """Returns when it is time to register again."""
        wait_ms, options = keep_for(lease_ms)
        while await self._stub.keep(to_uuid(self._nonce), wait_ms, options=options):
            pass
