"""publisher.py LISTEN [CONTROLLER]: the publisher of the tests of topics. Prints its address, then answers
each command that comes on standard input by one line of JSON:

    publish AGENT FIRST COUNT SIZE   Additions of an agent, documents FIRST.., titles of SIZE characters
    order FIRST COUNT SIZE           Orders, which may make it wait; both say how many
    late AGENT COUNT SIZE MS         so many Additions, each within MS: the code and the words of what the
                                     first that is too late raises, or null
    peers                            the subscriptions of Additions, each [policy, peer, agents]
    await TOPIC COUNT                whether Additions, or Orders, get so many subscriptions in a minute
    close                            closes its topics
    try AGENT                        the code and the words of what publishing for it raises, or null
    stats                            of Additions and then of Orders {published: {agent: count}, encoded,
                                     cut, subscriptions: [[delivered, dropped, queued]]}
    memory                           the most bytes that it had in memory so far
"""

import json
import resource
import sys
from collections.abc import Callable
from typing import Any

from events import AdditionsPublisher, Indexed, OrdersPublisher

import mf

PATIENCE = 60.0


def figures(stats: mf.PublisherStats) -> dict[str, Any]:
    return {
        "published": {each.agent: each.published for each in stats.agents},
        "subscriptions": [[each.delivered, each.dropped, each.queued] for each in stats.subscriptions],
        "encoded": stats.encoded,
        "cut": stats.cut,
    }


def tried(publish: Callable[[], Any]) -> list[str] | None:
    try:
        publish()
    except mf.Error as error:
        return [error.code.name, error.message]
    return None


def main() -> None:
    listen, controller = (*sys.argv[1:], None)[:2]
    topics = mf.Topics(mf.TopicsOptions(stall_timeout=2.0))
    additions, orders = AdditionsPublisher(topics), OrdersPublisher(topics)
    server = mf.Server(str(listen), controller, mf.ServerOptions(drain_timeout=1.0))
    server.offer(topics)
    server.start()
    print(server.address, flush=True)
    for line in sys.stdin:
        command, *arguments = line.split()
        answer: Any
        if command == "publish":
            agent, first, count, size = arguments[0], *map(int, arguments[1:])
            books, title = additions.at(agent), "x" * size
            books.publish_all(Indexed(doc, title) for doc in range(first, first + count))
            answer = count
        elif command == "order":
            first, count, size = map(int, arguments)
            orders.publish_all(Indexed(doc, "x" * size) for doc in range(first, first + count))
            answer = count
        elif command == "late":
            agent, (count, size, patience) = arguments[0], map(int, arguments[1:])
            values = [Indexed(doc, "x" * size) for doc in range(count)]
            within = mf.PublishOptions(deadline=patience / 1000)
            answer = tried(lambda: additions.at(agent).publish_all(values, within))  # noqa: B023
        elif command == "peers":
            all_of_them = additions.stats().subscriptions
            answer = [[each.overflow.name, each.peer, each.agents] for each in all_of_them]
        elif command == "await":
            publisher: Any = additions if arguments[0] == "Additions" else orders
            answer = publisher.await_subscribers(int(arguments[1]), PATIENCE)
        elif command == "close":
            topics.close()
            answer = None
        elif command == "try":
            answer = tried(lambda: additions.at(arguments[0]).publish(Indexed(1, "one")))  # noqa: B023
        elif command == "stats":
            answer = [figures(additions.stats()), figures(orders.stats())]
        else:
            answer = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(json.dumps(answer), flush=True)
    server.stop()
    topics.close()


if __name__ == "__main__":
    main()
