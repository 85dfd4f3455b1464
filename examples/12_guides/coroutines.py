import asyncio

import mf
from guide import ShelfAsyncClient
from library import library


async def ask(shelf: ShelfAsyncClient) -> None:
    for title in ("Emma", "Persuasion"):
        print(f"{title}: {await shelf.copies(title)}")
    async with shelf.titles() as titles:
        async for title in titles:
            print(title)


async def main(address: str) -> None:
    async with mf.AsyncClient(address) as client:
        await ask(ShelfAsyncClient(client).at("north"))


with library("north") as address:
    asyncio.run(main(address))
