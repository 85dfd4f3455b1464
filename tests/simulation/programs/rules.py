"""The rules that every run keeps, whatever went wrong in it. Each is a function from the log to what breaks
it, in words; docs/simulation.md lists them. A feature that promises something adds its rule here.
"""

from collections import Counter
from collections.abc import Callable, Iterator

from log import Asked, Log
from simulation import Refused

import mf

SLACK = 0.1
"""Virtual seconds by which a call may end later than it has to."""
MOST_RUNS = {"again": 3, "scatter": 9}
"""Of what is idempotent: as often as it may be tried, a scattered call at each of three places."""


def each_ends_once(log: Log) -> Iterator[str]:
    for asked in log.asked.values():
        if len(asked.ends) != 1:
            yield f"{asked.method} {asked.call} ended {len(asked.ends)} times: {asked.ends}"


def at_most_once(log: Log) -> Iterator[str]:
    for call, times in Counter(run.call for run in log.runs).items():
        method = log.asked[call].method
        most = MOST_RUNS.get(method, 1)
        if times > most:
            yield f"{method} {call} ran {times} times"


def not_executed_never_ran(log: Log) -> Iterator[str]:
    ran = {run.call for run in log.runs}
    for asked, end in _ends(log):
        if isinstance(end, mf.Error) and end.execution == mf.Execution.NOT_EXECUTED and asked.call in ran:
            yield f"{asked.method} {asked.call} ran, and its caller got a failure that says it did not: {end}"


def results_are_of_their_call(log: Log) -> Iterator[str]:
    began: dict[int, float] = {}
    for run in log.runs:
        began.setdefault(run.call, run.began)
    for asked, end in _ends(log):
        call = asked.call
        if isinstance(end, Refused):
            if end.call != call or not asked.refuse:
                yield f"{asked.method} {call} was refused as {end.call}"
        elif isinstance(end, int) and not isinstance(end, bool):
            expected = {"up": asked.size, "down": asked.size, "both": asked.size}.get(
                asked.method, call * 3 + 1
            )
            if end != expected or (asked.refuse and asked.method not in ("up", "both")):
                yield f"{asked.method} {call} gave {end} instead of {expected}"
            if asked.ends[0][0] < began.get(call, float("inf")):
                yield f"{asked.method} {call} gave a result before it ran"
        added = 1 if asked.method == "both" else 0
        if asked.values != [call * 1000 + index + added for index in range(len(asked.values))]:
            yield f"{asked.method} {call} gave values that are not its own, in order: {asked.values[:5]}…"
        if len(asked.values) > asked.size and asked.method in ("down", "both"):
            yield f"{asked.method} {call} gave {len(asked.values)} values of {asked.size}"


def nothing_after_the_end(log: Log) -> Iterator[str]:
    for asked in log.asked.values():
        if asked.after_end:
            yield f"{asked.method} {asked.call}: behind its end came {asked.after_end}"


def one_way_calls_in_order(log: Log) -> Iterator[str]:
    """One that was sent before another was asked for runs before it. Those of two tasks have no order."""
    latest: dict[tuple[str, str, int, str], Asked] = {}
    for run in log.runs:
        if run.order is not None:
            client, place, _ = run.order
            key = (run.host, run.connection, client, place)
            asked = log.asked[run.call]
            before = latest.setdefault(key, asked)
            if asked.ends and asked.ended_at <= before.asked_at:
                yield f"tell {run.call} ran behind tell {before.call}, which was sent later on one connection"
            if asked.asked_at > before.asked_at:
                latest[key] = asked


def ends_in_time(log: Log) -> Iterator[str]:
    for asked in log.asked.values():
        for when, end in asked.ends:
            if when > asked.limit + SLACK:
                yield f"{asked.method} {asked.call} ended {when - asked.limit:.3f} s late: {end!r}"


def handlers_end(log: Log) -> Iterator[str]:
    for run in log.left:
        yield f"{run.method} {run.call}: its handler on {run.host} was never stopped"


def watches_have_no_gap(log: Log) -> Iterator[str]:
    """A client with the list of the controller at a revision has all of it, and nothing else."""
    for seen in log.seen:
        listed = log.directory.get((seen.run, seen.revision))
        if listed is None:
            yield f"a client is at revision {seen.revision} of run {seen.run}, which the controller never was"
        elif seen.listed != listed:
            wrong = sorted(seen.listed ^ listed)
            yield f"at revision {seen.revision} of run {seen.run} a client is wrong about {wrong}"


def epochs_are_of_one_owner_and_grow(log: Log) -> Iterator[str]:
    latest: dict[tuple[str, str], int] = {}
    owners: dict[tuple[str, int], str] = {}
    for led in log.leads:
        other = owners.setdefault((led.place, led.epoch), led.host)
        if other != led.host:
            yield f"{other} and {led.host} have epoch {led.epoch} of {led.place}"
        before = latest.get((led.place, led.host), 0)
        if led.epoch <= before:
            yield f"{led.host} has epoch {led.epoch} of {led.place} behind {before}"
        latest[led.place, led.host] = led.epoch


def what_the_run_saw(log: Log) -> Iterator[str]:
    yield from log.troubles


RULES: tuple[Callable[[Log], Iterator[str]], ...] = (
    each_ends_once,
    at_most_once,
    not_executed_never_ran,
    results_are_of_their_call,
    nothing_after_the_end,
    one_way_calls_in_order,
    ends_in_time,
    handlers_end,
    watches_have_no_gap,
    epochs_are_of_one_owner_and_grow,
    what_the_run_saw,
)


def broken(log: Log) -> list[str]:
    return [f"{rule.__name__}: {text}" for rule in RULES for text in rule(log)]


def _ends(log: Log) -> Iterator[tuple[Asked, object]]:
    for asked in log.asked.values():
        for _, end in asked.ends:
            yield asked, end
