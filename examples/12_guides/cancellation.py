import asyncio

import mf
from guide import ShelfAsyncClient
from library import library


async def main(address: str) -> None:
    async with mf.AsyncClient(address) as client:
        shelf = ShelfAsyncClient(client).at("north")
        call = asyncio.create_task(shelf.count_pages())
        await shelf.copies("Emma")  # meanwhile other calls go on
        call.cancel()
        print(
            "cancelled:", isinstance((await asyncio.gather(call, return_exceptions=True))[0], BaseException)
        )
        while await shelf.given_up() == 0:
            pass
        print("the handler has stopped")


with library("north") as address:
    asyncio.run(main(address))
