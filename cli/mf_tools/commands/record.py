"""`mf record`: the messages of a topic, or the calls of servers, with their times, in a file."""

import asyncio
import json
from contextlib import closing

import click

from mf_tools.call_records import CallRecords, RecordFile
from mf_tools.commands.sub import taken
from mf_tools.connect import Place, deadline_option, placed, quiet
from mf_tools.guard import USAGE, CommandError
from mf_tools.output import note
from mf_tools.registry import full_name, hinting
from mf_tools.steering import steered
from mf_tools.tapping import Chosen, Taps, filter_options


@click.command()
@click.argument("topic", metavar="TOPIC|SERVER")
@click.argument("file")
@click.option("--calls", is_flag=True, help="The calls of a SERVER, in place of messages.")
@filter_options
@click.option("--agents", default="*", show_default=True, help="Of which: a name or a pattern as 'eu.*'.")
@click.option("-n", "--count", type=click.IntRange(min=1), help="End after so many messages, or calls.")
@click.option("--for", "seconds", type=click.FloatRange(min=0), help="End after so many seconds.")
@deadline_option
@placed
def command(
    place: Place,
    topic: str,
    file: str,
    calls: bool,
    chosen: Chosen,
    agents: str,
    count: int | None,
    seconds: float | None,
    deadline: float,
) -> None:
    """Write the messages of a topic to FILE, which must not exist yet, until Ctrl-C. Nothing else is written:
    no address, no credential. What was written stays whole where the disk is full.

    With --calls: the calls that a server answers, with arguments and results, and without their callers.
    SERVER, --service, --method, --peer, --outcome and --sample are as for `mf tap`, and so is the right to
    see calls.
    """
    if calls:
        _record_calls(place, topic, file, chosen, agents, count, seconds)
    elif chosen != Chosen():
        raise CommandError("--service, --method, --peer, --outcome and --sample need --calls", USAGE)
    else:
        _record_messages(place, topic, file, agents, count, seconds, deadline)


def _record_calls(
    place: Place,
    which: str,
    file: str,
    chosen: Chosen,
    agents: str,
    count: int | None,
    seconds: float | None,
) -> None:
    quiet()
    records = CallRecords(file)
    taps = Taps(place, chosen.filter(agents), count, records)
    try:
        asyncio.run(taps.run(steered(place, which), seconds))
    finally:
        records.close()


def _record_messages(
    place: Place,
    topic: str,
    file: str,
    agents: str,
    count: int | None,
    seconds: float | None,
    deadline: float,
) -> None:
    import mf
    from mf import described

    first: int | None = None
    with place.client() as client:
        whole = full_name(place, topic, "topic")
        with hinting(place, whole, "topic"):
            found = client.describe(whole, topic=True, deadline=deadline)
        made = described.Topic(found)
        with closing(RecordFile(file)) as out:
            out.write(described.Recording.head(found, json.loads(mf.to_json(mf.Timestamp.now()))))
            with made.subscriber(client, agents, mf.SubscribeOptions()) as subscriber:
                subscriber.on_gap(lambda gap: note(f"{gap.count} messages missed: {gap.why.name}"))
                for message in taken(subscriber, count, seconds):
                    first = int(message.time) if first is None else first
                    at = described.Recording.between(first, int(message.time))
                    value = json.loads(made.value_json(message.value))
                    out.write({"t": at, "agent": message.agent, "value": value}, counts=True)
