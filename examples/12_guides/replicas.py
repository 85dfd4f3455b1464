import sys
from contextlib import ExitStack

import mf
from guide import LedgerClient, LedgerLendRequest, LedgerServant

MEMBERS = ["a", "b", "c"]


class Ledger(LedgerServant):
    def __init__(self) -> None:
        self.left = {"Emma": 3}
        self.version = mf.Version(0, 0)

    def on_apply_lend(self, version: mf.Version, request: LedgerLendRequest) -> int:
        self.version = version
        self.left[request.title] = self.left.get(request.title, 0) - 1
        return self.left[request.title]


controller = sys.argv[1]
ledgers = [Ledger() for _ in MEMBERS]
with ExitStack() as stack:
    for member, ledger in zip(MEMBERS, ledgers, strict=True):  # each in a process of its own, usually
        stack.enter_context(mf.Replica(ledger, controller, member=member, members=MEMBERS))
    client = stack.enter_context(mf.Client(controller))
    everywhere = mf.ReplicatedOptions(require=mf.Require.ALL)
    done = LedgerClient(client).lend("Emma", options=everywhere)
    print("left:", done.value, "applied by", *sorted(done.applied))
    done = LedgerClient(client).lend("Emma", options=everywhere)
    print("left:", done.value, "at the replicas:", *(ledger.left["Emma"] for ledger in ledgers))
