"""R6. How a server of asyncio is found: registers what it offers, waits in `keep`, and registers again when
that ends. See registrar.py; here it is a task.
"""

from asyncio import Task, get_running_loop, sleep, wait
from contextlib import suppress
from contextvars import Context
from time import monotonic

from mf.client.async_client import AsyncClient
from mf.controller._generated.mf.controller import ControllerAsyncClient
from mf.controller.connection import controller_address, over_tcp, to_uuid, trouble_with
from mf.controller.registration import ANSWER_WITHIN, Registration, keep_for
from mf.core.error import DeclaredError, Error
from mf.core.log import info, quote, warning
from mf.core.options import CallOptions
from mf.link.reconnect import Backoff
from mf.server.async_server import AsyncRegistrar
from mf.server.offer import Offer
from mf.transport import async_names as names
from mf.transport.address import Address


class AsyncControllerRegistrar(AsyncRegistrar):
    """`controller`: 'mf://host:port'. `advertise`: see Registration."""

    __slots__ = ("_address", "_client", "_nonce", "_registered", "_registration", "_stub", "_task")

    _client: AsyncClient
    _stub: ControllerAsyncClient

    def __init__(self, controller: str, advertise: str | None) -> None:
        self._address = controller_address(controller)
        self._registration = Registration(self._address, advertise)
        self._nonce = b""
        self._registered = False
        self._task: Task[None] | None = None

    def register(self, nonce: bytes, addresses: list[str], offers: list[Offer]) -> None:
        self._nonce = nonce
        self._client = AsyncClient(over_tcp(self._address))
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
                lease_ms = await self._register(addresses, offers)
                if told:
                    info("registered at controller %s", self._address)
                told = False
                backoff.reset()
                await self._keep(lease_ms)
                waiting_since = monotonic()
            except Exception as error:  # whatever it was: a server that gave up would never be found again
                self._registered = False
                if not told and monotonic() - waiting_since > 1.0:
                    warning("%s; trying on", quote(trouble_with(self._address, error)))
                    told = True
                await sleep(backoff.next())

    async def _register(self, addresses: list[str], offers: list[Offer]) -> int:
        await self._look_up()
        instances = self._registration.instances(self._nonce, addresses, offers)
        lease_ms = await self._stub.register(
            to_uuid(self._nonce), instances, options=CallOptions(deadline=ANSWER_WITHIN)
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
