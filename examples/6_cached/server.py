"""server.py [tcp://HOST:PORT]"""

import sys

import mf
from ids import IdsServant, NoSuchCollection

IDS = {"books": 1, "maps": 2, "news": 3}


class Ids(IdsServant):
    def __init__(self) -> None:
        self._requests = 0

    def collection_id(self, name: str) -> int:
        return self.look_up(name)

    def look_up(self, name: str) -> int:
        self._requests += 1
        if name not in IDS:
            raise NoSuchCollection(name)
        return IDS[name]

    def requests(self) -> int:
        return self._requests


server = mf.Server(sys.argv[1] if len(sys.argv) > 1 else "tcp://127.0.0.1:7406")
server.offer(Ids())
server.start()
print(server.address, flush=True)
server.run()
