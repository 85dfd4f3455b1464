"""A publisher of a described topic, for the time of a command."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from mf_tools.connect import Place, quiet
from mf_tools.guard import NO_ANSWER, USAGE, CommandError
from mf_tools.registry import full_name, hinting

if TYPE_CHECKING:
    from mf.described import Description, Topic

Publish = Callable[[str, Any], None]
_STEP = 0.01


def topic_of(place: Place, name: str, like: Description | None, deadline: float) -> Topic:
    """By a file, or as another publisher describes it."""
    from mf import described

    if like is not None:
        return described.Topic(like)
    whole = full_name(place, name, "topic")
    with place.client(wait_for_server=min(deadline, 1.0)) as client, hinting(place, whole, "topic"):
        return described.Topic(client.describe(whole, topic=True, deadline=deadline))


@contextmanager
def publisher(
    place: Place, topic: Topic, listen: str, wait: float, deadline: float, agents: Iterable[str] = ()
) -> Iterator[Publish]:
    """A server of its own, registered at the controller. `wait`: seconds for the first subscriber; the end
    waits until subscribers have taken all, at most `deadline` seconds. `agents`: offered from the start, so
    that subscribers of one of them find it."""
    import mf

    quiet()
    where = place.where if place.is_controller else None
    if where is None and not listen:
        raise CommandError(
            "subscribers find a publisher through a controller: --where mf://…, or --listen ADDRESS", USAGE
        )
    topics = mf.Topics()
    made: Any = topic.publisher(topics)
    sources: dict[str, Any] = {}
    try:
        server = mf.Server(listen or "tcp://127.0.0.1:0", where, controller_tls=place.tls())
        server.offer(topics)
    except ValueError as wrong:
        raise CommandError(str(wrong), USAGE) from None

    def source(agent: str) -> Any:
        if topic.info.agent is None:
            if agent:
                raise CommandError(f"{topic.name} has no agents: leave --agent out", USAGE)
            return made
        if not agent:
            raise CommandError(
                f"{topic.name} has agents: say which, --agent {topic.info.agent.upper()}", USAGE
            )
        if agent not in sources:
            sources[agent] = made.at(agent)
        return sources[agent]

    ready: dict[str, Callable[[Any], None]] = {}

    def begin(agent: str) -> Callable[[Any], None]:
        found = source(agent)  # from here on the topic is offered for this agent
        if not ready and wait and not made.await_subscribers(1, wait):
            raise CommandError(f"no subscriber has come within {wait:g} s; nothing was published", NO_ANSWER)
        ready[agent] = found.publish
        return ready[agent]

    def publish(agent: str, value: Any) -> None:
        (ready.get(agent) or begin(agent))(value)

    for each in agents:
        source(each)
    with server:
        yield publish
        _drained(made, deadline)
    topics.close()


def _drained(made: Any, deadline: float) -> None:
    until = monotonic() + deadline
    while any(each.queued for each in made.stats().subscriptions):
        if monotonic() >= until:
            raise CommandError("not all subscribers have taken all messages in time", NO_ANSWER)
        sleep(_STEP)
