"""ba.py CONTROLLER LISTEN: ba.cpp in Python."""

import sys

import mf
from sf1 import AccessServant, Answer, MiningClient, Part, SearchClient

SOON = mf.CallOptions(deadline=1.0)


def parts(scattered: mf.Scattered[str, list[str]]) -> list[Part]:
    result = []
    for collection, outcome in scattered.items():
        if outcome.ok:
            result.append(Part(collection, found=outcome.value()))
        else:
            error = outcome.error
            why = f"{error.code.name}: {error.message}" if isinstance(error, mf.Error) else str(error)
            result.append(Part(collection, skipped=why))
    return result


class Ba(AccessServant):
    def __init__(self, controller: str) -> None:
        client = mf.Client(controller, mf.ClientOptions(wait_for_server=0.2))
        self._search, self._mining = SearchClient(client), MiningClient(client)

    def query(self, collections: list[str], word: str) -> Answer:
        return Answer(
            documents=parts(self._search.on(collections).search(word, options=SOON)),
            related=parts(self._mining.on(collections).related(word, options=SOON)),
        )


controller, listen = sys.argv[1:]
server = mf.Server(listen)
server.offer(Ba(controller))
server.start()
print(server.address, flush=True)
server.run()
