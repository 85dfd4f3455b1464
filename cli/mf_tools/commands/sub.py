"""`mf sub`: the messages of a topic, one a line."""

from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from mf_tools.connect import Place, deadline_option, placed
from mf_tools.output import emit, emit_json, line, note, safe, safe_json
from mf_tools.registry import full_name, hinting

if TYPE_CHECKING:
    import mf


@click.command()
@click.argument("topic")
@click.argument("agents", default="*")
@click.option("-n", "--count", type=click.IntRange(min=1), help="End after so many messages.")
@click.option("--for", "seconds", type=click.FloatRange(min=0), help="End after so many seconds.")
@click.option("--replay", type=click.IntRange(min=0), help="At most so many earlier ones; all that are kept.")
@click.option(
    "--overflow",
    type=click.Choice(["drop_oldest", "drop_newest", "block", "disconnect"]),
    help="What becomes of messages that come faster than they are printed.",
)
@deadline_option
@placed
def command(
    place: Place,
    topic: str,
    agents: str,
    count: int | None,
    seconds: float | None,
    replay: int | None,
    overflow: str | None,
    deadline: float,
) -> None:
    """Subscribe to a topic: print each message's value as JSON, until Ctrl-C. AGENTS: a name or a pattern as
    'eu.*'. With --json the line has agent, number and time, too."""
    import mf
    from mf import described

    with place.client() as client:
        whole = full_name(place, topic, "topic")
        with hinting(place, whole, "topic"):
            found = described.Topic(client.describe(whole, topic=True, deadline=deadline))
        options = mf.SubscribeOptions(
            replay=replay, overflow=None if overflow is None else mf.Overflow[overflow]
        )
        with found.subscriber(client, agents, options) as subscriber:
            subscriber.on_gap(lambda gap: note(f"{gap.count} messages missed: {gap.why.name}"))
            for message in taken(subscriber, count, seconds):
                show(found, message, place.json)


def taken(subscriber: Any, count: int | None, seconds: float | None) -> Any:
    """At most so many messages, and none later than that."""
    until = None if seconds is None else monotonic() + seconds
    number = 0
    while count is None or number < count:
        # A wait without end could not be interrupted.
        message = subscriber.poll(min(1.0, max(0.0, until - monotonic())) if until is not None else 1.0)
        if message is not None:
            number += 1
            yield message
        elif until is not None and monotonic() >= until:
            return


def show(topic: Any, message: "mf.TopicMessage[Any]", as_json: bool) -> None:
    import json

    import mf

    text = topic.value_json(message.value)
    if as_json:
        head = {
            "agent": message.agent,
            "sequence": message.sequence,
            "time": json.loads(mf.to_json(message.time)),
        }
        emit({**head, "value": json.loads(text)})
    elif topic.info.agent is not None:
        line(f"{safe(message.agent)} {safe_json(text)}")
    else:
        emit_json(text)
