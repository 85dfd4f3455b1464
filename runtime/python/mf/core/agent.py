"""R0. Agents as the wire has them: text. One rule for those who offer and those who call, or they would never
meet.
"""

from typing import TYPE_CHECKING, TypeAlias, Union

if TYPE_CHECKING:
    from uuid import UUID

Agent: TypeAlias = Union[str, int, "UUID"]
"""Members of enums are integers."""


def agent_text(agent: Agent) -> str:
    """Text as it is, an integer (an enum's member: its number) in decimal, a UUID in its canonical text.

    Raises TypeError for anything else.
    """
    if isinstance(agent, str):
        return agent
    if isinstance(agent, int) and not isinstance(agent, bool):
        return str(int(agent))
    from uuid import UUID  # who has one has imported it; who has none need not wait for it

    if isinstance(agent, UUID):
        return str(agent)
    raise TypeError(f"an agent is a str, an int or a UUID, not {agent!r}: give one of these")
