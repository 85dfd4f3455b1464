"""R6. Subscribers of publishers in other processes: each has an inbox on the board of an upstream
(upstream.py), which it shares with those subscribers of its client that want the same. What they share runs
on the asyncio loop of the client; a blocking client has one on its own thread."""

from asyncio import AbstractEventLoop, get_running_loop
from collections.abc import Callable
from contextlib import suppress
from threading import Lock, RLock
from typing import Any

from mf.client.async_client import AsyncClient
from mf.client.client import Client
from mf.core.error import Code, Error, Execution, not_executed
from mf.core.target import AsyncTargetSource, TargetSource
from mf.link import fork
from mf.link.background import Background
from mf.topics.channel import check_subscription
from mf.topics.feeds import Feeds
from mf.topics.inbox import Inbox
from mf.topics.info import AnyTopic
from mf.topics.options import ALL_KEPT, SubscribeOptions, SubscriberStats, TopicsOptions
from mf.topics.receiver import Receiver
from mf.topics.upstream import Upstream, Wanted


class RemoteReceiver(Receiver):
    """`run` calls a function on the loop; it may be used from any thread. `begin` or `share` is called on the
    loop, before anything else."""

    __slots__ = ("__weakref__", "_run", "_upstream", "keeps", "wanted")

    _upstream: Upstream

    def __init__(
        self,
        topic: AnyTopic,
        agents: str,
        options: SubscribeOptions,
        run: Callable[..., Any],
    ) -> None:
        overflow = topic.default_overflow if options.overflow is None else options.overflow
        check_subscription(topic, overflow, agents)
        most = TopicsOptions()
        super().__init__(
            Inbox(options.max_messages or most.max_messages, options.max_bytes or most.max_bytes, overflow),
            topic,
        )
        self.wanted = Wanted(
            topic,
            agents,
            overflow,
            options.max_messages,
            options.max_bytes,
            ALL_KEPT if options.replay is None else options.replay,
            options.stall_timeout,
        )
        self.keeps: object = None
        """Keeps the needed part of a blocking client alive after the user has dropped the client."""
        self._run = run
        fork.register(self)

    def after_fork(self) -> None:
        """Ends the subscription in a child, since its messages come to the parent."""
        self._lock = Lock()
        self._calling = RLock()
        text = f"the subscription to {self.topic.name} belongs to the parent process"
        self.inbox.after_fork(Error(Code.CONNECTION_LOST, text, Execution.UNKNOWN))

    # For the subscriber

    def silence(self) -> str:
        return self._upstream.silence()

    def stats(self) -> SubscriberStats:
        return self._figures(**self._upstream.figures())

    def _leave(self) -> None:
        self._run(self._upstream.leave, self)

    def _complete(self, function: Callable[..., Any], *arguments: Any) -> None:
        self._run(function, *arguments)

    # On the loop

    def begin(self, client: AsyncClient) -> None:
        self.share(_upstream(client, self.wanted))

    def share(self, upstream: Upstream) -> None:
        self._upstream = upstream
        upstream.join(self)


def _upstream(client: AsyncClient, wanted: Wanted) -> Upstream:
    """The one that equal subscribers of this client share."""
    resolver, router = client.subscriptions()
    found: Upstream | None = router.upstreams.get(wanted)
    if found is None:
        found = router.upstreams[wanted] = Upstream(wanted, router.upstreams)
        found.begin(Feeds(found, resolver, router).run())
    return found


def async_receiver(
    source: AsyncTargetSource, topic: AnyTopic, agents: str, options: SubscribeOptions
) -> RemoteReceiver:
    """Raises Error(INVALID_ARGUMENT)."""
    if not isinstance(source, AsyncClient):
        raise not_executed(Code.INVALID_ARGUMENT, _no_source(source))
    loop = get_running_loop()
    receiver = RemoteReceiver(topic, agents, options, _Soon(loop))
    receiver.begin(source)
    return receiver


def blocking_receiver(
    source: TargetSource, topic: AnyTopic, agents: str, options: SubscribeOptions
) -> RemoteReceiver:
    """Raises Error(INVALID_ARGUMENT)."""
    if not isinstance(source, Client):
        raise not_executed(Code.INVALID_ARGUMENT, _no_source(source))
    thread: Background
    side = source.async_side()
    thread, client = side.running()
    receiver = RemoteReceiver(topic, agents, options, thread.soon)
    receiver.keeps = side
    thread.call(receiver.begin, client)
    return receiver


def _no_source(source: object) -> str:
    return f"messages come from topics or a client, not from a {type(source).__name__}"


class _Soon:
    """Calls functions on a loop, from any thread, unless the loop is closed."""

    __slots__ = ("_loop",)

    def __init__(self, loop: AbstractEventLoop) -> None:
        self._loop = loop

    def __call__(self, function: Callable[..., Any], *arguments: Any) -> None:
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function, *arguments)
