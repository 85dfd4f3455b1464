"""index.py LISTEN SUBSCRIBERS COUNT [CONTROLLER]: an index that publishes what it adds. It waits for so many
subscribers, and then for a line on standard input; publishes so many additions, and says how its subscribers
stand; after another line it publishes the last addition of each collection, and says it again when all have
them.
"""

import sys
import time

from events import Added, AdditionsPublisher

import mf

COLLECTIONS = ("books", "maps", "news")
TITLE = "an addition to the index, with a title that is rather long " * 8


def table(publisher: AdditionsPublisher) -> None:
    stats = publisher.stats()
    print("published", *(f"{each.agent} {each.published}" for each in stats.agents), flush=True)
    print(f"{'policy':<12}{'delivered':>10}{'dropped':>9}{'lag':>6}", flush=True)
    for each in sorted(stats.subscriptions, key=lambda each: each.overflow):
        print(f"{each.overflow.name:<12}{each.delivered:>10}{each.dropped:>9}{each.queued:>6}", flush=True)


def main() -> None:
    listen, subscribers, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    controller = sys.argv[4] if len(sys.argv) > 4 else None
    with mf.Topics() as topics:
        publisher = AdditionsPublisher(topics)
        additions = [publisher.at(collection) for collection in COLLECTIONS]
        server = mf.Server(listen, controller)
        server.offer(topics)
        server.start()
        print(server.address, flush=True)
        if not publisher.await_subscribers(subscribers, 60):
            raise SystemExit("there is no subscriber")
        print("subscribed", flush=True)
        sys.stdin.readline()
        for doc in range(count):
            additions[doc % len(additions)].publish(Added(doc, TITLE))
        table(publisher)
        sys.stdin.readline()
        for each in additions:
            each.publish(Added(count, "the last one"))
        while any(each.queued for each in publisher.stats().subscriptions):
            time.sleep(0.01)
        table(publisher)
        sys.stdin.readline()
        server.stop()


if __name__ == "__main__":
    main()
