"""R0. Checks the agent of an offered servant: whether it fits the service, and a client could name it.

The type of agents is in the service's descriptor (docs/protocol.md, section 7). An enum's member may also be
given by its name.
"""

from mf.core.agent import Agent
from mf.core.agent_names import Addressed, agent_names, agent_type, text_of_agent
from mf.core.error import shortened
from mf.core.service import ServiceInfo

_BIND_LIMIT = 32 * 1024
"""The size in bytes of a BIND, in which clients name service, agent and methods."""

_INTEGERS = frozenset(f"{kind}{bits}" for kind in "iu" for bits in (8, 16, 32, 64))


def offered_agent(service: ServiceInfo, agent: Agent | None) -> str:
    """The agent's text on the wire; empty for a service without agents. Raises ValueError for an agent that
    does not fit the service, TypeError for an invalid one.
    """
    if service.agent is None:
        if agent is not None:
            raise ValueError(f"{service.name} is not offered per agent: leave agent={agent!r} out")
        return ""
    if agent is None or agent == "":
        raise ValueError(f"{service.name} is offered per {service.agent}: say which, with agent=…")
    text = text_of_agent(service, agent)
    _check_length(service, text)
    _check_type(service, text)
    return text


def _check_length(service: ServiceInfo, agent: str) -> None:
    names = [service.name, *(method.name for method in service.methods)]
    room = _BIND_LIMIT - 16 - 2 - 2 - sum(2 + len(name.encode()) for name in names)
    size = len(agent.encode())
    if size > room:
        text = f"an agent of {size:,} bytes: beside the names of {service.name}, {room:,} go over the wire"
        raise ValueError(text)


def _check_type(service: ServiceInfo, agent: str) -> None:
    if not agent_fits(service, agent):
        kind = agent_type(service)
        of = f"{service.name} is offered per {service.agent}, of type {kind}"
        raise ValueError(f"{of}: not for {shortened(agent)!r}")


def agent_fits(service: Addressed, agent: str) -> bool:
    """Whether it is the canonical text of a value of the agent's type; two texts of one value would never
    match."""
    kind = agent_type(service)
    if kind in ("", "string"):
        return True
    if kind == "uuid":
        return _is_uuid(agent)
    if kind in _INTEGERS:
        return _is_integer(kind, agent)
    for line in service.descriptor.splitlines():
        if line.startswith(f"type {kind} enum "):
            base, form = line.split()[3:5]
            return _is_integer(base, agent) and (form != "closed" or agent in agent_names(service))
    return True


def _is_uuid(agent: str) -> bool:
    from uuid import UUID  # few services have such agents

    try:
        return str(UUID(agent)) == agent
    except ValueError:
        return False


def _is_integer(kind: str, agent: str) -> bool:
    bits = int(kind[1:])
    low = 0 if kind[0] == "u" else -(1 << bits - 1)
    try:
        number = int(agent)
    except ValueError:
        return False
    return str(number) == agent and low <= number < low + (1 << bits)
