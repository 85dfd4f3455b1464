"""`mf call`: a method called with JSON, by what a server says of its service."""

import json
import re
import sys
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

import click

from mf_tools.calling import Called, prepared, split
from mf_tools.connect import MOST_INPUT, Place, deadline_option, placed, text_of
from mf_tools.guard import FAILED, USAGE, CommandError, code_of
from mf_tools.output import emit, emit_json, line, note, pretty, safe, safe_json

if TYPE_CHECKING:
    import mf

_VALUE = re.compile(r"[^\s,]")
"""Where the next element of an array begins, or the array ends."""


@click.command()
@click.argument("method", metavar="SERVICE.METHOD")
@click.argument("request", metavar="[JSON]", required=False)
@click.option(
    "--at", "agents", metavar="AGENT", multiple=True, help="At this agent; several get a call each."
)
@click.option("--any", "any_", is_flag=True, help="At any agent: the default.")
@click.option("--everywhere", is_flag=True, help="At all agents.")
@click.option("--batch", is_flag=True, help="JSON is an array, or one request a line: a message of several.")
@click.option("--bulk", is_flag=True, help="The same in exactly one message.")
@click.option(
    "--values", metavar="FILE", default="-", help="Of a stream to the server: NDJSON; '-' by default."
)
@click.option("--metadata", "-m", metavar="KEY=VALUE", multiple=True, help="Text that goes with the call.")
@click.option("--idempotent", is_flag=True, help="Call again where it may have run.")
@click.option("--require", type=click.Choice(["one", "majority", "all"]), help="Of a replicated method.")
@click.option("--example", is_flag=True, help="Print a template of the request, and call nothing.")
@deadline_option
@placed
def command(
    place: Place,
    method: str,
    request: str | None,
    agents: tuple[str, ...],
    any_: bool,
    everywhere: bool,
    batch: bool,
    bulk: bool,
    values: str,
    metadata: tuple[str, ...],
    idempotent: bool,
    require: str | None,
    example: bool,
    deadline: float,
) -> int:
    """Call a method with JSON (docs/json.md); '-' reads it from standard input, '@FILE' from a file.

    No code is generated: a server says what its methods take, also through a relay. Streams are one JSON text
    a line, in both directions.
    """
    if (len(agents) > 0) + any_ + everywhere > 1:
        raise click.UsageError("--at, --any and --everywhere exclude each other")
    service, name = split(method)
    said = _metadata(metadata)
    if request == "-" and values == "-":
        values = ""  # one of the two can read it
    with place.client(wait_for_server=min(deadline, 1.0)) as client:
        called = prepared(place, client, service, name, agents[0] if len(agents) == 1 else None)
        if example:
            pretty(called.example())
            return 0
        if idempotent:
            called.method.info.idempotent = True
        if batch or bulk:
            return _several(called, request, agents, bulk, deadline, said)
        text = text_of(request) if request is not None else "{}"
        arguments = called.method.arguments(text)
        if len(agents) > 1 or everywhere:
            return _scattered(called, agents, arguments, deadline, said, place.json)
        return _one(called, agents, arguments, deadline, said, values, require)


