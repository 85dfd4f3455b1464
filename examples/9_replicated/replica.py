"""One replica of the key-value service: writes come through the group, reads through an ordinary server.

python replica.py mf://127.0.0.1:7400 a a,b,c
"""

import sys

import mf
from kv import State, StorePutChainRequest, StoreServant, TooLong

LONGEST = 1_000


class Values(StoreServant):
    """The same at all replicas, as each applies the same writes in the same order."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.version = mf.Version(0, 0)

    def put(self, version: mf.Version, request: StorePutChainRequest) -> None:
        self.version = version
        if len(request.value) > LONGEST:
            raise TooLong(LONGEST)
        self.values[request.key] = request.value

    # Each flow has a type of request of its own, with the same fields.
    on_apply_put_no_versioning = put  # type: ignore[assignment]
    on_apply_put_version_request = put  # type: ignore[assignment]
    on_apply_put_message_returns_version = put  # type: ignore[assignment]
    on_apply_put_one_hop = put  # type: ignore[assignment]
    on_apply_put_one_hop_ack_client = put  # type: ignore[assignment]
    on_apply_put_wait_for_version = put  # type: ignore[assignment]
    on_apply_put_chain = put

    def get(self, key: str) -> str | None:
        return self.values.get(key)

    def size(self) -> int:
        return len(self.values)

    # With these a replica can follow however long it was away.

    def on_snapshot(self) -> bytes:
        return bytes(mf.to_bytes(State(self.values)))

    def on_restore(self, snapshot: bytes | None) -> None:
        self.values = {} if snapshot is None else dict(mf.from_bytes(State, snapshot).values)

    def checksum(self) -> int:
        """Of all values: FNV-1a, as replica.cpp has it."""
        total = 0x811C9DC5
        for each in "".join(f"{key}={value}\n" for key, value in sorted(self.values.items())).encode():
            total = (total ^ each) * 0x01000193 & 0xFFFF_FFFF
        return total


def main(controller: str, member: str, members: str) -> None:
    values = Values()
    with mf.Replica(values, controller, member=member, members=members.split(",")) as replica:
        while not replica.until_serving(timeout=5.0):
            print(f"{member} waits for the others", flush=True)
        # Only now: a client that reads here finds what the group has.
        with mf.Server(controller=controller) as server:
            server.offer(values, labels={"member": member})
            print(f"{member} serves", flush=True)
            server.run()
    print(f"{member} has {values.size()} values, with the checksum {values.checksum():08x}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
