"""`mf tap`: the calls that pass servers, while they pass."""

import asyncio
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from mf_tools.connect import Place, placed, quiet
from mf_tools.guard import USAGE, CommandError
from mf_tools.measured import shown as duration
from mf_tools.output import emit, line, note, safe, safe_json
from mf_tools.steering import steered

if TYPE_CHECKING:
    import mf
    from mf.admin import Filter, Tapped
    from mf.described import Service

_BEGINS_WITHIN = 10.0
_OUTCOMES = ("any", "ok", "declared", "failed")


@click.command()
@click.argument("which")
@click.option("--service", default="", help="A full name, or its beginning and '*'.")
@click.option("--method", default="", help="A name, or its beginning and '*'.")
@click.option("--agent", default="", help="A name, or its beginning and '*'.")
@click.option("--peer", default="", help="The caller's address or identity, or its beginning and '*'.")
@click.option("--outcome", type=click.Choice(_OUTCOMES), default="any", show_default=True)
@click.option(
    "--sample", type=click.FloatRange(0, 1), default=1.0, show_default=True, help="A share of them."
)
@click.option("--no-values", is_flag=True, help="Without parameters and results.")
@click.option("-n", "--count", type=click.IntRange(min=1), help="End after so many calls.")
@click.option("--for", "seconds", type=click.FloatRange(min=0), help="End after so many seconds.")
@placed
def command(
    place: Place,
    which: str,
    service: str,
    method: str,
    agent: str,
    peer: str,
    outcome: str,
    sample: float,
    no_values: bool,
    count: int | None,
    seconds: float | None,
) -> None:
    """Show the calls that servers answer, with their parameters and results, until Ctrl-C. Only an identity
    that may administer a server may tap it.

    WHICH: an address, or at a controller an instance or a process (`mf ls --long`).
    """
    from mf.admin import Filter, Outcome

    quiet()
    what = Filter(service, method, agent, peer, Outcome[outcome], sample, not no_values)
    taps = _Taps(place, what, count)
    asyncio.run(taps.run(steered(place, which), seconds))


class _Taps:
    """Those of all servers, and how many calls are still to be shown."""

    def __init__(self, place: Place, what: "Filter", count: int | None) -> None:
        self._place = place
        self._what = what
        self._left = count
        self._enough = asyncio.Event()

    async def run(self, addresses: list[str], seconds: float | None) -> None:
        tasks = [asyncio.ensure_future(self._tap(each)) for each in addresses]
        ends = asyncio.ensure_future(self._enough.wait())
        everything = asyncio.gather(*tasks)
        try:
            awaited: list[asyncio.Future[Any]] = [everything, ends]
            done, _ = await asyncio.wait(awaited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if everything in done:
                everything.result()  # raises what a tap has failed with
        finally:
            for task in (*tasks, ends):
                task.cancel()
            await asyncio.gather(everything, *tasks, ends, return_exceptions=True)

    async def _tap(self, address: str) -> None:
        import mf
        from mf.admin import AdminAsyncClient

        try:
            client = mf.AsyncClient(address, self._place.options())
        except ValueError as wrong:
            raise CommandError(str(wrong), USAGE) from None
        async with client:
            shown = _Shown(client)
            admin = AdminAsyncClient(client)
            # Fails where the tap would wait for a server that is not there, or is not allowed.
            await admin.log_level(options=mf.CallOptions(deadline=_BEGINS_WITHIN))
            options = mf.CallOptions(deadline=mf.INFINITE)
            async with admin.tap(self._what, options=options) as stream:
                async for call in stream:
                    await self._show(address, shown, call)
        note(f"{address} has ended the tap")

    async def _show(self, address: str, shown: "_Shown", call: "Tapped") -> None:
        if self._left == 0:
            return
        if call.dropped:
            note(f"{call.dropped} calls of {address} were not shown: this side was too slow")
        given, result = await shown.values(call)
        if self._place.json:
            emit(_as_json(address, call, given, result))
        else:
            line(_as_line(call, given, result))
        if self._left is not None:
            self._left -= 1
            if self._left == 0:
                self._enough.set()


class _Shown:
    """Reads values by the descriptions that the server itself gives."""

    def __init__(self, client: "mf.AsyncClient") -> None:
        self._client = client
        self._services: dict[str, Service | None] = {}

    async def values(self, call: "Tapped") -> tuple[str, str]:
        """Parameters and result as JSON; empty for what did not come, or cannot be read."""
        import mf

        if call.request is None and call.result is None:
            return "", ""
        service = await self._service(call.service)
        method = None if service is None else service.methods.get(call.method)
        if method is None:
            return "", ""
        try:
            given = "" if call.request is None else method.arguments_json(call.request)
            if call.result is None:
                return given, ""
            return given, method.result_json(method.info.decode_result(call.result))
        except mf.Error:
            return "", ""

    async def _service(self, name: str) -> "Service | None":
        if name not in self._services:
            import mf
            from mf import described

            try:
                self._services[name] = described.Service(await self._client.describe(name))
            except (mf.Error, mf.DecodeError):
                self._services[name] = None
        return self._services[name]


def _when(call: "Tapped") -> datetime:
    return datetime.fromtimestamp(call.begun / 1e9, UTC)


def _code(call: "Tapped") -> str:
    import mf

    return mf.Code(call.code).name


def _as_json(address: str, call: "Tapped", given: str, result: str) -> dict[str, Any]:
    made: dict[str, Any] = {
        "server": address,
        "begun": _when(call).isoformat(),
        "service": call.service,
        "method": call.method,
        "agent": call.agent,
        "peer": call.peer,
        "identity": call.identity,
        "code": _code(call),
        "seconds": call.took.to_seconds(),
        "stream": call.is_stream,
        "dropped": call.dropped,
    }
    if call.error:
        made["error"] = call.error
    for name, text in (("request", given), ("result", result)):
        if text:
            made[name] = json.loads(text)
    return made


def _as_line(call: "Tapped", given: str, result: str) -> str:
    head = f"{_when(call).astimezone():%H:%M:%S.%f}"[:-3]
    by = f" {call.identity}" if call.identity else ""
    agent = f" at {call.agent}" if call.agent else ""
    took = duration(call.took / 1e3)
    parts = [head, f"{call.service}.{call.method}{agent}", f"{_code(call)} {took}"]
    if given:
        parts.append(given)
    if call.error:
        parts.append(f"-> {call.error}")
    elif result:
        parts.append(f"-> {result}")
    parts.append(f"from {call.peer}{by}")
    return safe_json(safe("  ".join(parts)))
