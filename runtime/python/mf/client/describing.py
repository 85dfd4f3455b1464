"""R5. Asks servers for the description of a service or topic. Written once for both kinds of clients: the
waits are those of their routing.
"""

from time import monotonic
from typing import Any

from mf.core.description import Description
from mf.core.error import Code, Error, not_executed
from mf.core.service import ServiceInfo
from mf.link.core import HANDSHAKE_TIMEOUT, LinkCore
from mf.protocol.calls import Description as Asked
from mf.route.resolver import Instance, View, topic_view
from mf.route.routing import Routing


async def describe(
    routing: Routing[Any, Any], name: str, agent: str | None, topic: bool, seconds: float
) -> Description:
    """What the first server that answers says. Raises Error, NOT_EXECUTED: UNKNOWN_SERVICE if the servers
    that answered do not offer it, or if a controller names none within `wait_for_server`."""
    watched = ServiceInfo(
        name=topic_view(name) if topic else name, agent=None, descriptor="", fingerprint=b"", methods=()
    )
    until = monotonic() + seconds
    asked: set[Instance] = set()
    failure: Error | None = None
    view: View = routing.resolver.view(watched.name)
    waits_until = until
    while True:
        for _, instance in view.find(agent):
            if instance in asked:
                continue
            asked.add(instance)
            try:
                return await _ask(routing, name, instance, until)
            except Error as refused:
                if failure is None or failure.code is Code.UNKNOWN_SERVICE:
                    failure = refused
        if failure is not None:
            raise failure
        now = monotonic()
        if view.reached:
            waits_until = min(waits_until, now + routing.wait_for_server)
        if now >= min(waits_until, until):
            raise _unknown(view, name, agent)
        old = view
        await routing.news(watched, old, min(waits_until, until) - now)
        view = routing.resolver.view(watched.name)


async def _ask(routing: Routing[Any, Any], name: str, instance: Instance, until: float) -> Description:
    link: LinkCore = await routing.pool.open(instance, until)
    said = Asked(name, min(until, monotonic() + HANDSHAKE_TIMEOUT), routing.schema_of(instance))
    await link.describe(said, until)
    if not said.text:
        raise not_executed(Code.UNKNOWN_SERVICE, f"{instance.address} does not offer {name}")
    hello = link.peer_hello
    if hello is None:  # it answers before it has greeted: the session refuses that
        return Description(name, said.text, said.annex, instance.address)
    load = hello.calls_open, hello.calls_at_once
    return Description(name, said.text, said.annex, instance.address, hello.name, *load)


def _unknown(view: View, name: str, agent: str | None) -> Error:
    if not view.reached:
        return not_executed(view.code, view.trouble or "no controller has answered in time")
    if agent is not None and view.agents:
        return not_executed(Code.UNKNOWN_AGENT, f"no server offers {name} at {agent}")
    return not_executed(Code.UNKNOWN_SERVICE, f"no server offers {name}")
