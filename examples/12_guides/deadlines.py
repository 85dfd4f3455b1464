import mf
from guide import ShelfClient
from library import library

with library("north") as address, mf.Client(address) as client:
    shelf = ShelfClient(client).at("north")
    print("copies:", shelf.copies("Emma", options=mf.CallOptions(deadline=5)))
    try:
        shelf.count_pages(options=mf.CallOptions(deadline=0.1))
    except mf.Error as error:
        print(error.code.name)
    while shelf.given_up() == 0:
        pass
    print("the handler has stopped")
