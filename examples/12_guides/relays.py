import sys

import mf
from guide import NoSuchBook, ShelfClient
from library import Shelf

where = sys.argv[1]  # mf://HOST:PORT of a controller that relays, too
server = mf.Server("tcp://127.0.0.1:0", where)
for name in ("north", "south"):
    server.offer(Shelf(), agent=name)
server.start()

with mf.Client(where.replace("mf://", "relay://")) as client:
    shelves = ShelfClient(client)
    print("left:", shelves.at("south").lend("Emma"))
    try:
        shelves.at("north").copies("Ulysses")
    except NoSuchBook as error:
        print("no such book:", error.title)
    for shelf, outcome in shelves.everywhere().copies("Emma").items():
        print(f"{shelf}: {outcome.value()}")

server.stop()
