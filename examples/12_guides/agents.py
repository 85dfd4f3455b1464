import mf
from guide import ShelfClient
from library import library

with library("north", "south") as address, mf.Client(address) as client:
    shelves = ShelfClient(client)
    print("north:", shelves.at("north").lend("Emma"))
    print("any:", shelves.any().copies("Persuasion"))
    answers = shelves.on(["north", "south", "west"]).copies("Emma")
    for shelf, copies in answers.ok.items():
        print(f"{shelf}:", copies)
    for shelf, failure in answers.failed.items():
        print(f"{shelf}:", failure.code.name if isinstance(failure, mf.Error) else failure)
