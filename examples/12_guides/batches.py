import mf
from guide import ShelfClient, ShelfCopiesRequest
from library import library

requests = [ShelfCopiesRequest(title) for title in ("Emma", "Ulysses", "Persuasion")]

with library("north") as address, mf.Client(address) as client:
    shelf = ShelfClient(client).at("north")
    batch = shelf.copies_batch(requests, options=mf.BatchOptions(size=2, window=4))
    print(*(outcome.value() if outcome.ok else "-" for outcome in batch.results()))
    print(*(outcome.value() if outcome.ok else "-" for outcome in shelf.copies_bulk(requests)))
