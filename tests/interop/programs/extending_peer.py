"""extending_peer.py serve | call URL | local, with the stubs of extending.mfidl on PYTHONPATH.

A server offers one vault, and a caller calls it as each of the services that it serves.
cpp/extending_peer.cpp is the same in C++.
"""

import sys
from collections.abc import Iterator, Mapping

from checks import say
from extending import (
    BackupClient,
    Missing,
    StoreClient,
    StorePutRequest,
    StoreStatsResult,
    VaultClient,
    VaultServant,
)

import mf


class Vault(VaultServant):
    def __init__(self) -> None:
        self._values: dict[str, int] = {}

    def put(self, key: str, value: int) -> None:
        self._values[key] = value

    def get(self, key: str) -> int:
        if key not in self._values:
            raise Missing(key)
        return self._values[key]

    def stats(self) -> StoreStatsResult:
        return StoreStatsResult(len(self._values), sum(self._values.values()))

    def scan(self) -> Iterator[str]:
        yield from sorted(self._values)

    def restore(self, values: Mapping[str, int]) -> int:
        self._values = dict(values)
        return len(values)

    def is_locked(self) -> bool:
        return True


def serve() -> None:
    server = mf.Server("tcp://127.0.0.1:0")
    server.offer(Vault(), "a")
    server.start()
    print(server.address, flush=True)
    server.run()


def report(what: str, value: object) -> None:
    say({"what": what, "value": str(value)})


def call(client: mf.Client | mf.Light) -> None:
    store, backup = StoreClient(client).at("a"), BackupClient(client).at("a")
    vault = VaultClient(client).at("a")
    store.put("x", 1)
    for outcome in backup.put_batch([StorePutRequest("y", 2), StorePutRequest("z", 4)]).results():
        outcome.value()
    report("get", vault.get("y"))
    try:
        store.get("nothing")
    except Missing as missing:
        report("missing", missing.key)
    stats = vault.stats()
    report("stats", f"{stats.keys} {stats.sum}")
    report("scan", "".join(store.scan()))
    report("restore", backup.restore({"w": 8}))
    report("everywhere", StoreClient(client).on(["a"]).get("w")["a"].value())
    report("locked", "yes" if vault.is_locked() else "no")


if sys.argv[1] == "serve":
    serve()
elif sys.argv[1] == "call":
    with mf.Client(sys.argv[2]) as caller:
        call(caller)
else:
    hub = mf.Light()
    hub.offer(Vault(), "a")
    call(hub)
