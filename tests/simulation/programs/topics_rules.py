"""The rules that every run of topics keeps. Each is a function from the log to what breaks it, in words;
docs/simulation.md lists them.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise

from topics_log import Event, Read, Source, TopicsLog
from topics_plan import CALM, REPLAY

import mf

_LOSSLESS = (mf.Overflow.block, mf.Overflow.disconnect)


def messages_come_in_order_and_once(log: TopicsLog) -> Iterator[str]:
    """Those of one publisher and agent: each is taken or reported as missed, and none is both."""
    for read, source, events in _of_each_source(log):
        for before, event in pairwise(events):
            if event.first != before.first + before.count:
                yield f"{read.name} gets {event.first} of {source} behind {before.first + before.count}"
        if events[0].first < 1 or any(event.count < 1 for event in events):
            yield f"{read.name} gets numbers of {source} that no message has"


def messages_are_those_that_were_published(log: TopicsLog) -> Iterator[str]:
    for read, source, events in _of_each_source(log):
        sent = log.sent.get(source, [])
        for event in events:
            if event.first + event.count - 1 > len(sent):
                yield f"{read.name} gets {event.first + event.count - 1} of {len(sent)} of {source}"
            elif event.why is None and sent[event.first - 1].number != event.number:
                yield f"{read.name} gets the value {event.number} as message {event.first} of {source}"


def a_message_says_what_was_missed_before_it(log: TopicsLog) -> Iterator[str]:
    for read, source, events in _of_each_source(log):
        missed = 0
        for event in events:
            if event.why is not None:
                missed += event.count
                continue
            if event.missed != missed:
                yield f"{read.name}: message {event.first} of {source} says {event.missed}, not {missed}"
            missed = 0


def published_is_received_and_missed(log: TopicsLog) -> Iterator[str]:
    """From its first message on, when all is well again."""
    for read in log.reads:
        if not read.lives:
            continue
        for source, sent in log.sent.items():
            run, topic, agent = source
            if topic != read.plan.topic or read.plan.agents not in ("*", agent):
                continue
            if (read.local and read.name != f"s{run}:{topic}") or not log.process(run).alive:
                continue
            if read.next_of(source) != len(sent) + 1:
                yield f"{read.name} has what is before {read.next_of(source)} of {len(sent)} of {source}"


def who_counts_gives_what_came(log: TopicsLog) -> Iterator[str]:
    for read in log.reads:
        stats = read.stats
        if stats is None or not read.lives:
            continue
        received = sum(event.why is None for event in read.events)
        by = {why: sum(each.count for each in read.events if each.why is why) for why in mf.Why}
        told = (stats.received, stats.dropped, stats.not_kept, stats.upstream)
        if told != (received, by[mf.Why.dropped], by[mf.Why.not_kept], by[mf.Why.upstream]):
            yield f"{read.name} counts {told}, and has seen {received} messages and {by}"
        if stats.duplicates:
            yield f"{read.name} was sent {stats.duplicates} messages twice"


def what_is_kept_is_not_missed(log: TopicsLog) -> Iterator[str]:
    """A subscriber that comes back gets what its publisher has kept, and a reason says what has happened."""
    for read, source, events in _of_each_source(log):
        kept = REPLAY[source[1]]
        for event in events:
            last = event.first + event.count - 1
            if event.why is mf.Why.not_kept and last > event.published - kept:
                yield f"{read.name} misses {last} of {source}, of whose {event.published} the last are kept"
            if event.why is mf.Why.upstream:
                yield f"{read.name} misses {last} of {source} on the way to a relay, and there is none"
            if event.why is mf.Why.dropped and read.plan.overflow in _LOSSLESS:
                yield f"{read.name} has chosen {read.plan.overflow.name}, and {last} of {source} was dropped"


def who_reads_here_gets_all_at_once(log: TopicsLog) -> Iterator[str]:
    for read in log.reads:
        if not read.local:
            continue
        for event in read.events:
            if event.why is not None:
                yield f"{read.name} misses {event.first} of {event.source} in its own process"
            elif event.when > log.sent[event.source][event.first - 1].ended + 0.001:
                yield f"{read.name} gets {event.first} of {event.source} later than it was published"


def who_has_no_trouble_is_not_held_up(log: TopicsLog) -> Iterator[str]:
    """By troubles of others, the controller's too: the client that reads all at once gets each message
    in time from those publishers that no fault is about, from its first one on."""
    if log.patience is None:
        return
    for read, source, events in _of_each_source(log):
        if read.plan.client != CALM or log.process(source[0]).host in log.troubled:
            continue
        for event in events:
            if event.why is not None:
                yield f"{read.name} misses {event.first} of {source}, and neither has any trouble"
                continue
            sent = log.sent[source][event.first - 1]
            if sent.began > events[0].when and event.when > sent.ended + log.patience:
                late = event.when - sent.ended
                yield f"{read.name} gets {event.first} of {source} {late:.3f} s after it was published"


def both_sides_count_the_same(log: TopicsLog) -> Iterator[str]:
    """Where neither has had any trouble, so that there was one subscription, and no subscriber is cut."""
    for process in log.publishers.values():
        if not process.alive or process.host in log.troubled or log.patience is None:
            continue
        for topic, subscriptions in process.stats.items():
            told: dict[tuple[str, str, mf.Overflow], list[int]] = {}
            for each in subscriptions:
                if each.peer and each.overflow not in _LOSSLESS:
                    counts = told.setdefault(
                        (each.peer.partition(":")[0], each.agents, each.overflow), [0, 0]
                    )
                    counts[0] += each.delivered
                    counts[1] += each.dropped
            for read in log.reads:
                plan = read.plan
                key = (plan.client, plan.agents, plan.overflow)
                if plan.topic != topic or read.local or not read.lives or key not in told:
                    continue
                of_it = [event for event in read.events if event.source[0] == process.run]
                told[key][0] -= sum(event.why is None for event in of_it)
                told[key][1] -= sum(event.count for event in of_it if event.why is mf.Why.dropped)
            for (client, agents, overflow), counts in told.items():
                if client not in log.troubled and counts != [0, 0]:
                    what = f"{topic} of {agents} ({overflow.name})"
                    yield f"publisher {process.run} counts {counts} more for {client}, {what}"


def subscriptions_end_for_a_reason(log: TopicsLog) -> Iterator[str]:
    for read in log.reads:
        end = read.end
        if end is None:
            continue
        code = end.code if isinstance(end, mf.Error) else None
        if code is not mf.Code.OVERLOADED or read.plan.overflow is not mf.Overflow.disconnect:
            yield f"{read.name} has ended: {end!r}"


def what_cannot_be_published_is_late(log: TopicsLog) -> Iterator[str]:
    for process in log.publishers.values():
        for source, number, code in process.failed:
            if code != "DEADLINE_EXCEEDED" and process.alive:
                yield f"{number} of {source} was not published: {code}"


def what_the_run_saw(log: TopicsLog) -> Iterator[str]:
    yield from log.troubles


RULES: tuple[Callable[[TopicsLog], Iterator[str]], ...] = (
    messages_come_in_order_and_once,
    messages_are_those_that_were_published,
    a_message_says_what_was_missed_before_it,
    published_is_received_and_missed,
    who_counts_gives_what_came,
    what_is_kept_is_not_missed,
    who_reads_here_gets_all_at_once,
    who_has_no_trouble_is_not_held_up,
    both_sides_count_the_same,
    subscriptions_end_for_a_reason,
    what_cannot_be_published_is_late,
    what_the_run_saw,
)


def topics_broken(log: TopicsLog) -> list[str]:
    return [f"{rule.__name__}: {text}" for rule in RULES for text in rule(log)]


def _of_each_source(log: TopicsLog) -> Iterator[tuple[Read, Source, list[Event]]]:
    for read in log.reads:
        sources: dict[Source, list[Event]] = {}
        for event in read.events:
            sources.setdefault(event.source, []).append(event)
        for source, events in sources.items():
            yield read, source, events
