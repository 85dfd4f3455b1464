"""R6. The feeds of an upstream (upstream.py): one for each instance that publishes what its subscribers want,
and one for all relays that reach publishers of the same schema."""

from asyncio import Task, get_running_loop, wait
from collections.abc import Iterable

from mf.core.error import Code, Error, Execution, not_executed
from mf.core.log import log_escaped_exception
from mf.core.options import INFINITE
from mf.route.async_resolver import AsyncResolver
from mf.route.async_routing import AsyncRouting
from mf.route.resolver import Instance, View, topic_view
from mf.topics.feed import Feed, Offered
from mf.topics.pattern import pattern_matches
from mf.topics.upstream import Upstream

_RELAYS = "relays"
"""The common key of all relays, in place of a key for each process, where the schema of the publishers behind
them is not known; else that is the key."""


class Feeds:
    """Follows the instances that are offered, with one task for each feed."""

    def __init__(self, upstream: Upstream, resolver: AsyncResolver, router: AsyncRouting) -> None:
        self._upstream = upstream
        self._resolver = resolver
        self._router = router
        self._offered: Offered = {}
        self._tasks: dict[str, Task[None]] = {}

    async def run(self) -> None:
        upstream = self._upstream
        name = topic_view(upstream.topic.name)
        try:
            view = self._resolver.view(name)
            while not self._router.pool.closed:
                self._follow(view)
                view = await self._resolver.wait(name, view, INFINITE)
        except Exception as bug:
            log_escaped_exception(f"a subscriber of {upstream.topic.name}", bug)
            upstream.end_inboxes(Error(Code.INTERNAL, f"{type(bug).__name__}: {bug}", Execution.UNKNOWN))
        finally:
            tasks = list(self._tasks.values())
            for task in tasks:
                task.cancel()
            upstream.end_inboxes(not_executed(Code.CANCELLED, "the client was closed"))
            if tasks:
                await wait(tasks)

    def _follow(self, view: View) -> None:
        self._upstream.trouble = "" if view.reached else view.trouble
        self._offered.clear()
        for key, instance in self._wanted(view):
            if self._resolver.of_relays:
                key = instance.fingerprint.hex() or _RELAYS
            ways = self._offered.setdefault(key, [])
            if all(instance.address != way.address for way in ways):
                ways.append(instance)
        loop = get_running_loop()
        for key in self._offered:
            if key not in self._tasks:
                self._tasks[key] = loop.create_task(self._keep(key))

    def _wanted(self, view: View) -> Iterable[tuple[str, Instance]]:
        """The matching instances, each with a key that is unique for its process."""
        for instance in view.whole:
            yield instance.address, instance
        for agent, instances in view.agents.items():
            if agent == "*" or pattern_matches(self._upstream.wanted.agents, agent):
                for instance in instances:
                    yield instance.nonce.hex() or instance.address, instance

    async def _keep(self, key: str) -> None:
        """Keeps a feed while its instance is known."""
        of_relays = self._resolver.of_relays
        try:
            await Feed(self._upstream, self._router, self._offered, key, of_relays=of_relays).run()
        finally:
            self._tasks.pop(key, None)
