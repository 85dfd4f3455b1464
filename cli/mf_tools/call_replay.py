"""What `mf replay` does with a recording of calls: makes them again, and compares how they end."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from mf_tools.connect import Place, quiet
from mf_tools.guard import FAILED, FILES, USAGE, CommandError
from mf_tools.measured import bars, histogram, shown, summary
from mf_tools.output import emit, line, note, safe, table
from mf_tools.pacing import paced
from mf_tools.registry import hinting

if TYPE_CHECKING:
    import mf
    from mf.client import AsyncTarget
    from mf.described import CallRecording, DescribedMethod, Description, RecordedCall, Service

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


class _Prepared(NamedTuple):
    call: "RecordedCall"
    method: "DescribedMethod"
    target: "AsyncTarget"
    arguments: tuple[Any, ...]


class _Services:
    """Calls become calls of services: of those that are recorded, to which servers adapt, or as the servers
    describe them now."""

    def __init__(self, client: "mf.AsyncClient", now: "dict[str, Description]", *, adapts: bool) -> None:
        self._client = client
        self._now = now
        self._adapts = adapts
        self._made: dict[Description, tuple[Service, AsyncTarget]] = {}

    def prepared(self, plan: _Plan) -> Iterator[tuple[float | None, _Prepared]]:
        """The calls, with the moments when they are due. Raises CommandError, with the line, for a call that
        does not fit."""
        for moment, call in plan.calls():
            made = self._prepared(call)
            if made.method.schema.replicated:
                plan.left_out["to replicas"] += 1
            elif made.method.info.stream:
                plan.left_out["with a stream"] += 1
            else:
                yield moment, made

    def _prepared(self, call: "RecordedCall") -> _Prepared:
        import mf

        recorded = None if self._adapts else call.description
        service, base = self._service(recorded or self._now[call.service])
        method = service.methods.get(call.method)
        if method is None:
            raise CommandError(f"line {call.line}: {call.service} has no method {call.method}", USAGE)
        try:
            arguments = method.arguments(call.arguments)
        except mf.DecodeError as wrong:
            raise CommandError(f"line {call.line}: {_name(call)}: {wrong.message}", USAGE) from None
        at_agent = call.agent and service.info.agent is not None
        return _Prepared(call, method, base.at(call.agent) if at_agent else base.any(), arguments)

    def _service(self, of: "Description") -> "tuple[Service, AsyncTarget]":
        from mf import described

        found = self._made.get(of)
        if found is None:
            service = described.Service(of)
            found = self._made[of] = service, service.async_target(self._client)
        return found


@dataclass(slots=True)
class _Seen:
    """How the calls have ended."""

    results: bool
    taken: list[float] = field(default_factory=list)
    same: int = 0
    others: Counter[str] = field(default_factory=Counter)
    examples: list[dict[str, Any]] = field(default_factory=list)
    lasted: float = 0.0
    late: float = 0.0

    def ended(self, made: _Prepared, code: str, text: str, result: Any) -> None:
        """`result`: of a call that has ended well. `text`: of a failure."""
        call = made.call
        # Of a oneway method the caller does not learn how it ends.
        recorded = "OK" if made.method.schema.oneway else call.code.name
        differs = recorded != code
        change = f"{recorded} -> {code}"
        if not differs and self.results and code == "OK" and call.result is not None:
            now = made.method.result_json(result)
            if json.loads(now) != json.loads(call.result):
                differs, change, text = True, "another result", f"{call.result} -> {now}"
        if not differs:
            self.same += 1
            return
        self.others[change] += 1
        if len(self.examples) < _SHOWN:
            self.examples.append(
                {"line": call.line, "method": _name(call), "change": change, "text": text[:_MOST_TEXT]}
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
            "late": round(self.late * 1e6, 1),
            "latency": summary(self.taken),
            "histogram": histogram(self.taken),
        }


async def _run(place: Place, plan: _Plan, wanted: Wanted, is_small: bool) -> _Seen:
    import mf

    seen = _Seen(wanted.results)
    try:
        made = mf.AsyncClient(place.where, place.options())
    except ValueError as wrong:
        raise CommandError(str(wrong), USAGE) from None
    async with made as client:
        now = await _described(place, client, plan, wanted)
        services = _Services(client, now, adapts=wanted.adapts)
        calls: Iterable[tuple[float | None, _Prepared]] = services.prepared(plan)
        if is_small:
            calls = list(calls)
        options = mf.CallOptions(deadline=wanted.deadline)

        async def one(due: float, each: _Prepared) -> None:
            code, text, result = "OK", "", None
            try:
                result = await each.target.call(each.method.info, options, *each.arguments)
            except mf.Error as failed:
                code, text = failed.code.name, str(failed)
            except mf.MfError as declared:
                code, text = "DECLARED", str(declared)
            seen.taken.append(perf_counter() - due)
            seen.ended(each, code, text, result)

        begun = perf_counter()
        seen.late = await paced(calls, one, begun, wanted.most_open, plan.count)
        seen.lasted = perf_counter() - begun
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
    if found["left_out"]:
        line(f"left out: {_counts(found['left_out'])}")
    rows = [[key, shown(value)] for key, value in found["latency"].items() if key != "count"]
    table(("latency", ""), rows)
    for bar in bars(found["histogram"]):
        line(bar)
    if found["late"] > 10_000:
        note(f"calls began up to {shown(found['late'])} late: this machine cannot keep the pace")
