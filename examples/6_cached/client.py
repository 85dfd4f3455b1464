"""client.py [CALLS [tcp://HOST:PORT]]: the same calls without and with a cache."""

import sys
import time
from collections.abc import Callable
from contextlib import suppress

import mf
from ids import IdsClient, NoSuchCollection

NAMES = ("books", "maps", "news", "films")  # there are no films


def measure(ids: IdsClient, what: str, calls: int, call: Callable[[str], int]) -> None:
    before = ids.requests()
    start = time.perf_counter()
    for i in range(calls):
        with suppress(NoSuchCollection):  # an answer like others: it is kept, too
            call(NAMES[i % len(NAMES)])
    took = time.perf_counter() - start
    print(f"{what:24}{ids.requests() - before:10}{took / calls * 1e6:12.2f}")


calls = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
address = sys.argv[2] if len(sys.argv) > 2 else "tcp://127.0.0.1:7406"
with mf.Client(address) as client:
    ids = IdsClient(client)
    ids.requests()  # connects
    print(f"{calls} calls                 requests   us a call")
    measure(ids, "look_up", calls, ids.look_up)
    measure(ids, "collection_id, cached", calls, ids.collection_id)
    ids.collection_id_forget("books")
    measure(ids, "books was forgotten", calls, ids.collection_id)
    stats = ids.collection_id_cache().stats()
    print(f"{stats.hits} hits, {stats.misses} misses, {stats.entries} entries")
