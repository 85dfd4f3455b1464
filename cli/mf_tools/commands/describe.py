"""`mf describe`: a service or topic as a schema, by what a server says."""

import json
from typing import TYPE_CHECKING

import click

from mf_tools.connect import Place, deadline_option, placed
from mf_tools.output import emit, line, safe
from mf_tools.registry import full_name, hinting

if TYPE_CHECKING:
    from mf.described import Description, Schema


@click.command()
@click.argument("name")
@click.option("--topic", is_flag=True, help="NAME is a topic's; else it is looked for as both.")
@click.option("--agent", help="Ask a server that offers it for this agent.")
@click.option("--raw", is_flag=True, help="Descriptor and annex as JSON, which `mf pub --like` takes.")
@deadline_option
@placed
def command(place: Place, name: str, topic: bool, agent: str | None, raw: bool, deadline: float) -> None:
    """Show a service or topic as a schema, with the layouts of memcpy structs: what a server says of it, also
    through relays. A name without dots is looked up at the controller."""
    whole = full_name(place, name)
    with hinting(place, whole):
        found = describe(place, whole, topic, agent, deadline)
    if raw or place.json:
        emit(found._asdict())
        return
    from mf_tools.rendering import Rendering

    for each in Rendering(schema_of(found), found).lines():
        line(safe(each))


def describe(place: Place, name: str, topic: bool, agent: str | None, deadline: float) -> "Description":
    """As a service, and then as a topic; at a server's own address both have one list of names."""
    import mf

    with place.client(wait_for_server=min(deadline, 1.0)) as client:
        if not topic:
            try:
                return client.describe(name, agent=agent, deadline=deadline)
            except mf.Error as failed:
                if (
                    failed.code not in (mf.Code.UNKNOWN_SERVICE, mf.Code.UNKNOWN_AGENT)
                    or not place.is_controller
                ):
                    raise
                first = failed
        try:
            return client.describe(name, agent=agent, topic=True, deadline=deadline)
        except mf.Error as failed:
            raise failed if topic else first from None


def schema_of(found: "Description") -> "Schema":
    from mf import described

    is_topic = found.descriptor.startswith("topic ")
    return described.Topic(found).schema if is_topic else described.Service(found).schema


def like(path: str) -> "Description":
    """A description from a file that `mf describe --raw` has made."""
    from mf.described import Description
    from mf_tools.connect import text_of
    from mf_tools.guard import USAGE, CommandError

    try:
        given = json.loads(text_of(f"@{path}"))
        return Description(given["name"], given["descriptor"], given.get("annex", ""))
    except (ValueError, KeyError, TypeError, RecursionError):
        raise CommandError(f"'{path}' holds no description: mf describe NAME --raw > FILE", USAGE) from None
