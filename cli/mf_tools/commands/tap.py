"""`mf tap`: the calls that pass servers, while they pass."""

import asyncio
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from mf_tools.connect import Place, placed, quiet
from mf_tools.measured import shown as duration
from mf_tools.output import emit, line, note, safe, safe_json
from mf_tools.steering import steered
from mf_tools.tapping import Chosen, Seen, Taps, filter_options

if TYPE_CHECKING:
    from mf.admin import Tapped


@click.command()
@click.argument("which")
@filter_options
@click.option("--agent", default="", help="A name, or its beginning and '*'.")
@click.option("--no-values", is_flag=True, help="Without parameters and results.")
@click.option("-n", "--count", type=click.IntRange(min=1), help="End after so many calls.")
@click.option("--for", "seconds", type=click.FloatRange(min=0), help="End after so many seconds.")
@placed
def command(
    place: Place,
    which: str,
    chosen: Chosen,
    agent: str,
    no_values: bool,
    count: int | None,
    seconds: float | None,
) -> None:
    """Show the calls that servers answer, with their parameters and results, until Ctrl-C; and those that a
    relay hands on. Only an identity that may administer a server or a relay may tap it.

    WHICH: an address, or at a controller an instance or a process (`mf ls --long`). A relay is named by its
    address.
    """
    quiet()
    taps = Taps(place, chosen.filter(agent, values=not no_values), count, _Shown(place.json))
    asyncio.run(taps.run(steered(place, which), seconds))


class _Shown:
    """Prints calls."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json

    def begin(self) -> None:
        """Nothing is printed before a call."""

    def take(self, seen: Seen) -> None:
        if seen.call.dropped:
            note(f"{seen.call.dropped} calls of {seen.address} were not shown: this side was too slow")
        if self._as_json:
            emit(_as_json(seen))
        else:
            line(_as_line(seen))


def _when(call: "Tapped") -> datetime:
    return datetime.fromtimestamp(call.begun / 1e9, UTC)


def _as_json(seen: Seen) -> dict[str, Any]:
    call = seen.call
    made: dict[str, Any] = {
        "server": seen.address,
        "begun": _when(call).isoformat(),
        "service": call.service,
        "method": call.method,
        "agent": call.agent,
        "peer": call.peer,
        "identity": call.identity,
        "code": seen.code,
        "seconds": call.took.to_seconds(),
        "stream": call.is_stream,
        "request_bytes": call.request_size,
        "result_bytes": call.result_size,
        "dropped": call.dropped,
    }
    if call.forwarded is not None:
        made |= {"to": call.forwarded.server, "items": call.forwarded.items}
    if seen.withheld:
        made["withheld"] = seen.withheld
    if call.error:
        made["error"] = call.error
    for name, text in (("request", seen.request), ("result", seen.result)):
        if text:
            made[name] = json.loads(text)
    return made


def _as_line(seen: Seen) -> str:
    call, given, result = seen.call, seen.request, seen.result
    head = f"{_when(call).astimezone():%H:%M:%S.%f}"[:-3]
    by = f" {call.identity}" if call.identity else ""
    agent = f" at {call.agent}" if call.agent else ""
    took = duration(call.took / 1e3)
    several = "" if call.forwarded is None or call.forwarded.items == 1 else f" x{call.forwarded.items}"
    parts = [head, f"{call.service}.{call.method}{agent}{several}", f"{seen.code} {took}"]
    if given:
        parts.append(given)
    if call.error:
        parts.append(f"-> {call.error}")
    elif result:
        parts.append(f"-> {result}")
    if seen.withheld:
        parts.append(f"({call.request_size} bytes, {call.result_size} back: {seen.withheld})")
    to = f" to {call.forwarded.server or 'no server'}" if call.forwarded is not None else ""
    parts.append(f"from {call.peer}{by}{to}")
    return safe_json(safe("  ".join(parts)))
