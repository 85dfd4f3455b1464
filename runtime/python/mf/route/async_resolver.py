"""R5. The locations of services, for asyncio clients. All of it runs on one loop."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping

from mf.core.gate import LoopGate
from mf.route.resolver import RelayedViews, View, Views, static_view


class News:
    """Tasks that wait for a change, each with its own timeout. They resume in the order in which they came,
    since one-way calls are sent in that order.
    """

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        self._waiting: dict[LoopGate, None] = {}

    def tell(self) -> None:
        """Lets all go on."""
        waiting, self._waiting = self._waiting, {}
        for gate in waiting:
            gate.open_here()

    async def wait(self, timeout: float) -> None:
        """Waits for the next `tell`, at most `timeout` seconds."""
        gate = LoopGate()
        self._waiting[gate] = None
        try:
            await gate.wait(timeout)
        finally:
            self._waiting.pop(gate, None)


class AsyncResolver(Views):
    """For asyncio clients; used only on their loop."""

    __slots__ = ()

    @abstractmethod
    async def wait(self, service: str, old: View, timeout: float) -> View:
        """Waits until the view differs from `old`, at most `timeout` seconds."""

    async def closed(self) -> None:
        """After `close`: returns when nothing of it runs any more."""


class AsyncStaticResolver(AsyncResolver):
    """Fixed addresses: of whole servers, or by agent."""

    __slots__ = ("_news", "_view")

    def __init__(self, addresses: Iterable[str] | Mapping[str, Iterable[str]]) -> None:
        self.generation = 0
        self._view = static_view(addresses)
        self._news = News()

    def view(self, service: str) -> View:  # noqa: ARG002 - the same for all
        return self._view

    async def wait(self, service: str, old: View, timeout: float) -> View:  # noqa: ARG002
        await self._news.wait(timeout)
        return self._view

    def close(self) -> None:
        self._news.tell()


class AsyncRelayedResolver(RelayedViews[AsyncResolver], AsyncResolver):
    """For clients of asyncio."""

    __slots__ = ()

    async def wait(self, service: str, old: View, timeout: float) -> View:
        known = self._known.view(service)
        view = self._relayed(service, known)
        if view is not old:
            return view
        return self._relayed(service, await self._known.wait(service, known, timeout))

    async def closed(self) -> None:
        await self._known.closed()
