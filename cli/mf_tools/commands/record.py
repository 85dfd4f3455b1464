"""`mf record`: the messages of a topic, with their times, in a file."""

import json
import os
from typing import Any

import click

from mf_tools.commands.sub import taken
from mf_tools.connect import Place, deadline_option, placed
from mf_tools.guard import USAGE, CommandError
from mf_tools.output import note
from mf_tools.registry import full_name, hinting


@click.command()
@click.argument("topic")
@click.argument("file")
@click.option("--agents", default="*", show_default=True, help="Of which: a name or a pattern as 'eu.*'.")
@click.option("-n", "--count", type=click.IntRange(min=1), help="End after so many messages.")
@click.option("--for", "seconds", type=click.FloatRange(min=0), help="End after so many seconds.")
@deadline_option
@placed
def command(
    place: Place,
    topic: str,
    file: str,
    agents: str,
    count: int | None,
    seconds: float | None,
    deadline: float,
) -> None:
    """Write the messages of a topic to FILE, which must not exist yet, until Ctrl-C. Nothing else is written:
    no address, no credential. What was written stays whole where the disk is full."""
    import mf
    from mf import described

    number = 0
    first: float | None = None
    with place.client() as client:
        whole = full_name(place, topic, "topic")
        with hinting(place, whole, "topic"):
            found = client.describe(whole, topic=True, deadline=deadline)
        made = described.Topic(found)
        try:
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            raise CommandError(f"'{file}' is there already: it is not overwritten", USAGE) from None
        with open(descriptor, "w", encoding="utf-8") as out:
            _write(out, described.Recording.head(found, json.loads(mf.to_json(mf.Timestamp.now()))))
            with made.subscriber(client, agents, mf.SubscribeOptions()) as subscriber:
                subscriber.on_gap(lambda gap: note(f"{gap.count} messages missed: {gap.why.name}"))
                for message in taken(subscriber, count, seconds):
                    at = int(message.time) / 1e9
                    first = at if first is None else first
                    value = json.loads(made.value_json(message.value))
                    _write(out, {"t": round(at - first, 9), "agent": message.agent, "value": value})
                    number += 1
    note(f"recorded {number}")


def _write(out: Any, value: dict[str, Any]) -> None:
    out.write(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")
    out.flush()
