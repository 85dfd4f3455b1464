"""R6. Which agents a subscription is for: "eu.*.books". Segments stand between dots; one that is '*' stands
for any, and one at the end for one segment or more. Empty: the topic has no agents.
"""

from mf.core.error import shortened


def pattern_refusal(topic: str, per_agent: bool, pattern: str) -> str:
    """Why nobody may subscribe by it; "" if somebody may."""
    if not per_agent:
        if not pattern:
            return ""
        return f'topic {topic} has no agents, and "{shortened(pattern)}" asks for one'
    if not pattern:
        return f'topic {topic} has agents: say which, "*" for all'
    for segment in pattern.split("."):
        if "*" in segment and segment != "*":
            text = "'*' stands for a whole segment between dots, not for a part of one"
            return f'{text}: "{shortened(segment)}"'
    return ""


def pattern_matches(pattern: str, agent: str) -> bool:
    if pattern == agent:
        return True
    if not pattern or not agent:
        return False
    wanted, given = pattern.split("."), agent.split(".")
    if wanted[-1] == "*" and len(given) >= len(wanted):
        del given[len(wanted) :]
    if len(wanted) != len(given):
        return False
    return all(one in ("*", other) for one, other in zip(wanted, given, strict=True))
