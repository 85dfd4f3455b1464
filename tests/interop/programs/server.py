"""server.py --listen URL [--controller URL] [--room NAME]... [--inline-room NAME]...

Prints its address once it listens, serves until SIGTERM, and prints how its connections were counted.
cpp/server.cpp is the same in C++.
"""

import argparse
import json
import logging
from dataclasses import asdict

from servant import Room

import mf


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--listen", default="tcp://127.0.0.1:0")
    parser.add_argument("--controller")
    parser.add_argument("--room", action="append", default=[])
    parser.add_argument("--inline-room", action="append", default=[])
    options = parser.parse_args()
    logging.basicConfig()
    server = mf.Server(options.listen, options.controller)
    for name in options.room:
        server.offer(Room(name), agent=name)
    for name in options.inline_room:
        server.offer(Room(name), agent=name, inline=True)
    try:
        server.start()
    except OSError as failed:
        raise SystemExit(f"server.py: {failed}") from None
    print(server.address, flush=True)
    server.run()
    print(json.dumps(asdict(server.stats().connections)), flush=True)


main()
