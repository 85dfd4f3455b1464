"""subscriber.py ADDRESS TOPIC AGENTS OVERFLOW MESSAGES [CA]: the subscriber of the tests of topics, to
Additions of AGENTS or to Orders ("-" for its agents), with a queue of so many messages. Prints "subscribed",
or the code and the words of a refusal, then answers each command that comes on standard input by one line
of JSON:

    take COUNT      so many messages, each [agent, sequence, document, missed]
    values COUNT    so many messages, each [agent, sequence, document], or what its value raises
    next MS         the code and the words of what next() raises, or [agent, sequence] of what it gives
    close           closes it
    account COUNT   takes messages until those received and missed are so many, in all, and gives
                    {received, missed, in_order}: whether of each publisher and agent all numbers came in
                    order, as messages or as missed
    stats           {received, dropped, not_kept, upstream, duplicates, undecodable, cut, publishers}
    publishers N    whether it is subscribed at so many within a minute
    left N          whether there are only so many publishers within a minute
    cut N           whether so many subscriptions were cut within a minute
    memory          the most bytes that it had in memory so far
"""

import json
import resource
import sys
from collections.abc import Callable
from time import monotonic, sleep
from typing import Any

from events import AdditionsSubscriber, OrdersSubscriber

import mf

PATIENCE = 60.0


def eventually(holds: Callable[[], bool]) -> bool:
    until = monotonic() + PATIENCE
    while not holds() and monotonic() < until:
        sleep(0.01)
    return holds()


def value_of(message: Any) -> list[Any]:
    try:
        return [message.agent, message.sequence, message.value.doc]
    except mf.Error as error:
        return [message.agent, message.sequence, error.code.name]


def next_of(subscriber: Any, seconds: float) -> list[Any]:
    try:
        message = subscriber.next(seconds)
    except mf.Error as error:
        return [error.code.name, error.message]
    return [message.agent, message.sequence]


def main() -> None:  # noqa: C901 - one branch a command
    address, topic, agents, overflow, messages, *more = sys.argv[1:]
    authority, shown = (*more, "", "")[:2]
    options = mf.SubscribeOptions(overflow=mf.Overflow[overflow], max_messages=int(messages))
    tls = mf.Tls(ca=authority) if authority else None
    client = mf.Client(address, mf.ClientOptions(tls=tls, authentication=shown.encode()))
    subscriber: Any
    try:
        if topic == "Additions":
            subscriber = AdditionsSubscriber(client, agents, options)
        else:
            subscriber = OrdersSubscriber(client, options)
    except mf.Error as error:
        print(json.dumps([error.code.name, error.message]), flush=True)
        return
    print("subscribed", flush=True)
    follows: dict[tuple[Any, str], int] = {}
    in_order = True

    def comes(publisher: Any, agent: str, first: int, count: int) -> None:
        """Numbers of a publisher and agent, as a message or as missed."""
        nonlocal in_order
        in_order = in_order and follows.get((publisher, agent), first) == first
        follows[publisher, agent] = first + count

    def missed() -> int:
        stats = subscriber.stats()
        return int(stats.dropped + stats.not_kept + stats.upstream)

    def take(timeout: float) -> Any:
        message = subscriber.poll(timeout)
        if message is not None:
            comes(message.publisher, message.agent, message.sequence, 1)
        return message

    subscriber.on_gap(lambda gap: comes(gap.publisher, gap.agent, gap.first, gap.count))
    for line in sys.stdin:
        command, *arguments = line.split()
        answer: Any
        if command == "take":
            taken = [take(PATIENCE) for _ in range(int(arguments[0]))]
            answer = [[each.agent, each.sequence, each.value.doc, each.missed] for each in taken]
        elif command == "values":
            answer = [value_of(take(PATIENCE)) for _ in range(int(arguments[0]))]
        elif command == "next":
            answer = next_of(subscriber, int(arguments[0]) / 1000)
        elif command == "close":
            answer = subscriber.close()
        elif command == "account":
            until = monotonic() + PATIENCE
            while subscriber.stats().received + missed() < int(arguments[0]) and monotonic() < until:
                take(0.05)
            answer = {"received": subscriber.stats().received, "missed": missed(), "in_order": in_order}
        elif command == "publishers":
            answer = subscriber.await_publishers(int(arguments[0]), PATIENCE)
        elif command == "left":
            answer = eventually(lambda: subscriber.stats().publishers <= int(arguments[0]))  # noqa: B023
        elif command == "cut":
            answer = eventually(lambda: subscriber.stats().cut >= int(arguments[0]))  # noqa: B023
        elif command == "memory":
            answer = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        else:
            stats = subscriber.stats()
            answer = {
                "received": stats.received,
                "dropped": stats.dropped,
                "not_kept": stats.not_kept,
                "upstream": stats.upstream,
                "duplicates": stats.duplicates,
                "undecodable": stats.undecodable,
                "cut": stats.cut,
                "publishers": stats.publishers,
            }
        print(json.dumps(answer), flush=True)
    client.close()


if __name__ == "__main__":
    main()
