"""subscriber.py ADDRESS LEDGERS: subscribes to Entries. Prints "subscribed", then answers each command that
comes on standard input by one line of JSON:

    account COUNT   takes messages until those received and missed are so many, or a minute is over, and gives
                    {received, missed, in_order, publishers}: of how many publishers they came, and whether of
                    each publisher and ledger each number came once, in order, as a message or as missed
    first           the next message, [ledger, sequence, number, missed]
    failure         waits for the end of the subscription, and gives its code and message
"""

import json
import sys
from time import monotonic
from typing import Any

from ledgers import EntriesSubscriber

import mf

PATIENCE = 60.0


def main() -> None:
    address, ledgers = sys.argv[1:]
    client = mf.Client(address)
    subscriber = EntriesSubscriber(client, ledgers, mf.SubscribeOptions(overflow=mf.Overflow.block))
    print("subscribed", flush=True)
    next_of: dict[tuple[Any, str], int] = {}
    in_order = True

    def comes(publisher: Any, agent: str, first: int, count: int) -> None:
        nonlocal in_order
        in_order = in_order and next_of.get((publisher, agent), first) == first
        next_of[publisher, agent] = first + count

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
        answer: object
        if command == "account":
            until = monotonic() + PATIENCE
            while subscriber.stats().received + missed() < int(arguments[0]) and monotonic() < until:
                take(0.05)
            publishers = len({publisher for publisher, _ in next_of})
            received = subscriber.stats().received
            answer = {
                "received": received,
                "missed": missed(),
                "in_order": in_order,
                "publishers": publishers,
            }
        elif command == "first":
            message = take(PATIENCE)
            answer = message and [message.agent, message.sequence, message.value.number, message.missed]
        else:
            try:
                while take(PATIENCE) is not None:
                    pass
                answer = None
            except mf.Error as error:
                answer = [error.code.name, error.message]
        print(json.dumps(answer), flush=True)
    client.close()


if __name__ == "__main__":
    main()