def _metadata(given: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for each in given:
        key, equals, value = each.partition("=")
        if not equals or not key:
            raise click.UsageError(f"--metadata {each}: it is KEY=VALUE")
        if key == "authorization":
            raise click.UsageError("--metadata authorization: a token is no argument; use --token-file")
        found[key] = value
    return found


def _one(
    called: Called,
    agents: tuple[str, ...],
    arguments: tuple[Any, ...],
    deadline: float,
    said: dict[str, str],
    values: str,
    require: str | None,
) -> int:
    import mf

    method, target = called.method, called.target(agents)
    options = mf.CallOptions(deadline=deadline, metadata=said)
    to, back = method.schema.params_stream is not None, method.schema.results_stream is not None
    if method.schema.replicated:
        wanted = mf.Require[(require or "majority").upper()]
        done = target.replicate(
            method.info, mf.ReplicatedOptions(deadline=deadline, require=wanted), *arguments
        )
        note(f"version {done.version}, applied by {', '.join(done.applied)}")
        pretty(method.result_json(done.value))
    elif to and back:
        with target.duplex_stream(method.info, options, *arguments) as both:
            _both(called, both, values)
    elif to:
        pretty(
            method.result_json(target.write_stream(method.info, options, _sent(called, values), *arguments))
        )
    elif back:
        with target.read_stream(method.info, options, *arguments) as read:
            for value in read:
                emit_json(method.received_json(value))
    else:
        result = target.call(method.info, options, *arguments)
        if not method.schema.oneway:
            pretty(method.result_json(result))
    return 0


def _both(called: Called, both: "mf.DuplexStream[Any, Any]", values: str) -> None:
    """Values are written on a thread of their own, so that answers show while standard input waits."""
    from threading import Thread

    failure: list[Exception] = []

    def write() -> None:
        try:
            for value in _sent(called, values):
                if not both.write(value):
                    break
                both.flush()
        except Exception as failed:
            failure.append(failed)
        finally:
            both.done_writing()

    Thread(target=write, name="mf-values", daemon=True).start()
    for value in both:
        emit_json(called.method.received_json(value))
    if failure:
        raise failure[0]


def _sent(called: Called, values: str) -> Iterator[Any]:
    """One value a line."""
    import mf

    for number, text in enumerate(lines_of(values), 1):
        try:
            yield called.method.sent(text)
        except mf.DecodeError as wrong:
            raise CommandError(f"line {number} of the values: {wrong.message}", USAGE) from None


def lines_of(values: str) -> Iterator[str]:
    if not values:
        return
    if values == "-":
        yield from ndjson(sys.stdin.buffer)
    else:
        with open(values, "rb") as file:
            yield from ndjson(file)


def ndjson(file: IO[bytes]) -> Iterator[str]:
    """The lines that are not blank."""
    while data := file.readline(MOST_INPUT + 1):
        if len(data) > MOST_INPUT:
            raise CommandError(f"a line of the values has more than {MOST_INPUT >> 20} MiB", USAGE)
        if data.strip():
            try:
                yield data.decode()
            except UnicodeDecodeError as wrong:
                raise CommandError(
                    f"a line of the values is not UTF-8 at byte {wrong.start}", USAGE
                ) from None


def _several(
    called: Called,
    request: str | None,
    agents: tuple[str, ...],
    bulk: bool,
    deadline: float,
    said: dict[str, str],
) -> int:
    """One outcome a line: the result, or an object with the error."""
    import mf

    method = called.method
    requests = []
    for number, text in enumerate(_requests(text_of(request if request is not None else "-")), 1):
        try:
            requests.append(method.request(text))
        except mf.DecodeError as wrong:
            raise CommandError(f"{wrong.code.name}: request {number}: {wrong.message}") from None
    target = called.target(agents)
    if bulk:
        outcomes = target.bulk(method.info, requests, mf.CallOptions(deadline=deadline, metadata=said))
    else:
        options = mf.BatchOptions(deadline=deadline, metadata=said)
        outcomes = target.batch(method.info, requests, options).results()
    worst = 0
    for each in outcomes:
        if each.error is None:
            emit_json(method.result_json(each.value()))
        else:
            worst = max(worst, code_of(each.error))
            emit({"error": failure_json(each.error)})
    return worst


def _requests(text: str) -> list[str]:
    """Of a JSON array, or of lines with one each: their texts as they are, so that a field that is there
    twice is seen."""
    if not text.lstrip().startswith("["):
        return [each for each in text.splitlines() if each.strip()]
    try:
        json.loads(text)
        decoder, found, at = json.JSONDecoder(), [], text.index("[") + 1
        while (begins := _VALUE.search(text, at)) and begins.group() != "]":
            at = decoder.raw_decode(text, begins.start())[1]
            found.append(text[begins.start() : at])
        return found
    except (ValueError, RecursionError) as wrong:
        raise CommandError(f"the requests are no JSON array: {wrong}"[:200], USAGE) from None


def _scattered(
    called: Called,
    agents: tuple[str, ...],
    arguments: tuple[Any, ...],
    deadline: float,
    said: dict[str, str],
    as_json: bool,
) -> int:
    import mf

    base = called.service.target(called.client)
    several = base.on([called.service.agent(each) for each in agents]) if agents else base.everywhere()
    options = mf.CallOptions(deadline=deadline, metadata=said)
    found = several.call(called.method.info, options, *arguments)
    worst = 0
    for agent, outcome in found.items():
        shown = called.shown(str(agent))
        if outcome.error is not None:
            worst = max(worst, code_of(outcome.error))
        if as_json:
            error = {"error": failure_json(outcome.error)} if outcome.error is not None else {}
            value = error or {"result": json.loads(called.method.result_json(outcome.value()))}
            emit({"agent": shown, **value})
        elif outcome.error is not None:
            line(f"{safe(shown)}: {safe(str(outcome.error))}")
        else:
            line(f"{safe(shown)}: {safe_json(called.method.result_json(outcome.value()))}")
    if not found:
        raise CommandError(f"no agent of {called.service.name} is known", FAILED)
    return worst


def failure_json(error: Any) -> dict[str, Any]:
    """For scripts."""
    from mf import described

    if isinstance(error, described.DescribedError):
        return {"code": "DECLARED", "name": error.name, "fields": json.loads(error.json)}
    return {"code": error.code.name, "execution": error.execution.name, "message": error.message}
