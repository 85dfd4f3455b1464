"""Taps of servers: the options that say which calls they see, and the calls with their values read."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from copy import copy
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Protocol

import click

from mf_tools.connect import Place
from mf_tools.guard import USAGE, CommandError
from mf_tools.output import note

if TYPE_CHECKING:
    import mf
    from mf.admin import Filter, Forwarded, Tapped
    from mf.described import DescribedMethod, Service

_BEGINS_WITHIN = 10.0
_OUTCOMES = ("any", "ok", "declared", "failed")
_MOST_ITEMS = 1024
"""Of a message that is shown as one call each: a relay hands on any number that a peer has written."""
_MOST_SERVICES = 256
"""That are remembered, with the schemas that they have."""


def filter_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command the options that choose calls, except for the agent, and its function a `chosen`."""

    @wraps(function)
    def with_chosen(
        *given: Any, service: str, method: str, peer: str, outcome: str, sample: float, **others: Any
    ) -> Any:
        return function(*given, chosen=Chosen(service, method, peer, outcome, sample), **others)

    for option in (
        click.option(
            "--sample", type=click.FloatRange(0, 1), default=1.0, show_default=True, help="A share of them."
        ),
        click.option("--outcome", type=click.Choice(_OUTCOMES), default="any", show_default=True),
        click.option(
            "--peer", default="", help="The caller's address or identity, or its beginning and '*'."
        ),
        click.option("--method", default="", help="A name, or its beginning and '*'."),
        click.option("--service", default="", help="A full name, or its beginning and '*'."),
    ):
        with_chosen = option(with_chosen)
    return with_chosen


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the options say."""

    service: str = ""
    method: str = ""
    peer: str = ""
    outcome: str = "any"
    sample: float = 1.0

    def filter(self, agent: str, *, values: bool = True) -> "Filter":
        from mf.admin import Filter, Outcome

        return Filter(self.service, self.method, agent, self.peer, Outcome[self.outcome], self.sample, values)


@dataclass(frozen=True, slots=True)
class Seen:
    """One call, or a message with several that cannot be separated. `service`: as its server describes it;
    None if that cannot be read. `request`, `result`: as JSON; empty for what did not come, or cannot be read:
    `withheld` says why, and is empty where nothing is missing."""

    address: str
    call: "Tapped"
    service: "Service | None"
    request: str
    result: str
    withheld: str = ""

    @property
    def code(self) -> str:
        """The name of the outcome; of a code that a newer peer has, its number."""
        import mf

        try:
            return mf.Code(self.call.code).name
        except ValueError:
            return str(self.call.code)


class Sink(Protocol):
    def begin(self) -> None:
        """All servers have let this side in."""

    def take(self, seen: Seen) -> None:
        """A call has ended."""


class Taps:
    """Those of several servers. `count`: how many calls are taken; None: all that come."""

    def __init__(self, place: Place, what: "Filter", count: int | None, sink: Sink) -> None:
        self._place = place
        self._what = what
        self._left = count
        self._sink = sink
        self._enough = asyncio.Event()

    async def run(self, addresses: list[str], seconds: float | None) -> None:
        """Until there are enough calls, the time has passed, or the servers have ended. Raises what the first
        tap that fails has failed with: that this side may not administer the server, for one."""
        async with AsyncExitStack() as stack:
            clients = [await self._let_in(stack, each) for each in addresses]
            self._sink.begin()
            pairs = zip(addresses, clients, strict=True)
            await self._follow([asyncio.ensure_future(self._tap(*each)) for each in pairs], seconds)

    async def _follow(self, tasks: "list[asyncio.Task[None]]", seconds: float | None) -> None:
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

    async def _let_in(self, stack: AsyncExitStack, address: str) -> "mf.AsyncClient":
        """Fails where a tap would wait for a server that is not there, or is not allowed."""
        import mf
        from mf.admin import AdminAsyncClient

        try:
            client = mf.AsyncClient(address, self._place.options())
        except ValueError as wrong:
            raise CommandError(str(wrong), USAGE) from None
        await stack.enter_async_context(client)
        await AdminAsyncClient(client).log_level(options=mf.CallOptions(deadline=_BEGINS_WITHIN))
        return client

    async def _tap(self, address: str, client: "mf.AsyncClient") -> None:
        import mf
        from mf.admin import AdminAsyncClient

        reader = _Reader(address, client)
        options = mf.CallOptions(deadline=mf.INFINITE)
        async with AdminAsyncClient(client).tap(self._what, options=options) as stream:
            async for call in stream:
                await self._take(reader, call)
        note(f"{address} has ended the tap")

    async def _take(self, reader: "_Reader", call: "Tapped") -> None:
        if self._left == 0:
            return
        for seen in await reader.read(call):
            if not self._is_wanted(seen.call):
                continue
            if self._left == 0:  # another server's call came in between
                return
            self._sink.take(seen)
            if self._left is not None:
                self._left -= 1
                if self._left == 0:
                    self._enough.set()

    def _is_wanted(self, call: "Tapped") -> bool:
        """A relay cannot tell how the calls of one message have ended."""
        from mf import Code
        from mf.admin import Outcome

        known = {int(Code.OK): Outcome.ok, int(Code.DECLARED): Outcome.declared}
        kind = known.get(call.code, Outcome.failed)
        is_known = call.forwarded is None or call.forwarded.items == 1
        return self._what.outcome in (Outcome.any, kind) or not is_known


class _Reader:
    """Reads values by the descriptions that the server itself gives, or those behind a relay."""

    def __init__(self, address: str, client: "mf.AsyncClient") -> None:
        self._address = address
        self._client = client
        self._services: dict[tuple[str, bytes], Service | str] = {}

    async def read(self, call: "Tapped") -> list[Seen]:
        """The calls of one record: several of a message with several that a relay has handed on."""
        if call.request is None and call.result is None:
            return [Seen(self._address, call, None, "", "", call.withheld)]
        schema = b"" if call.forwarded is None else call.forwarded.schema.bytes
        service = await self._service(call.service, schema)
        if isinstance(service, str):
            return [Seen(self._address, call, None, "", "", service)]
        method = service.methods.get(call.method)
        if method is None:
            why = f"the description of {call.service} has no such method"
            return [Seen(self._address, call, service, "", "", why)]
        if call.forwarded is not None:
            return self._forwarded(call, call.forwarded, service, method)
        return [self._served(call, service, method)]

    def _served(self, call: "Tapped", service: "Service", method: "DescribedMethod") -> Seen:
        import mf

        given = result = ""
        why = call.withheld
        try:
            if call.request is not None:
                given = method.arguments_json(call.request)
            if call.result is not None:
                result = method.result_json(method.info.decode_result(call.result))
        except mf.Error as unread:
            why = unread.message
        return Seen(self._address, call, service, given, result, why)

    def _forwarded(
        self, call: "Tapped", by: "Forwarded", service: "Service", method: "DescribedMethod"
    ) -> list[Seen]:
        import mf

        if by.items > _MOST_ITEMS:
            why = f"the message has {by.items} calls, of which at most {_MOST_ITEMS} are shown one by one"
            return [Seen(self._address, call, service, "", "", why)]
        count = by.items
        given, results = [""] * count, [""] * count
        ends: list[mf.Outcome[str]] | None = None
        why = call.withheld
        try:
            if call.request is not None:
                given = method.requests_json(call.request, by.request_tier, count)
            if call.result is not None and not call.is_stream:
                ends = method.outcomes_json(call.result, by.result_tier, count, mixed=by.mixed)
                results = [each.value() if each.ok else "" for each in ends]
        except mf.Error as unread:
            why = unread.message
        if by.mixed and ends is None and count > 1:
            return [
                Seen(self._address, call, service, "", "", why or "how its calls have ended is not known")
            ]
        shown = []
        for number in range(count):
            one = copy(call)
            one.agent = service.shown_agent(call.agent)
            if number:
                one.dropped = 0
            one.forwarded = copy(by)
            one.forwarded.items = 1
            error = None if ends is None else ends[number].error
            if error is not None:
                one.code = error.code if isinstance(error, mf.Error) else mf.Code.DECLARED
                one.error = str(error)
            elif by.mixed and ends is not None:
                one.code, one.error = mf.Code.OK, ""
            shown.append(Seen(self._address, one, service, given[number], results[number], why))
        return shown

    async def _service(self, name: str, schema: bytes) -> "Service | str":
        """`schema`: the fingerprint that it must have; empty: any. A text says why it is not known."""
        key = (name, schema)
        if key not in self._services:
            if len(self._services) >= _MOST_SERVICES:
                self._services.clear()
            self._services[key] = await self._described(name, schema)
        return self._services[key]

    async def _described(self, name: str, schema: bytes) -> "Service | str":
        import mf
        from mf import described

        try:
            service = described.Service(await self._client.describe(name))
        except (mf.Error, mf.DecodeError) as unread:
            return f"{self._address} does not describe {name}: {unread.message}"
        if schema not in (b"", service.info.fingerprint):
            return f"the caller has another schema of {name} than the server that describes it"
        return service
