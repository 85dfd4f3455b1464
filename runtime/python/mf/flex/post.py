"""The part of a node that runs on its loop: it offers the processes, and holds an Outgoing for each mailbox
that they send to. All share one server and one client, and so one connection between any two nodes.
"""

from __future__ import annotations

from asyncio import gather, get_running_loop, timeout
from contextlib import suppress
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Final

from mf.client.async_client import AsyncClient
from mf.client.where import async_resolver_for, is_controller, is_relay
from mf.core.client_options import ClientOptions
from mf.core.error import Code, not_executed
from mf.core.server_options import ServerOptions
from mf.flex._generated.mf.flex import MAILBOX_SERVICE, MailboxAsyncClient
from mf.flex.access import MailAccess
from mf.flex.arrivals import Arrivals
from mf.flex.outgoing import PATIENCE, Outgoing
from mf.route.async_resolver import AsyncResolver, AsyncStaticResolver
from mf.route.resolver import relay_addresses
from mf.server.async_server import AsyncServer
from mf.transport.address import Address

if TYPE_CHECKING:
    from collections.abc import Callable

    from mf.core.tls import Tls
    from mf.flex.mailbox import Mailbox

_MOST_WAYS: Final = 4096
_MOST_SLOTS: Final = 4096
_SERVICE: Final = MAILBOX_SERVICE.name


def resolver_of(where: str, tls: Tls | None) -> AsyncResolver:
    """A resolver on the running loop, for a controller, for relays, or for nodes addressed directly."""
    return async_resolver_for(where, tls) if where else AsyncStaticResolver([])


def registered_at(where: str) -> str:
    """Nodes register at relays as they do at controllers. Raises ValueError for other addresses."""
    as_controller = {"relay": "mf", "relay+tls": "mf+tls"}
    return ",".join(
        str(Address(as_controller[each.scheme], each.host, each.port)) for each in relay_addresses(where)
    )


class Post:
    """Constructed on its loop. `where`: 'mf://…' of a controller, 'relay://…', or addresses of nodes."""

    def __init__(
        self,
        where: str | Callable[[], AsyncResolver],
        listen: str,
        advertise: str | None,
        tls: Tls | None,
        patience: float = PATIENCE,
        access: str = "",
    ) -> None:
        self._loop = get_running_loop()
        self._patience = patience
        controller = where if isinstance(where, str) and is_controller(where) else None
        if isinstance(where, str) and is_relay(where):
            controller = registered_at(where)
        shown = tls if "tls://" in listen else None
        self._server = AsyncServer(
            listen,
            controller,
            ServerOptions(
                advertise=advertise,
                tls=shown,
                controller_tls=tls if controller and "mf+tls://" in controller else None,
                drain_timeout=2.0,
                access=access,
            ),
        )
        self._access = MailAccess(self._server) if access else None
        self._resolver = resolver_of(where, tls) if isinstance(where, str) else where()
        self._client = AsyncClient(self._resolver, ClientOptions(tls=tls, wait_for_server=0.5))
        self._stub = MailboxAsyncClient(self._client)
        self._lock = Lock()
        self._arrivals: dict[str, Arrivals] = {}
        self._slots: dict[str, Arrivals] = {}  # servants of names that no process has now
        self._ways: dict[str, Outgoing] = {}
        self._closed = False

    @property
    def address(self) -> str:
        return self._server.address

    async def start(self) -> None:
        await self._server.start()
        self._resolver.view(_SERVICE)  # begins to watch the service, for the members of groups

    def reload(self) -> bool:
        """See Server.reload."""
        return self._server.reload()

    def is_here(self) -> bool:
        """Whether the caller runs on the loop of this node."""
        try:
            return get_running_loop() is self._loop
        except RuntimeError:
            return False

    def add(self, name: str, groups: tuple[str, ...], mailbox: Mailbox) -> None:
        """Raises ValueError for a name that is taken on this node."""
        arrivals = self._slots.pop(name, None) or Arrivals(name, self._access)
        arrivals.open(mailbox)
        self._server.offer(arrivals, name, alone=True)
        for group in groups:
            self._server.offer(arrivals, f"{group}/{name}")
        self._arrivals[name] = arrivals

    def remove(self, name: str, groups: tuple[str, ...]) -> None:
        arrivals = self._arrivals.pop(name)
        for agent in (name, *(f"{group}/{name}" for group in groups)):
            self._server.withdraw(arrivals, agent)
        arrivals.close()
        self._slots[name] = arrivals
        if len(self._slots) > _MOST_SLOTS:
            del self._slots[next(iter(self._slots))]

    async def members(self, group: str) -> list[str]:
        """The members of a group, as 'GROUP/NAME'. Waits up to `patience` seconds for the first of them."""
        until = monotonic() + self._patience
        view = self._resolver.view(_SERVICE)
        while True:
            found = [agent for agent, some in view.agents.items() if some and agent.startswith(group + "/")]
            left = until - monotonic()
            if found or left <= 0:
                return found
            view = await self._resolver.wait(_SERVICE, view, left)

    def way(self, dest: str) -> Outgoing:
        """The Outgoing to one mailbox. May be called from any thread."""
        with self._lock:
            way = self._ways.get(dest)
            if way is not None and not way.closed:  # a closed one is removed a moment later
                return way
            if self._closed:
                raise not_executed(Code.CANCELLED, "the node is closed")
            if way is None and len(self._ways) >= _MOST_WAYS:
                text = f"this node sends to {_MOST_WAYS:,} processes already"
                raise not_executed(Code.OVERLOADED, text)
            way = self._ways[dest] = Outgoing(self._loop, self._stub, dest, self._forget, self._patience)
        self._loop.call_soon_threadsafe(way.begin)
        return way

    def _forget(self, way: Outgoing) -> None:
        with self._lock:
            if self._ways.get(way.dest) is way:
                del self._ways[way.dest]

    def after_fork(self) -> None:
        """In a child, where its loop does not run. Its server and its client are notified themselves."""
        self._lock = Lock()
        self._closed = True
        ways, self._ways = list(self._ways.values()), {}
        for way in ways:
            way.after_fork()

    async def close(self, seconds: float) -> None:
        """Fails messages that are not in their mailbox within `seconds`, and notifies senders of other nodes
        that the mailboxes are closed. The caller has closed the mailboxes before."""
        with self._lock:
            self._closed = True
            ways = list(self._ways.values())
        with suppress(TimeoutError):
            async with timeout(seconds):
                await gather(*(way.arrived() for way in ways))
        error = not_executed(Code.CANCELLED, "the node was closed")
        await gather(*(way.close(error) for way in ways))
        for arrivals in self._arrivals.values():
            arrivals.close()
        await self._server.stop()
        await self._client.close()
