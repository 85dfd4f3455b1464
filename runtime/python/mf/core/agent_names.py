"""R0. Agents that are members of an enum: they are sent as the member's number, and users read and write its
name. Both are in the descriptor of the service or topic.
"""

from typing import Protocol

from mf.core.agent import Agent, agent_text


class Addressed(Protocol):
    """A service or a topic. `agent`: the name of its agents, or None."""

    @property
    def agent(self) -> str | None: ...

    @property
    def descriptor(self) -> str: ...


_KNOWN: dict[str, dict[str, str]] = {}  # by descriptor


def agent_names(service: Addressed) -> dict[str, str]:
    """The name of each text; empty if the agents are of another type, or if there are none."""
    if service.agent is None:
        return {}
    names = _KNOWN.get(service.descriptor)
    if names is None:
        names = _KNOWN[service.descriptor] = _names(service)
    return names


def _names(service: Addressed) -> dict[str, str]:
    lines = service.descriptor.splitlines()
    kind = agent_type(service)
    start = next((at for at, line in enumerate(lines) if line.startswith(f"type {kind} enum ")), len(lines))
    names = {}
    for line in lines[start + 1 :]:
        if not line.startswith(" "):
            break
        name, number = line.split()
        names[number] = name
    return names


def agent_type(service: Addressed) -> str:
    """The type as the schema spells it; empty if the descriptor does not contain it."""
    lines = service.descriptor.split("\n", 2)
    per = lines[1].split() if len(lines) > 1 else []
    return per[2] if len(per) == 3 and per[0] == "per" else ""


def shown_agent(service: Addressed, text: str) -> str:
    """The agent as users read it."""
    return agent_names(service).get(text, text)


def text_of_agent(service: Addressed, agent: Agent) -> str:
    """The agent's text on the wire; an enum's member may be given by its name. Raises as `agent_text`
    does."""
    text = agent_text(agent)
    return next((number for number, name in agent_names(service).items() if name == text), text)
