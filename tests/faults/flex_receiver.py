"""flex_receiver.py CONTROLLER NAME [GROUP]: a process that obeys messages, for tests that kill it.

It takes what has `cmd`: "take" (so many messages, with whose numbers it answers) or "leave".
"""

import sys
import time

from mf import flex

KNOWN = "known"  # a group of all, in which a process finds itself once it is registered


def main() -> None:
    where, name, *groups = sys.argv[1:]
    with flex.Node(where) as node:
        me = node.process(name, groups=[*groups, KNOWN])
        while f"{KNOWN}/{name}" not in node.members(KNOWN):
            time.sleep(0.01)
        print("READY", flush=True)
        while True:
            order = me.recv(600.0, cmd=str)
            if order.cmd == "leave":
                me.leave()
                print("LEFT", flush=True)
                return
            taken = [me.recv(60.0, n=int).n for _ in range(order.count)]
            me.send(dest=order.src, taken=taken)


main()
