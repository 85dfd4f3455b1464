"""`mf drain`: stops servers after the calls that they run."""

import click

from mf_tools.connect import Place, deadline_option, placed
from mf_tools.guard import NO_ANSWER
from mf_tools.output import emit, line
from mf_tools.steering import steered


@click.command()
@click.argument("which")
@deadline_option
@placed
def command(place: Place, which: str, deadline: float) -> int:
    """Stop a server as its manager would: it withdraws its offers, finishes the calls that run, and ends.

    WHICH: an address, or at a controller an instance or a process (`mf ls --long`), of which all are
    drained. The command waits until they take no more calls, at most the deadline; they end in their own
    drain time.
    """
    import mf
    from mf.admin import AdminClient
    from mf.health import HealthClient

    late = 0
    options = mf.CallOptions(deadline=deadline)
    for address in steered(place, which):
        with place.at(address) as client, HealthClient(client).watch("", options=options) as watch:
            next(watch)
            AdminClient(client).drain(options=options)
            try:
                for _ in watch:
                    pass
                state = "drains"
            except mf.Error as failed:
                state, late = f"is asked to drain: {failed.code.name}", NO_ANSWER
        if place.json:
            emit({"address": address, "state": state})
        else:
            line(f"{address} {state}")
    return late
