"""A line of standard input, and the JSON of the line that answers it. cpp/words.cpp is the same in C++.

"verb agent argument… key=value…": `deadline` and `idle` are milliseconds, other keys are metadata.
"""

from dataclasses import dataclass, field
from typing import Any

from conformance import Missing, Refused

import mf

Json = dict[str, Any]


class ManualClock:
    """Moves only when a test moves it: cached calls age by it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass(slots=True)
class Words:
    verb: str
    agent: str
    arguments: list[str] = field(default_factory=list)
    deadline: float | None = None
    idle: float = mf.INFINITE
    metadata: dict[str, str] = field(default_factory=dict)
    reply: dict[str, str] = field(default_factory=dict)

    @property
    def numbers(self) -> list[int]:
        return [int(word) for word in self.arguments]

    @property
    def plain_options(self) -> mf.CallOptions:
        """Of a call that does not ask for the metadata of its reply."""
        return mf.CallOptions(deadline=self.deadline, metadata=self.metadata)

    @property
    def options(self) -> mf.CallOptions:
        return mf.CallOptions(
            deadline=self.deadline, idle=self.idle, metadata=self.metadata, reply_metadata=self.reply
        )


def parse(line: str) -> Words:
    verb, agent, *rest = line.split()
    words = Words(verb, agent)
    for word in rest:
        key, equals, value = word.partition("=")
        if not equals:
            words.arguments.append(word)
        elif key == "deadline":
            words.deadline = int(value) / 1000
        elif key == "idle":
            words.idle = int(value) / 1000
        else:
            words.metadata[key] = value
    return words


def expanded(word: str) -> str:
    """ "a*3" is "aaa"; every other word is itself."""
    text, star, times = word.partition("*")
    return text * int(times) if star else word


def shortened(text: str) -> str:
    """Long texts by their beginning and their length."""
    return text if len(text) <= 20 else f"{text[:8]}… {len(text)}"


def failed(failure: BaseException) -> Json:
    match failure:
        case Refused():
            return {"error": "Refused", "why": failure.why, "at": failure.at}
        case Missing():
            return {"error": "Missing", "key": failure.key}
        case mf.Error():
            return {
                "code": failure.code.name,
                "execution": failure.execution.name,
                "message": failure.message,
            }
    raise failure


def outcome(ended: mf.Outcome[Any]) -> Json:
    return {"value": ended.value()} if ended.error is None else failed(ended.error)


def outcomes(ended: list[mf.Outcome[int]]) -> Json:
    return {"outcomes": [outcome(each) for each in ended]}


def scattered(ended: mf.Scattered[str, int]) -> Json:
    return {"scattered": [{"agent": agent, "outcome": outcome(each)} for agent, each in ended.items()]}
