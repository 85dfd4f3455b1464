import asyncio
import sys
import time

import mf
from guide import ShelfAsyncClient, ShelfClient, ShelfCopiesRequest
from library import library

CALLS = 500


def took(way: str, begun: float, answers: list[int]) -> None:
    print(f"{way}: {sum(answers)} copies")
    print(f"{way}: {(time.perf_counter() - begun) / CALLS * 1e6:.1f} us a call", file=sys.stderr)


async def together(address: str) -> list[int]:
    async with mf.AsyncClient(address) as client:
        shelf = ShelfAsyncClient(client).at("north")
        return list(await asyncio.gather(*(shelf.copies("Emma") for _ in range(CALLS))))


with library("north") as address, mf.Client(address) as client:
    shelf = ShelfClient(client).at("north")
    requests = [ShelfCopiesRequest("Emma")] * CALLS
    begun = time.perf_counter()
    took("one by one", begun, [shelf.copies("Emma") for _ in range(CALLS)])
    begun = time.perf_counter()
    took("batch", begun, [each.value() for each in shelf.copies_batch(requests).results()])
    begun = time.perf_counter()
    took("bulk", begun, [each.value() for each in shelf.copies_bulk(requests)])
    begun = time.perf_counter()
    took("asynchronous", begun, asyncio.run(together(address)))
