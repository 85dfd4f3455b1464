"""What `mf replay` does with a recording of calls: makes them again, and compares how they end."""

import asyncio
import gc
import json
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from mf_tools.connect import Place, quiet
from mf_tools.guard import FAILED, FILES, USAGE, CommandError
from mf_tools.measured import bars, histogram, shown, summary
from mf_tools.output import emit, line, note, safe, table
from mf_tools.pacing import Progress
from mf_tools.registry import hinting

if TYPE_CHECKING:
    import mf
    from mf.client import AsyncTarget
    from mf.client.volley import Shot
    from mf.described import CallRecording, DescribedMethod, Description, RecordedCall, Service

T = TypeVar("T")

HELD = 32 << 20
"""Bytes of a recording whose values are all read before the first is published or called."""
_SHOWN = 10
"""So many outcomes that differ are shown one by one."""
_MOST_TEXT = 300


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the options say. `again`: which methods are called: full names, or their beginnings and '*'.
    `speed`: 0 is without pauses. `adapts`: to the services as they are now. `results`: whether results are
    compared, too. `deadline`: seconds of each call."""

    again: tuple[str, ...]
    speed: float
    adapts: bool
    results: bool
    most_open: int
    deadline: float

    def names(self, call: "RecordedCall") -> bool:
        name = _name(call)
        return any(name.startswith(each[:-1]) if each.endswith("*") else name == each for each in self.again)


def replay_calls(place: Place, file: str, wanted: Wanted) -> int:
    """The exit code: 1 if a call has ended in another way than its recording says."""
    from mf import described

    quiet()
    try:
        recording = described.CallRecording(file)
    except ValueError as wrong:
        raise CommandError(str(wrong), FILES) from None
    plan = _Plan(recording, wanted)
    is_small = Path(file).stat().st_size <= HELD
    seen = asyncio.run(_run(place, plan, wanted, is_small))
    found = seen.found(plan)
    if place.json:
        emit(found)
    else:
        _show(found)
    if seen.interrupted:
        raise KeyboardInterrupt
    return FAILED if seen.others else 0


class _Plan:
    """Which calls of a recording are made. Ends the command if none is, or a call is to be made twice of
    which it is not said that it may."""

    def __init__(self, recording: "CallRecording", wanted: Wanted) -> None:
        self._recording = recording
        self._wanted = wanted
        self.count = 0
        self.left_out: Counter[str] = Counter()
        self.descriptions: dict[str, Description | None] = {}
        """Of the services that are called, by name: the first that is recorded."""
        others = set()
        first: float | None = None
        for call in self._all():
            why = self._why_not(call)
            if why:
                self.left_out[why] += 1
                others.add(_name(call))
            else:
                self.count += 1
                first = call.seconds if first is None else first
                self.descriptions.setdefault(call.service, call.description)
        self._first = first or 0.0
        if not wanted.again and others:
            raise CommandError(
                f"no server says whether a method may run twice: name those that may with --again, of "
                f"{', '.join(sorted(others))}; --again '*' is all of them",
                USAGE,
            )
        if not self.count:
            raise CommandError(
                f"the recording has no call to make; left out: {_counts(self.left_out)}", USAGE
            )

    def calls(self) -> "Iterator[tuple[float | None, RecordedCall]]":
        """With the moments when they are due, in seconds since the first one; None: at once."""
        speed = self._wanted.speed
        for call in self._all():
            if not self._why_not(call):
                yield (call.seconds - self._first) / speed if speed else None, call

    def _all(self) -> "Iterator[RecordedCall]":
        try:
            yield from self._recording
        except ValueError as wrong:
            raise CommandError(str(wrong), FILES) from None

    def _why_not(self, call: "RecordedCall") -> str:
        if not self._wanted.names(call):
            return "of other methods"
        if call.stream:
            return "with a stream"
        if call.arguments is None:
            return "without arguments"
        return ""


class _Expected(NamedTuple):
    """How a call of the recording has ended. `code`: the name of one. `result`: as JSON; None: it is not
    compared."""

    line: int
    name: str
    code: str
    result: str | None
    method: "DescribedMethod"


class _Services:
    """Calls become calls of services: of those that are recorded, to which servers adapt, or as the servers
    describe them now."""

    def __init__(self, client: "mf.AsyncClient", now: "dict[str, Description]", *, adapts: bool) -> None:
        self._client = client
        self._now = now
        self._adapts = adapts
        self._made: dict[Description, tuple[Service, AsyncTarget]] = {}
        self._targets: dict[tuple[int, str], AsyncTarget] = {}

    def prepared(self, plan: _Plan, results: bool) -> "Iterator[tuple[float | None, Shot]]":
        """The calls, with the moments when they are due. Raises CommandError, with the line, for a call that
        does not fit."""
        for moment, call in plan.calls():
            recorded = None if self._adapts else call.description
            service, base = self._service(recorded or self._now[call.service])
            method = service.methods.get(call.method)
            if method is None:
                raise CommandError(f"line {call.line}: {call.service} has no method {call.method}", USAGE)
            if method.schema.replicated:
                plan.left_out["to replicas"] += 1
            elif method.info.stream:
                plan.left_out["with a stream"] += 1
            else:
                at = call.agent if service.info.agent is not None else ""
                yield moment, self._shot(call, method, self._target(base, at), results)

    def _shot(
        self, call: "RecordedCall", method: "DescribedMethod", target: "AsyncTarget", results: bool
    ) -> "Shot":
        import mf
        from mf.client.volley import Shot

        try:
            arguments = method.arguments(call.arguments)
        except mf.DecodeError as wrong:
            raise CommandError(f"line {call.line}: {_name(call)}: {wrong.message}", USAGE) from None
        # Of a oneway method the caller does not learn how it ends.
        code = "OK" if method.schema.oneway else call.code.name
        expected = _Expected(call.line, _name(call), code, call.result if results else None, method)
        return Shot(target, method.info, arguments, expected)

    def _target(self, base: "AsyncTarget", agent: str) -> "AsyncTarget":
        """One for each agent, since it keeps its route from call to call."""
        key = id(base), agent
        found = self._targets.get(key)
        if found is None:
            found = self._targets[key] = base.at(agent) if agent else base.any()
        return found

    def _service(self, of: "Description") -> "tuple[Service, AsyncTarget]":
        from mf import described

        found = self._made.get(of)
        if found is None:
            service = described.Service(of)
            found = self._made[of] = service, service.async_target(self._client)
        return found


@dataclass(slots=True)
class _Seen:
    """How the calls have ended. `interrupted`: not all were made, and of `given_up` the end was not
    awaited."""

    progress: Progress
    taken: "array[float]" = field(default_factory=lambda: array("d"))
    same: int = 0
    others: Counter[str] = field(default_factory=Counter)
    examples: list[dict[str, Any]] = field(default_factory=list)
    lasted: float = 0.0
    late: float = 0.0
    interrupted: bool = False
    given_up: int = 0

    def ended(self, shot: "Shot") -> None:
        self.taken.append(monotonic() - shot.due)
        if not len(self.taken) & 255:
            self.progress.at(len(self.taken))
        expected: _Expected = shot.what
        failure = shot.failed()
        if failure is None and expected.code == "OK" and expected.result is None:
            self.same += 1
            return
        code = "OK" if failure is None else _code_of(failure)
        change, text = f"{expected.code} -> {code}", "" if failure is None else str(failure)
        if code == expected.code:
            if failure is not None or expected.result is None:
                self.same += 1
                return
            now = expected.method.result_json(shot.value())
            if json.loads(now) == json.loads(expected.result):
                self.same += 1
                return
            change, text = "another result", f"{expected.result} -> {now}"
        self.others[change] += 1
        if len(self.examples) < _SHOWN:
            self.examples.append(
                {
                    "line": expected.line,
                    "method": expected.name,
                    "change": change,
                    "text": text[:_MOST_TEXT],
                }
            )

    def found(self, plan: _Plan) -> dict[str, Any]:
        calls = self.same + sum(self.others.values())
        return {
            "calls": calls,
            "seconds": round(self.lasted, 3),
            "rate": round(calls / self.lasted, 1) if self.lasted else 0.0,
            "same": self.same,
            "others": dict(self.others),
            "examples": self.examples,
            "left_out": dict(plan.left_out),
            "given_up": self.given_up,
            "late": round(self.late * 1e6, 1),
            "latency": summary(self.taken),
            "histogram": histogram(self.taken),
        }


async def _run(place: Place, plan: _Plan, wanted: Wanted, is_small: bool) -> _Seen:
    import mf
    from mf.client.volley import Volley

    seen = _Seen(Progress(plan.count))
    try:
        made = mf.AsyncClient(place.where, place.options())
    except ValueError as wrong:
        raise CommandError(str(wrong), USAGE) from None
    async with made as client:
        now = await _described(place, client, plan, wanted)
        services = _Services(client, now, adapts=wanted.adapts)
        calls: Iterable[tuple[float | None, Shot]] = services.prepared(plan, wanted.results)
        if is_small:
            held = list(calls)
            gc.freeze()  # else the collector looks at all of them again and again while they are made
            calls = _each_dropped(held)
        volley = Volley(seen.ended, wanted.most_open, wanted.deadline)
        begun = monotonic()
        try:
            await volley.fire(calls, begun)
        except asyncio.CancelledError:  # Ctrl-C; the summary has what has ended
            task = asyncio.current_task()
            assert task is not None
            task.uncancel()
            seen.interrupted = True
        finally:
            seen.progress.end()
        seen.lasted = monotonic() - begun
        seen.late, seen.given_up = volley.late, volley.given_up
    return seen


async def _described(
    place: Place, client: "mf.AsyncClient", plan: _Plan, wanted: Wanted
) -> "dict[str, Description]":
    """As the servers say it now, which also connects, and shows mistakes at once."""
    found = {}
    for name, recorded in plan.descriptions.items():
        with hinting(place, name, "service"):
            now = found[name] = await client.describe(name, deadline=wanted.deadline)
        if recorded is not None and recorded.descriptor != now.descriptor:
            how = "arguments are read as those of now" if wanted.adapts else "it adapts"
            note(f"{name} has another schema than in the recording: {how}")
    return found


def _each_dropped(held: list[T]) -> Iterator[T]:
    """The values of a list in order, each of which is out of it then."""
    held.reverse()
    while held:
        yield held.pop()


def _code_of(failure: Exception) -> str:
    import mf

    return failure.code.name if isinstance(failure, mf.Error) else "DECLARED"


def _name(call: "RecordedCall") -> str:
    return f"{call.service}.{call.method}"


def _counts(of: Counter[str] | dict[str, int]) -> str:
    return ", ".join(f"{count} {what}" for what, count in sorted(of.items())) or "none"


def _show(found: dict[str, Any]) -> None:
    line(f"{found['calls']} calls in {found['seconds']:g} s, {found['rate']:,.0f} a second")
    others = "".join(f"; {count} had {safe(change)}" for change, count in found["others"].items())
    line(f"{found['same']} ended as recorded{others}")
    for each in found["examples"]:
        line(safe(f"line {each['line']}: {each['method']}: {each['change']}: {each['text']}"))
    if found["given_up"]:
        line(f"{found['given_up']} were given up before they had ended")
    if found["left_out"]:
        line(f"left out: {_counts(found['left_out'])}")
    rows = [[key, shown(value)] for key, value in found["latency"].items() if key != "count"]
    table(("latency", ""), rows)
    for bar in bars(found["histogram"]):
        line(bar)
    if found["late"] > 10_000:
        note(f"calls began up to {shown(found['late'])} late: this machine cannot keep the pace")
