"""`mf groups`: flexible processes and their groups."""

import click

from mf_tools.connect import Place, placed
from mf_tools.output import emit, table
from mf_tools.registry import MAILBOX, entries


@click.command()
@click.argument("group", required=False)
@placed
def command(place: Place, group: str | None) -> None:
    """Show the flexible processes that a controller knows, and the groups that they are in."""
    agents = [each.agent for each in entries(place) if each.name == MAILBOX]
    groups: dict[str, list[str]] = {}
    for agent in agents:
        of, slash, name = agent.partition("/")
        if slash:
            groups.setdefault(name, []).append(of)
        else:
            groups.setdefault(agent, [])
    found = {name: of for name, of in sorted(groups.items()) if group is None or group in of}
    if place.json:
        emit([{"name": name, "groups": of} for name, of in found.items()])
    else:
        table(("name", "groups"), [[name, ", ".join(of)] for name, of in found.items()])
