"""`mf replay`: the messages of a recording, published again, or its calls, made again."""

import gc
from collections.abc import Iterable, Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import click

from mf_tools.call_replay import HELD, Wanted, replay_calls
from mf_tools.connect import Place, deadline_option, placed
from mf_tools.guard import FILES, USAGE, CommandError
from mf_tools.output import note
from mf_tools.publishing import publisher, topic_of

if TYPE_CHECKING:
    from mf.described import RecordedMessage, Recording, Topic


@click.command()
@click.argument("file")
@click.option(
    "--speed", type=click.FloatRange(min=0), default=1.0, show_default=True, help="0: without pauses."
)
@click.option("--now", "adapts", is_flag=True, help="To the topic or services as they are now.")
@click.option("--listen", metavar="ADDRESS", help="Where subscribers reach this publisher.")
@click.option("--wait", type=click.FloatRange(min=0), help="For a subscriber.  [default: 2.0]")
@click.option("--again", metavar="METHOD", multiple=True, help="Of calls: this method may run again.")
@click.option("--results", is_flag=True, help="Of calls: compare results, too.")
@click.option(
    "--open", "most_open", type=click.IntRange(1, 20_000), help="Of calls: so many at once.  [default: 256]"
)
@deadline_option
@placed
def command(
    place: Place,
    file: str,
    speed: float,
    adapts: bool,
    listen: str | None,
    wait: float | None,
    again: tuple[str, ...],
    results: bool,
    most_open: int | None,
    deadline: float,
) -> int:
    """Publish the messages of a recording, or make its calls: in the times between them, --speed times as
    fast; as load with --speed 0, which says how many a second that were.

    The topic is that of the recording; subscribers of another version adapt. With --now it is as its
    publishers describe it now, and a message that does not fit ends the command: before anything is
    published, unless the recording is larger than 32 MiB.

    Calls are made in the same way, of the methods of --again alone: full names, or their beginnings and '*'.
    The exit code is 1 if a call has ended with another code, or with --results with another result, than the
    recording says.
    """
    from mf import described

    if described.CallRecording.is_one(file):
        if listen is not None or wait is not None:
            raise CommandError(f"'{file}' has calls: --listen and --wait are for messages", USAGE)
        return replay_calls(place, file, Wanted(again, speed, adapts, results, most_open or 256, deadline))
    if again or results or most_open is not None:
        raise CommandError(f"'{file}' has no calls: --again, --results and --open are for calls", USAGE)
    _publish(place, file, speed, adapts, listen or "", 2.0 if wait is None else wait, deadline)
    return 0


def _publish(
    place: Place, file: str, speed: float, adapts: bool, listen: str, wait: float, deadline: float
) -> None:
    from mf import described

    try:
        recording = described.Recording(file)
    except ValueError as wrong:
        raise CommandError(str(wrong), FILES) from None
    said = recording.description
    topic = topic_of(place, said.name, None if adapts else said, deadline)
    messages: Iterable[tuple[float, str, Any]] = _read(recording, topic)
    if Path(file).stat().st_size <= HELD:
        messages = list(messages)
        gc.freeze()  # as in call_replay
        agents = {agent for _, agent, _ in messages}
    else:
        agents = {agent for _, agent, _ in _lines(recording)}  # looks at each line, too
    count = 0
    with publisher(place, topic, listen, wait, deadline, agents) as publish:
        begun = 0.0  # when the first one was published
        for at, agent, value in messages:
            if speed and count and (left := begun + at / speed - monotonic()) > 0:
                sleep(left)
            publish(agent, value)
            if not count:
                begun = monotonic() - (at / speed if speed else 0.0)
            count += 1
        took = monotonic() - begun
    rate = f", {count / took:,.0f} a second" if count > 1 and not speed else ""
    note(f"published {count}{rate}")


def _lines(recording: "Recording") -> "Iterator[RecordedMessage]":
    try:
        yield from recording
    except ValueError as wrong:
        raise CommandError(str(wrong), FILES) from None


def _read(recording: "Recording", topic: "Topic") -> Iterator[tuple[float, str, Any]]:
    """The messages with their values as the topic has them."""
    import mf

    for number, (at, agent, text) in enumerate(_lines(recording), 1):
        try:
            yield at, agent, topic.value(text)
        except mf.DecodeError as wrong:
            raise CommandError(f"message {number}: {wrong.message}", USAGE) from None
