"""`mf log-level`: how much servers log."""

from typing import Any

import click

from mf_tools.connect import Place, deadline_option, placed
from mf_tools.output import emit, line
from mf_tools.steering import steered


@click.command(name="log-level")
@click.argument("which")
@click.argument(
    "level",
    required=False,
    type=click.Choice(["debug", "info", "warning", "error", "off"], case_sensitive=False),
)
@deadline_option
@placed
def command(place: Place, which: str, level: str | None, deadline: float) -> None:
    """Show the level of the log of a server, or set it until the process ends.

    WHICH: an address, or at a controller an instance or a process (`mf ls --long`).
    """
    import mf
    from mf.admin import AdminClient, Level

    options = mf.CallOptions(deadline=deadline)
    for address in steered(place, which):
        with place.at(address) as client:
            admin = AdminClient(client)
            if level is not None:
                admin.set_log_level(Level[level.lower()], options=options)
            shown: Any = admin.log_level(options=options)
        if place.json:
            emit({"address": address, "level": shown.name})
        else:
            line(f"{address} {shown.name}")
