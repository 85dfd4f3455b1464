"""publisher.py LISTEN: publishes Entries of ledgers. Prints its address, then answers each command that comes
on standard input by one line of JSON:

    publish LEDGER FIRST COUNT SIZE   entries FIRST.. with texts of SIZE characters; how many, once all are in
                                      the queues of their subscribers
    await COUNT                       whether there are so many subscriptions within a minute
"""

import json
import sys

from ledgers import EntriesPublisher, Entry

import mf

PATIENCE = 60.0


def main() -> None:
    # However long an engine is away, its bridge is not cut.
    topics = mf.Topics(mf.TopicsOptions(stall_timeout=10 * PATIENCE))
    entries = EntriesPublisher(topics)
    server = mf.Server(sys.argv[1], options=mf.ServerOptions(drain_timeout=1.0))
    server.offer(topics)
    server.start()
    print(server.address, flush=True)
    for line in sys.stdin:
        command, *arguments = line.split()
        answer: object
        if command == "publish":
            ledger, first, count, size = arguments[0], *map(int, arguments[1:])
            text, at = "x" * size, entries.at(ledger)
            for number in range(first, first + count):
                at.publish(Entry(number, text), mf.PublishOptions(deadline=PATIENCE))
            answer = count
        else:
            answer = entries.await_subscribers(int(arguments[0]), PATIENCE)
        print(json.dumps(answer), flush=True)
    server.stop()
    topics.close()


if __name__ == "__main__":
    main()
