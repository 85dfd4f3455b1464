"""The only replica of a ledger for the tests of the tool: ledger_server.py CONTROLLER"""

import sys

import mf
from ledger import Full, LedgerAddRequest, LedgerServant

MOST = 3


class Ledger(LedgerServant):
    def __init__(self) -> None:
        self.kept: list[str] = []

    def on_apply_add(self, version: mf.Version, request: LedgerAddRequest) -> None:
        del version
        if len(self.kept) >= MOST:
            raise Full(MOST)
        self.kept.append(request.entry)

    def entries(self) -> list[str]:
        return self.kept


def main(controller: str) -> None:
    ledger = Ledger()
    with mf.Replica(ledger, controller, member="a", members=["a"]) as replica:
        while not replica.until_serving(timeout=5.0):
            pass
        with mf.Server(controller=controller) as server:
            server.offer(ledger)
            print(server.address, flush=True)
            sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
