import mf
from guide import NoSuchBook, ShelfClient
from library import library

with mf.Client("tcp://127.0.0.1:1") as client:  # no server listens there
    try:
        ShelfClient(client).at("north").lend("Emma", options=mf.CallOptions(deadline=0.3))
    except mf.Error as error:
        print("may have run:", error.execution is not mf.Execution.NOT_EXECUTED)

with library("north") as address, mf.Client(address) as client:
    shelf = ShelfClient(client).at("north")
    try:
        shelf.lend("Ulysses")
    except NoSuchBook as error:
        print("no such book:", error.title)
    try:
        shelf.count_pages(options=mf.CallOptions(deadline=0.1))
    except mf.Error as error:
        print("may have run:", error.execution is not mf.Execution.NOT_EXECUTED)
