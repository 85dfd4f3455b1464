import mf
from guide import ShelfClient
from library import library

with library("north") as address, mf.Client(address) as client:
    shelf = ShelfClient(client).at("north")
    with shelf.titles() as titles:  # leaving the block cancels the call
        for title in titles:
            print("there is", title)
    print("given back:", shelf.give_back(iter(["Emma", "Emma", "Persuasion"])))
    print("copies:", shelf.copies("Emma"))
