"""`mf bench`: calls at a rate. The loop is open: a call begins when it is due, whether or not others have
ended, and its latency counts from when it was due, so that a server that stalls is seen.
"""

import asyncio
import json
from collections import Counter
from pathlib import Path
from time import perf_counter
from typing import Any

import click

from mf_tools.calling import split
from mf_tools.connect import Place, deadline_option, placed, quiet, text_of
from mf_tools.guard import FAILED, USAGE, CommandError
from mf_tools.measured import bars, histogram, shown, summary
from mf_tools.output import emit, line, note, table
from mf_tools.pacing import paced
from mf_tools.registry import full_name, hinting

_MOST_OPEN = 20_000


@click.command()
@click.argument("method", metavar="SERVICE.METHOD")
@click.argument("request", metavar="[JSON]", default="{}")
@click.option(
    "--rate", type=click.FloatRange(min=0.1), default=100.0, show_default=True, help="Calls a second."
)
@click.option(
    "--for", "seconds", type=click.FloatRange(min=0.01), default=5.0, show_default=True, help="Seconds."
)
@click.option("--at", "agent", help="At this agent; else at any.")
@click.option("--out", metavar="FILE", help="Write the run as JSON, for --compare.")
@click.option("--compare", metavar="FILE", help="Show it beside an earlier run.")
@deadline_option
@placed
def command(
    place: Place,
    method: str,
    request: str,
    rate: float,
    seconds: float,
    agent: str | None,
    out: str | None,
    compare: str | None,
    deadline: float,
) -> int:
    """Call a method at a rate, and show its latencies, counted from when each call was due."""
    before = None if compare is None else _earlier(compare)
    service, name = split(method)
    quiet()
    whole = full_name(place, service, "service")
    text = text_of(request)
    found = asyncio.run(_run(place, whole, name, text, agent, rate, seconds, deadline))
    if out is not None:
        Path(out).write_text(json.dumps(found) + "\n")
    if place.json:
        emit({**found, "compared_with": before} if before else found)
    else:
        _show(found, before)
    return FAILED if found["failures"] else 0


async def _run(
    place: Place,
    service: str,
    name: str,
    text: str,
    agent: str | None,
    rate: float,
    seconds: float,
    deadline: float,
) -> dict[str, Any]:
    import mf
    from mf import described

    async with mf.AsyncClient(place.where, place.options()) as client:
        with hinting(place, service, "service"):
            found = described.Service(await client.describe(service, deadline=deadline))
        method = found.methods.get(name)
        if method is None:
            raise CommandError(f"{service} has no method {name}; it has {', '.join(found.methods)}", USAGE)
        if method.info.stream or method.schema.replicated:
            raise CommandError(
                f"{service}.{name} has a stream or is replicated: a bench calls neither", USAGE
            )
        base = found.async_target(client)
        target = base.any() if agent is None else base.at(found.agent(agent))
        arguments = method.arguments(text)
        options = mf.CallOptions(deadline=deadline)
        await target.call(method.info, options, *arguments)  # connects, and shows mistakes at once
        taken: list[float] = []
        failures: Counter[str] = Counter()

        async def one(due: float, _: None) -> None:
            try:
                await target.call(method.info, options, *arguments)
            except mf.Error as failed:
                failures[failed.code.name] += 1
            except mf.MfError:
                failures["DECLARED"] += 1
            else:
                taken.append(perf_counter() - due)

        begun = perf_counter()
        count = max(1, round(rate * seconds))
        moments = ((number / rate, None) for number in range(count))
        late = await paced(moments, one, begun, _MOST_OPEN, count)
        lasted = perf_counter() - begun
    return {
        "method": f"{service}.{name}",
        "rate": rate,
        "seconds": round(lasted, 3),
        "calls": len(taken),
        "failures": dict(failures),
        "late": round(late * 1e6, 1),
        "latency": summary(taken),
        "histogram": histogram(taken),
    }


def _earlier(path: str) -> dict[str, Any]:
    try:
        found = json.loads(Path(path).read_text())
        if isinstance(found["latency"], dict):
            return dict(found)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise CommandError(f"'{path}' is no run of `mf bench --out`", USAGE)


def _show(found: dict[str, Any], before: dict[str, Any] | None) -> None:
    line(f"{found['calls']} calls in {found['seconds']:g} s, {found['rate']:g} a second were due")
    for name, count in found["failures"].items():
        line(f"{count} failed: {name}")
    if before is None:
        table(("latency", ""), [[key, shown(value)] for key, value in _times(found)])
    else:
        old = dict(_times(before))
        rows = [
            [key, shown(old[key]), shown(value), f"{(value / old[key] - 1) * 100:+.0f} %"]
            for key, value in _times(found)
            if old.get(key)
        ]
        table(("latency", "before", "now", "change"), rows)
    for each in bars([(bound, count) for bound, count in found["histogram"]]):
        line(each)
    if found["late"] > 10_000:
        note(f"calls began up to {shown(found['late'])} late: this machine cannot keep the rate")


def _times(found: dict[str, Any]) -> list[tuple[str, float]]:
    return [(key, value) for key, value in found["latency"].items() if key != "count"]
