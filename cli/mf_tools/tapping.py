"""Taps of servers: the options that say which calls they see, and the calls with their values read."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Protocol

import click

from mf_tools.connect import Place
from mf_tools.guard import USAGE, CommandError
from mf_tools.output import note

if TYPE_CHECKING:
    import mf
    from mf.admin import Filter, Tapped
    from mf.described import Service

_BEGINS_WITHIN = 10.0
_OUTCOMES = ("any", "ok", "declared", "failed")


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
    """One call. `service`: as its server describes it; None if that cannot be read. `request`, `result`: as
    JSON; empty for what did not come, or cannot be read."""

    address: str
    call: "Tapped"
    service: "Service | None"
    request: str
    result: str


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
        seen = await reader.read(call)
        if self._left == 0:  # another server's call came in between
            return
        self._sink.take(seen)
        if self._left is not None:
            self._left -= 1
            if self._left == 0:
                self._enough.set()


class _Reader:
    """Reads values by the descriptions that the server itself gives."""

    def __init__(self, address: str, client: "mf.AsyncClient") -> None:
        self._address = address
        self._client = client
        self._services: dict[str, Service | None] = {}

    async def read(self, call: "Tapped") -> Seen:
        import mf

        if call.request is None and call.result is None:
            return Seen(self._address, call, None, "", "")
        service = await self._service(call.service)
        method = None if service is None else service.methods.get(call.method)
        if method is None:
            return Seen(self._address, call, service, "", "")
        given = result = ""
        try:
            if call.request is not None:
                given = method.arguments_json(call.request)
            if call.result is not None:
                result = method.result_json(method.info.decode_result(call.result))
        except mf.Error:
            pass
        return Seen(self._address, call, service, given, result)

    async def _service(self, name: str) -> "Service | None":
        if name not in self._services:
            import mf
            from mf import described

            try:
                self._services[name] = described.Service(await self._client.describe(name))
            except (mf.Error, mf.DecodeError):
                self._services[name] = None
        return self._services[name]
