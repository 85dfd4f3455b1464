"""`mf drain`: stops servers after the calls that they run."""

from time import monotonic, sleep

import click

from mf_tools.connect import Place, deadline_option, placed
from mf_tools.guard import NO_ANSWER
from mf_tools.output import emit, line
from mf_tools.registry import entries
from mf_tools.steering import steered

_DRAINS = "drains"
_LOOK_EVERY = 0.05


@click.command()
@click.argument("which")
@deadline_option
@placed
def command(place: Place, which: str, deadline: float) -> int:
    """Stop a server as its manager would: it withdraws its offers, finishes the calls that run, and ends.

    WHICH: an address, or at a controller an instance or a process (`mf ls --long`), of which all are drained.
    The command returns when they take no more calls and the controller has removed them; they end by
    themselves.
    """
    late = 0
    for address in steered(place, which):
        state = _drained(place, address, monotonic() + deadline)
        late = late or (0 if state == _DRAINS else NO_ANSWER)
        if place.json:
            emit({"address": address, "state": state})
        else:
            line(f"{address} {state}")
    return late


def _drained(place: Place, address: str, until: float) -> str:
    """What becomes of it within that time."""
    import mf
    from mf.admin import AdminClient
    from mf.health import HealthClient

    def left() -> "mf.CallOptions":
        return mf.CallOptions(deadline=max(0.001, until - monotonic()))

    with place.at(address) as client, HealthClient(client).watch("", options=left()) as watch:
        next(watch)
        AdminClient(client).drain(options=left())
        try:
            for _ in watch:
                pass
        except mf.Error as failed:
            return f"was asked to drain: {failed.code.name}"
    while _may_list(place, address) and any(each.address == address for each in entries(place)):
        if monotonic() >= until:
            return "drains, and the controller still lists it"
        sleep(_LOOK_EVERY)
    return _DRAINS


def _may_list(place: Place, address: str) -> bool:
    """Whether there is a controller, or a relay in its place, that is not the drained process itself."""
    if not place.is_said or not place.is_controller:
        return False
    return address not in place.controllers().split(",")
