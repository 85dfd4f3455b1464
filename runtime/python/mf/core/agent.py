"""R0. Agents as text on the wire. Clients and servers must use the same rule, or they would never match."""

from typing import TYPE_CHECKING, TypeAlias, Union

from mf.core.error import Code, not_executed

if TYPE_CHECKING:
    from uuid import UUID

Agent: TypeAlias = Union[str, int, "UUID"]
"""Members of enums are integers."""


def agent_text(agent: Agent) -> str:
    """Text unchanged, an integer (an enum's member: its number) in decimal, a UUID in its canonical text.

    Raises TypeError for anything else, ValueError for text without a UTF-8 form (a lone surrogate).
    """
    if isinstance(agent, str):
        if not agent.isascii():
            _check_unicode(agent)
        return agent
    if isinstance(agent, int) and not isinstance(agent, bool):
        return str(int(agent))
    from uuid import UUID  # programs that use UUIDs have imported it; others need not wait for it

    if isinstance(agent, UUID):
        return str(agent)
    raise TypeError(f"an agent is a str, an int or a UUID, not {agent!r}: give one of these")


def called_agent(agent: Agent) -> str:
    """The same for clients. Raises Error(INVALID_ARGUMENT), NOT_EXECUTED, instead of ValueError."""
    try:
        return agent_text(agent)
    except ValueError as bad:
        raise not_executed(Code.INVALID_ARGUMENT, str(bad)) from None


def _check_unicode(agent: str) -> None:
    try:
        agent.encode()
    except UnicodeEncodeError as bad:
        shown = ascii(agent[:80])
        raise ValueError(f"the agent {shown} has a lone surrogate at {bad.start}, which is no text") from None
