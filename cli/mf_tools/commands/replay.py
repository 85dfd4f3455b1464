"""`mf replay`: the messages of a recording, published again."""

from time import monotonic, sleep

import click

from mf_tools.connect import Place, deadline_option, placed
from mf_tools.guard import FILES, USAGE, CommandError
from mf_tools.output import note
from mf_tools.publishing import publisher, topic_of


@click.command()
@click.argument("file")
@click.option(
    "--speed", type=click.FloatRange(min=0), default=1.0, show_default=True, help="0: without pauses."
)
@click.option("--now", "adapts", is_flag=True, help="To the topic as its publishers have it now.")
@click.option("--listen", metavar="ADDRESS", default="", help="Where subscribers reach this publisher.")
@click.option(
    "--wait", type=click.FloatRange(min=0), default=2.0, show_default=True, help="For a subscriber."
)
@deadline_option
@placed
def command(
    place: Place, file: str, speed: float, adapts: bool, listen: str, wait: float, deadline: float
) -> None:
    """Publish the messages of a recording: in the times between them, --speed times as fast.

    The topic is that of the recording; subscribers of another version adapt. With --now it is as its
    publishers describe it now, and a message that does not fit ends the command.
    """
    import mf
    from mf import described

    try:
        recording = described.Recording(file)
        agents = {agent for _, agent, _ in recording}  # each line is looked at before the first is published
    except ValueError as wrong:
        raise CommandError(str(wrong), FILES) from None
    said = recording.description
    topic = topic_of(place, said.name, None if adapts else said, deadline)
    count = 0
    with publisher(place, topic, listen, wait, deadline, agents) as publish:
        begun: float | None = None
        for at, agent, text in recording:
            try:
                value = topic.value(text)
            except mf.DecodeError as wrong:
                raise CommandError(f"message {count + 1}: {wrong.message}", USAGE) from None
            if speed and begun is not None and (left := begun + at / speed - monotonic()) > 0:
                sleep(left)
            publish(agent, value)
            begun = monotonic() - at / speed if begun is None and speed else begun
            count += 1
    note(f"published {count}")
