"""The memory of connections that stay open."""

from harness.counters import resident_kb
from harness.interleaved import CROSS, cores
from harness.pair import Pair, System
from harness.rows import Samples


def idle_connections(system: System, count: int, samples: Samples) -> None:
    """How much the server grows when `count` connections, each after one call, stay open. A client without
    the work `idle` adds no row."""
    with Pair(system, cores(CROSS)) as pair:
        if not pair.prepare("idle", count):
            return
        before = resident_kb(pair.server.pid)
        pair.go()
        kb = (resident_kb(pair.server.pid) - before) / count
        samples.add("idle_connection_kb", CROSS, system.name, {"kb": kb})
