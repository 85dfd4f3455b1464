"""R5. Binding a service at a server, in the server's schema if that is another one (docs/protocol.md, section
3). Written once for both kinds of links, whose waits differ.
"""

from collections.abc import Callable
from time import monotonic

from mf.core.error import Code, not_executed
from mf.core.service import ServiceInfo
from mf.link.core import HANDSHAKE_TIMEOUT, MOST_SCHEMAS, LinkCore
from mf.protocol.calls import Binding, Description
from mf.route.finder_table import Event


def _ignore(event: Event) -> None:
    """For a binding without a finder."""


async def bind(
    link: LinkCore,
    service: ServiceInfo,
    agent: str,
    deadline: float,
    schema: bytes = b"",
    fire: Callable[[Event], None] = _ignore,
) -> Binding:
    """The routes of (service, agent), requested when first needed. `schema`: the fingerprint of servers
    behind a relay. `fire` is called with each event. Raises Error, NOT_EXECUTED, if the server
    refuses, or does not answer in time."""
    known = link.bound(service, agent, schema)
    foreign = known is None and link.is_unlearned(service, schema)
    fire(Event.FOREIGN if foreign else Event.CONNECTED)
    if known is not None:
        return known
    deadline = min(deadline, monotonic() + HANDSHAKE_TIMEOUT)
    if foreign:
        schema = await _learn_schema(link, service, deadline, schema, None)
        fire(Event.DESCRIBED)
    binding = await link.ask(service, agent, deadline, schema)
    for _ in range(MOST_SCHEMAS):
        if binding.status != Code.SCHEMA_MISMATCH:
            break
        fire(Event.DIFFERS)
        schema = await _learn_schema(link, service, deadline, schema, binding)
        fire(Event.DESCRIBED)
        binding = await link.ask(service, agent, deadline, schema)
    if binding.status:
        raise not_executed(Code(binding.status), link.refusal(binding))
    return binding


async def _learn_schema(
    link: LinkCore, service: ServiceInfo, deadline: float, schema: bytes, refused: Binding | None
) -> bytes:
    """See LinkCore.adapt."""
    said = Description(service.name, deadline, schema if refused is None else b"")
    await link.describe(said, deadline)
    return link.adapt(service, schema, refused, said)
