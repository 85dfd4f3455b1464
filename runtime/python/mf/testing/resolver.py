"""A controller that a test plays: what clients know of servers is what the test says."""

from asyncio import AbstractEventLoop
from collections.abc import Iterable, Mapping

from mf.link.async_resolver import AsyncResolver, News
from mf.link.resolver import Instance, View


class ScriptedResolver(AsyncResolver):
    """Of a client of asyncio. Until `say` is called nobody has answered it.

    resolver.say({"books": ["tcp://127.0.0.1:7401"]})    the agent has one server
    resolver.say({"books": []})                          it had, and lost it
    """

    __slots__ = ("_news", "_view")

    def __init__(self, loop: AbstractEventLoop) -> None:
        self.generation = 0
        self._news = News(loop)
        self._view = View({}, reached=False, trouble="the script has said nothing yet")

    def say(self, agents: Mapping[str, Iterable[str]]) -> None:
        """Addresses by agent, of all services. Those who wait go on."""
        self._now(View({agent: tuple(map(Instance, some)) for agent, some in agents.items()}))

    def lose(self, trouble: str) -> None:
        """The controller does not answer any more; what was known stays."""
        self._now(View(self._view.agents, reached=False, trouble=trouble))

    def _now(self, view: View) -> None:
        self._view = view
        self.generation += 1
        self._news.tell()

    def view(self, service: str) -> View:  # noqa: ARG002 - the same for all
        return self._view

    async def wait(self, service: str, old: View, timeout: float) -> View:  # noqa: ARG002
        if self._view is old:
            await self._news.wait(timeout)
        return self._view

    def close(self) -> None:
        self._news.tell()
