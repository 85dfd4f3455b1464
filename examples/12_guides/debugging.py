import mf
from guide import ShelfClient
from library import library


def show(error: mf.Error, address: str) -> None:
    may_have_run = error.execution is not mf.Execution.NOT_EXECUTED
    print("code:", error.code.name, "/ may have run:", may_have_run)
    print(" ", str(error).replace(address, "tcp://SERVER"))


nowhere = "tcp://127.0.0.1:1"  # no server listens there
with mf.Client(nowhere) as client:
    try:
        ShelfClient(client).at("north").copies("Emma", options=mf.CallOptions(deadline=0.3))
    except mf.Error as error:
        show(error, nowhere)

with library("north") as address, mf.Client(address) as client:
    shelves = ShelfClient(client)
    for agent in ("south", "north"):
        try:
            shelves.at(agent).count_pages(options=mf.CallOptions(deadline=0.1))
        except mf.Error as error:
            show(error, address)
