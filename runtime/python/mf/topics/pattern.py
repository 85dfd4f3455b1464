"""R6. Patterns that select the agents of a subscription: "eu.*.books". Dots separate segments; '*' matches
any one segment, and at the end one or more. A topic without agents has the empty pattern.
"""

from mf.core.error import shortened


def pattern_refusal(topic: str, per_agent: bool, pattern: str) -> str:
    """Why the pattern is invalid for the topic, or "" if it is valid."""
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
