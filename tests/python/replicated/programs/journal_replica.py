"""The journal of journal.mfidl, or of tests/replicated/later.mfidl, as a servant, and as a program: one
replica, which answers what it is asked on its standard input.

    journal_replica.py CONTROLLER MEMBER MEMBERS MOST_ENTRIES

MF_PEER_LISTEN and MF_PEER_ACCESS of its environment are where it listens, and its access file.
"""

import json
import os
import sys
from typing import Any

import mf
from journal import Full, JournalServant, State


class Pages(JournalServant):
    """Keeps the texts in the order in which they were applied, and their versions."""

    def __init__(self) -> None:
        self.kept: list[str] = []
        self.versions: list[tuple[int, ...]] = []
        self.restored = 0

    def apply(self, version: mf.Version, request: Any) -> int:
        if request.text == "bug":
            raise RuntimeError("a bug of the servant")
        self.kept.append(request.text)
        self.versions.append(tuple(version))
        return len(self.kept)

    on_apply_no_versioning = on_apply_version_request = on_apply_message_returns_version = apply
    on_apply_one_hop = on_apply_wait_for_version = on_apply_chain = on_apply_more = apply

    def on_apply_one_hop_ack_client(self, version: mf.Version, request: Any) -> int:
        if request.text == "too much":
            raise Full(3)
        return self.apply(version, request)

    on_apply_put = on_apply_one_hop_ack_client  # its later name

    def texts(self) -> list[str]:
        return self.kept

    def on_snapshot(self) -> bytes:
        epochs, counters = zip(*self.versions, strict=True) if self.versions else ((), ())
        return bytes(mf.to_bytes(State(self.kept, list(epochs), list(counters))))

    def on_restore(self, snapshot: bytes | None) -> None:
        state = State() if snapshot is None else mf.from_bytes(State, snapshot)
        self.kept = list(state.kept)
        self.versions = list(zip(state.epochs, state.counters, strict=True))
        self.restored += snapshot is not None


def main(controller: str, member: str, members: str, most_entries: str) -> None:
    pages = Pages()
    replica = mf.Replica(
        pages,
        controller,
        member=member,
        members=members.split(","),
        agent="a",
        listen=os.environ.get("MF_PEER_LISTEN", "tcp://127.0.0.1:0"),
        access=os.environ.get("MF_PEER_ACCESS", ""),
        settings=mf.ReplicaSettings(most_entries=int(most_entries)),
    )
    with replica:
        print(member, flush=True)
        for line in sys.stdin:
            match line.split():
                case ["texts"]:
                    print(json.dumps(pages.kept), flush=True)
                case ["versions"]:
                    print(json.dumps(pages.versions), flush=True)
                case ["serves"]:
                    print(json.dumps(replica.until_serving(30.0)), flush=True)
                case ["leads"]:
                    print(json.dumps(replica.leads), flush=True)
                case ["restored"]:
                    print(pages.restored, flush=True)
                case ["stuck"]:
                    print(json.dumps(replica.stuck), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
