"""server.py plain|async LISTEN: serves the rooms red and blue, prints its addresses, and ends at
SIGTERM. The files of TLS are in the folder MF_TLS."""

import logging
import os
import sys
from pathlib import Path

from servants import KINDS, ROOMS

import mf


def main() -> None:
    logging.basicConfig()
    kind, listen = sys.argv[1:]
    folder = Path(os.environ["MF_TLS"])
    server = mf.Server(listen, tls=mf.Tls(certificate=str(folder / "1.pem"), key=str(folder / "1.key")))
    opened: list[mf.Client] = []
    for name in ROOMS:
        server.offer(KINDS[kind](name, lambda: opened[0]), agent=name)
    server.start()
    opened.append(mf.Client(server.address, forward_metadata=("tenant",)))
    print(*server.addresses, flush=True)
    server.run()


main()
