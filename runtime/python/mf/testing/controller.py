"""A controller that a test plays: what clients know of servers is what the test says, and they know it at
once.

controller = FakeController()
with controller.client() as client:                          # or async_client(), on a loop of asyncio
    controller.serve(Books(), "books")                       # a server in this process, and its entry
    controller.add("shop.Index", "tcp://127.0.0.1:7401")     # an entry alone
    controller.lose("it was restarted")                      # what is not known yet is not answered for
"""

from collections.abc import Callable, Iterable, Mapping
from threading import Condition
from time import monotonic

from mf.client.async_client import AsyncClient
from mf.client.client import Client
from mf.core.agent import Agent
from mf.core.client_options import DEFAULTS, ClientOptions
from mf.core.clock import moment
from mf.core.service import AsyncServant, BaseServant, Servant, services_of
from mf.route.async_resolver import AsyncResolver, News
from mf.route.resolver import Instance, Resolver, View, Views
from mf.server.async_server import AsyncServer
from mf.server.server import Server
from mf.testing.channel import new_name
from mf.transport.address import Address

_Agents = dict[str, tuple[Instance, ...]]


class FakeController:
    """It has answered from the start: what it does not name does not exist. May be used from any thread;
    clients of asyncio only hear of what is said on their loop."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._known: dict[str, _Agents] = {}
        self._views: dict[str, View] = {}
        self._trouble = ""
        self._listeners: list[Callable[[], None]] = []
        self._servers: dict[str, Server | AsyncServer] = {}
        self.generation = 0
        self.waits = 0
        """How often a client has waited for a change."""

    def client(self, options: ClientOptions = DEFAULTS) -> Client:
        return Client(self.resolver(), options)

    def async_client(self, options: ClientOptions = DEFAULTS) -> AsyncClient:
        return AsyncClient(self.async_resolver(), options)

    def resolver(self) -> Resolver:
        return _Blocking(self)

    def async_resolver(self) -> AsyncResolver:
        return _Async(self)

    def add(self, service: str, address: str, agent: str = "", weight: int = 1) -> None:
        """An instance of a service, by its full name. Raises ValueError for an address that is none."""
        instance = Instance(str(Address.parse(address)), weight)
        with self._changed:
            agents = self._known.setdefault(service, {})
            agents[agent] = (*agents.get(agent, ()), instance)
        self._tell()

    def remove(self, service: str, address: str, agent: str = "") -> None:
        """The agent stays known, with an instance less."""
        with self._changed:
            agents = self._known.setdefault(service, {})
            agents[agent] = tuple(each for each in agents.get(agent, ()) if each.address != address)
        self._tell()

    def say(self, service: str, agents: Mapping[str, Iterable[str]]) -> None:
        """All instances of a service, in place of what was known; the controller answers, also if it did
        not."""
        with self._changed:
            self._known[service] = {agent: tuple(map(Instance, some)) for agent, some in agents.items()}
            self._trouble = ""
        self._tell()

    def serve(self, servant: Servant, agent: Agent | None = None) -> str:
        """Starts a server in this process and adds it. Gives its address."""
        server = Server(f"memory:{new_name()}")
        server.offer(servant, agent)
        server.start()
        return self._serve(server, servant, agent)

    async def serve_async(self, servant: AsyncServant, agent: Agent | None = None) -> str:
        """The same on the running loop of asyncio."""
        server = AsyncServer(f"memory:{new_name()}")
        server.offer(servant, agent)
        await server.start()
        return self._serve(server, servant, agent)

    def _serve(self, server: Server | AsyncServer, servant: BaseServant, agent: Agent | None) -> str:
        address = str(server.address)
        self._servers[address] = server
        for service in services_of(servant):
            self.add(service.name, address, "" if agent is None else str(agent))
        return address

    def stop(self, address: str) -> None:
        """Removes the entries of a server that serve() has started, and stops it."""
        self._drop(address)
        server = self._servers.pop(address)
        assert isinstance(server, Server), "of asyncio: stop_async()"
        server.stop()

    async def stop_async(self, address: str) -> None:
        self._drop(address)
        server = self._servers.pop(address)
        assert isinstance(server, AsyncServer), "of threads: stop()"
        await server.stop()

    def _drop(self, address: str) -> None:
        with self._changed:
            for agents in self._known.values():
                for agent, instances in agents.items():
                    agents[agent] = tuple(each for each in instances if each.address != address)
        self._tell()

    def lose(self, why: str) -> None:
        """It does not answer any more; what was known stays so."""
        with self._changed:
            self._trouble = why
        self._tell()

    def recover(self) -> None:
        with self._changed:
            self._trouble = ""
        self._tell()

    def close(self) -> None:
        """Stops the servers of threads that serve() has started."""
        for address, server in list(self._servers.items()):
            if isinstance(server, Server):
                self.stop(address)

    async def close_async(self) -> None:
        """Stops those of asyncio."""
        for address, server in list(self._servers.items()):
            if isinstance(server, AsyncServer):
                await self.stop_async(address)

    def __enter__(self) -> "FakeController":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> "FakeController":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close_async()

    # As resolvers see it

    def view(self, service: str) -> View:
        with self._changed:
            return self._view(service)

    def wait(self, service: str, old: View, timeout: float) -> View:
        until = monotonic() + timeout
        with self._changed:
            self.waits += 1
            while self._view(service) is old and (left := until - monotonic()) > 0:
                self._changed.wait(moment(min(left, 3600.0)))
            return self._view(service)

    def listen(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    def _view(self, service: str) -> View:
        view = self._views.get(service)
        if view is None:
            agents = dict(self._known.get(service, {}))
            view = View(agents, reached=not self._trouble, trouble=self._trouble)
            self._views[service] = view
        return view

    def _tell(self) -> None:
        with self._changed:
            self._views.clear()
            self.generation += 1
            self._changed.notify_all()
        for listener in self._listeners:
            listener()


class _Known(Views):
    """What both kinds of resolvers get from the controller."""

    __slots__ = ("_controller",)

    def __init__(self, controller: FakeController) -> None:
        self._controller = controller

    @property
    def generation(self) -> int:  # type: ignore[override]
        return self._controller.generation

    def view(self, service: str) -> View:
        return self._controller.view(service)

    def close(self) -> None:
        pass


class _Blocking(_Known, Resolver):
    __slots__ = ()

    def wait(self, service: str, old: View, timeout: float) -> View:
        return self._controller.wait(service, old, timeout)


class _Async(_Known, AsyncResolver):
    __slots__ = ("_news",)

    def __init__(self, controller: FakeController) -> None:
        super().__init__(controller)
        self._news = News()
        controller.listen(self._news.tell)

    async def wait(self, service: str, old: View, timeout: float) -> View:
        if self._controller.view(service) is old:
            self._controller.waits += 1
            await self._news.wait(timeout)
        return self._controller.view(service)

    def close(self) -> None:
        self._news.tell()
