"""`mf latency`: round trips to servers, which need no method: each asks for a description."""

from time import perf_counter
from typing import Any

import click

from mf_tools.connect import Place, deadline_option, placed
from mf_tools.guard import NO_ANSWER
from mf_tools.measured import shown, summary
from mf_tools.output import emit, table
from mf_tools.registry import entries, full_name


@click.command()
@click.argument("service", required=False)
@click.option(
    "-n", "--count", type=click.IntRange(1, 100_000), default=100, show_default=True, help="Of each."
)
@deadline_option
@placed
def command(place: Place, service: str | None, count: int, deadline: float) -> int:
    """Measure round trips: to the address itself, or to each instance of SERVICE that a controller knows.

    `first` includes name, connection, TLS and HELLO. A round trip asks for a description, which a server
    answers without a handler.
    """
    if service is None or not place.is_controller:
        rows = [
            _measured(place, _first(place), service or "mf.controller.Controller", False, count, deadline)
        ]
    else:
        name = full_name(place, service)
        found = {each.address: each.kind == "topic" for each in entries(place) if each.name == name}
        rows = [_measured(place, where, name, topic, count, deadline) for where, topic in found.items()]
    if place.json:
        for row in rows:
            emit(row)
    else:
        heads = ("min", "p50", "p90", "p99", "max")
        shown_rows = [
            [
                row["address"],
                row["error"] or shown(row["first"]),
                *(shown(row[h]) if h in row else "" for h in heads),
            ]
            for row in rows
        ]
        table(("address", "first", *heads), shown_rows)
    return NO_ANSWER if any(row["error"] for row in rows) else 0


def _first(place: Place) -> str:
    if not place.is_controller:
        return place.where
    from mf.controller import servers_of

    return servers_of(place.where)


def _measured(
    place: Place, address: str, name: str, topic: bool, count: int, deadline: float
) -> dict[str, Any]:
    import mf

    taken: list[float] = []
    with place.at(address) as client:
        for _ in range(count + 1):
            begun = perf_counter()
            try:
                client.describe(name, topic=topic, deadline=deadline)
            except mf.Error as failed:
                if failed.code is not mf.Code.UNKNOWN_SERVICE:  # which is an answer, too
                    return {"address": address, "error": str(failed)}
            taken.append(perf_counter() - begun)
    return {"address": address, "error": "", "first": round(taken[0] * 1e6, 1), **summary(taken[1:])}
