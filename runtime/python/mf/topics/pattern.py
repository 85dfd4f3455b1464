"""R6. Patterns that select the agents of a subscription: "eu.*.books". Dots separate segments; '*' matches
any one segment, and at the end one or more; none is empty. A topic without agents has the empty pattern.
"""

from mf.core.agent import Agent
from mf.core.agent_names import agent_type, text_of_agent
from mf.core.error import Code, not_executed, shortened
from mf.core.offered import agent_fits
from mf.topics.info import AnyTopic


def sent_agent(topic: AnyTopic, agent: Agent) -> str:
    """The agent or pattern that a user has given, as it is sent: for a member of an enum its number. Raises
    INVALID_ARGUMENT for text that has no UTF-8 form."""
    try:
        return text_of_agent(topic, agent)
    except ValueError as bad:
        raise not_executed(Code.INVALID_ARGUMENT, str(bad)) from None


def type_refusal(topic: AnyTopic, agent: str) -> str:
    """Why the topic has no such agent, given as it is sent, or "" if it may have it."""
    if topic.agent is None or not agent or agent_fits(topic, agent):
        return ""
    return f'topic {topic.name} has agents of type {agent_type(topic)}, and "{shortened(agent)}" is none'


def sent_pattern(topic: AnyTopic, agents: Agent) -> str:
    """As sent_agent(). Raises INVALID_ARGUMENT, too, for what no agent of the topic can be: its subscriber
    would wait in vain."""
    sent = sent_agent(topic, agents)
    refusal = "" if sent == "*" else type_refusal(topic, sent)
    if refusal:
        raise not_executed(Code.INVALID_ARGUMENT, refusal)
    return sent


def pattern_refusal(topic: str, per_agent: bool, pattern: str) -> str:
    """Why the pattern is invalid for the topic, or "" if it is valid."""
    if not per_agent:
        if not pattern:
            return ""
        return f'topic {topic} has no agents, and "{shortened(pattern)}" asks for one'
    if not pattern:
        return f'topic {topic} has agents: say which, "*" for all'
    for segment in pattern.split("."):
        if not segment:
            return f'a segment between dots is empty: "{shortened(pattern)}"'
        if "*" in segment and segment != "*":
            text = "'*' matches a whole segment between dots, not a part of one"
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
