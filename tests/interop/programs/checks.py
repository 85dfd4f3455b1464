"""One JSON line a check: {"name", "mode", "ok", "detail"}. The suite reads them; so may a person."""

import json
import sys
from collections.abc import Callable
from typing import Any

import mf


class Checks:
    def record(self, name: str, mode: str, problem: str | None) -> None:
        """`problem` None: all is well."""
        say({"name": name, "mode": mode, "ok": problem is None, "detail": problem or ""})

    def guarded(self, name: str, mode: str, check: Callable[[], str | None]) -> None:
        """Runs a check; whatever it raises is its problem."""
        try:
            problem = check()
        except Exception as raised:
            problem = f"raised {type(raised).__name__}: {raised}"
        self.record(name, mode, problem)


HIDDEN = "the handler has failed: the log of its server "


def say(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)
    sys.stdout.flush()


def outcome_of(call: Callable[[], Any]) -> mf.Outcome[Any]:
    try:
        return mf.Outcome(call())
    except (mf.Error, mf.DeclaredError) as failure:
        return mf.Outcome(error=failure)


def differ(expected: mf.Outcome[Any], got: mf.Outcome[Any]) -> str | None:
    """In words, how an outcome is not what was expected. Messages of errors may say more than expected, and
    servers keep the texts of exceptions to themselves."""
    left, right = expected.error, got.error
    if isinstance(left, mf.Error) and isinstance(right, mf.Error):
        is_said = left.message in right.message or right.message.startswith(HIDDEN)
        same = (left.code, left.execution) == (right.code, right.execution) and is_said
    elif left is None and right is None:
        same = expected == got
    else:
        same = left == right
    return None if same else f"expected {shown(expected)}, got {shown(got)}"


def differ_all(expected: list[mf.Outcome[Any]], got: list[mf.Outcome[Any]]) -> str | None:
    if len(expected) != len(got):
        return f"expected {len(expected)} outcomes, got {len(got)}"
    for index, (one, other) in enumerate(zip(expected, got, strict=True)):
        if problem := differ(one, other):
            return f"item {index}: {problem}"
    return None


def shown(outcome: mf.Outcome[Any]) -> str:
    text = repr(outcome)
    return text if len(text) < 400 else text[:400] + "…"
