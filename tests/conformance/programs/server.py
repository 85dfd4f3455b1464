"""server.py plain|async LISTEN: serves the rooms red and blue, prints its address, and ends at SIGTERM."""

import logging
import sys

from servants import KINDS, ROOMS

import mf


def main() -> None:
    logging.basicConfig()
    kind, listen = sys.argv[1:]
    server = mf.Server(listen)
    opened: list[mf.Client] = []
    for name in ROOMS:
        server.offer(KINDS[kind](name, lambda: opened[0]), agent=name)
    server.start()
    opened.append(mf.Client(server.address, forward_metadata=("tenant",)))
    print(server.address, flush=True)
    server.run()


main()
