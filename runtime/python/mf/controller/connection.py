"""R7. The connection to controllers, or to relays in their place: a client of its own, and the messages for
users when there is no answer.
"""

import uuid
from asyncio import get_running_loop, timeout
from typing import TypeVar

from mf.client.async_target import AsyncRemoteTarget
from mf.controller._generated.mf.controller import ControllerAsyncClient
from mf.core.cached import Caches
from mf.core.client_options import ClientOptions
from mf.core.code_class import FOR_GOOD
from mf.core.error import Code, Error, Execution
from mf.core.options import INFINITE, CallOptions
from mf.core.secret import Secret
from mf.core.service import ServiceInfo
from mf.core.stream import AsyncStreamReader
from mf.core.target import AsyncTarget, AsyncTargetSource
from mf.core.tls import Tls
from mf.route.async_pool import AsyncPool
from mf.route.async_resolver import AsyncStaticResolver
from mf.route.async_routing import AsyncRouting
from mf.route.resolver import CONTROLLERS, RELAYS, View, relay_addresses
from mf.transport.address import Address

T = TypeVar("T")

ANSWER_WITHIN = 10.0
"""Seconds for an answer of a controller that is known to run."""
_FIRST_WITHIN = 0.8  # so that a user learns within a second why there is no answer
_AGAIN_WITHIN = 5.0  # a slow controller gets more time after that message

WITHOUT_END = CallOptions(deadline=INFINITE)
"""For streams that stay open as long as both sides live."""


class ControllerConnection(AsyncTargetSource):
    """On the running loop. With several controllers it uses any that answers."""

    __slots__ = ("_controllers", "_pool", "_router", "stub")

    def __init__(
        self,
        controllers: list[Address],
        dead_after: float,
        tls: Tls | None = None,
        credential: Secret | str | None = None,
    ) -> None:
        self._controllers = controllers
        loop = get_running_loop()
        servers = AsyncStaticResolver(str(each.server) for each in controllers)
        options = ClientOptions(tls=tls, dead_after=dead_after, credential=credential)
        self._pool = AsyncPool(loop, options)
        self._router = AsyncRouting(servers, self._pool, options)
        self._router.quiet = True  # what cannot be reached is logged by the users of this
        self.stub = ControllerAsyncClient(self)

    def async_target(
        self,
        service: ServiceInfo,
        keys: tuple[str, ...] = (),  # noqa: ARG002 - the parameters of AsyncTargetSource
        caches: Caches | None = None,  # noqa: ARG002
    ) -> AsyncTarget:
        return AsyncRemoteTarget(self._router, service, None)

    async def greet(self, *, patiently: bool) -> None:
        """Returns when a controller answers. Raises Error with the reason if none does."""
        await self.stub.status(options=_within(patiently))

    async def new_client(self, *, patiently: bool) -> int:
        """The same; returns a number that no other client has, never 0."""
        return await self.stub.client_id(options=_within(patiently)) or 1

    def trouble(self, error: Exception) -> str:
        """The message for a user that waits for the controller."""
        where = ", ".join(map(str, self._controllers))
        if isinstance(error, Error):
            why = error.message.removeprefix("gave up at the deadline: ")
            return f"the controller at {where} does not answer: {why}"
        return f"what the controller at {where} is asked fails with {type(error).__name__}: {error}"

    def reload(self) -> bool:
        """See Client.reload."""
        return self._pool.reload()

    async def close(self) -> None:
        self._pool.close()
        await self._pool.end()

    def after_fork(self) -> None:
        self._pool.after_fork()


def _within(patiently: bool) -> CallOptions:
    return CallOptions(deadline=_AGAIN_WITHIN if patiently else _FIRST_WITHIN)


def is_over_tls(asked: list[Address], tls: Tls | None, credential: Secret | str | None) -> bool:
    """Whether clients of these controllers use addresses at tls:// only. Behind relays the instances' own
    addresses are the relay's concern."""
    if any(each.scheme in RELAYS for each in asked):
        return False
    return tls is not None or credential is not None or any(each.scheme == "mf+tls" for each in asked)


def registered_addresses(where: str, tls: Tls | None) -> list[Address]:
    """The addresses of controllers at which a server registers. Raises ValueError for an invalid one, and for
    one in clear with `tls`."""
    addresses = controller_addresses(where)
    for address in addresses:
        if tls is not None and address.scheme == "mf":
            text = f"controller_tls is given, and nothing is encrypted at the controller {address}"
            raise ValueError(f"{text}; write mf+tls://, or leave controller_tls out")
    return addresses


def controller_addresses(where: str) -> list[Address]:
    """The addresses of one controller, or of several separated by commas. Raises ValueError for an invalid
    one."""
    parsed = Address.parse_list(where)
    for address in parsed:
        if address.scheme not in CONTROLLERS:
            text = "the controller's address starts with mf:// or mf+tls://"
            raise ValueError(f"{text}, not {address.scheme}:")
    return parsed


def asked_addresses(where: str) -> list[Address]:
    """The addresses of controllers, or of relays, which have the same interface. Raises ValueError for
    others."""
    return relay_addresses(where) if where.partition("://")[0] in RELAYS else controller_addresses(where)


def final_code(error: Exception) -> Code:
    """The code of calls that wait for a controller: one that no retry can resolve, or UNAVAILABLE."""
    return error.code if isinstance(error, Error) and error.code in FOR_GOOD else Code.UNAVAILABLE


def unanswered(controllers: list[Address]) -> View:
    """The view of a service before a controller has answered."""
    where = ", ".join(map(str, controllers))
    return View({}, reached=False, trouble=f"the controller at {where} has not answered yet")


async def first_of(stream: AsyncStreamReader[T]) -> T:
    """The first value of a stream, which the controller sends at once. Raises the failure of the stream."""
    try:
        async with timeout(ANSWER_WITHIN) as timer:
            return await anext(stream)
    except TimeoutError:
        if not timer.expired():
            raise  # the failure of the stream
        text = f"nothing has come for {ANSWER_WITHIN:g} s"
        raise Error(Code.UNAVAILABLE, text, Execution.UNKNOWN) from None
    except StopAsyncIteration:
        raise Error(Code.UNAVAILABLE, "the stream has ended at once", Execution.UNKNOWN) from None


def to_uuid(data: bytes) -> uuid.UUID:
    return uuid.UUID(bytes=data)
