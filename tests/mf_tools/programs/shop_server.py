"""A shop for the tests of the tool: says its address, then does what its standard input asks for.

shop_server.py LISTEN [CONTROLLER [ACCESS]]
"""

import sys
import time
from collections.abc import Iterator

import mf
from shop import (
    Answer,
    AnswerItem,
    AnswerText,
    ClockServant,
    Item,
    Kind,
    Marks,
    NewsPublisher,
    NotFound,
    Order,
    SalesPublisher,
    ShopOrderResult,
    ShopServant,
    Size,
    Sold,
    Tongue,
)

ITEMS = [
    Item(1, "The sea", 12.5, Size(10.0, 20.0, Kind.book), Marks.sale, Tongue.en, None),
    Item(2, "Sea charts", 7.25, Size(60.0, 90.0, Kind.map), Marks(0), Tongue.ko, note="rare"),
]


class Shop(ShopServant):
    def __init__(self, shelf: str) -> None:
        self.shelf = shelf
        self.said: list[str] = []

    def find(self, word: str, most: int) -> list[Item]:
        return [each for each in ITEMS if word.lower() in each.title.lower()][:most]

    def item(self, title: str) -> Item:
        for each in ITEMS:
            if each.title == title:
                return each
        raise NotFound(title, [each.title for each in ITEMS])

    def area(self, size: Size) -> float:
        return size.width * size.height

    def order(self, order: Order) -> ShopOrderResult:
        return ShopOrderResult(order.number, sum(each.price for each in order.items))

    def answer(self, question: str) -> Answer:
        return AnswerItem(ITEMS[0]) if question == "which?" else AnswerText(f"{self.shelf}: {question}")

    def note(self, text: str) -> None:
        self.said.append(text)

    def notes(self) -> list[str]:
        metadata = mf.current_call().metadata
        return [*self.said, *(f"{key}={value}" for key, value in sorted(metadata.items()) if key == "for")]

    def slow(self, seconds: float) -> float:
        time.sleep(seconds)
        return seconds

    def count(self, to: int) -> Iterator[int]:
        yield from range(1, to + 1)

    def total(self, start: int, values: Iterator[int]) -> int:
        return start + sum(values)

    def shout(self, words: Iterator[str]) -> Iterator[str]:
        for word in words:
            yield word.upper()


class Clock(ClockServant):
    def now(self) -> mf.Timestamp:
        return mf.Timestamp(1_700_000_000_000_000_000)


def main(listen: str, controller: str = "", access: str = "") -> None:
    topics = mf.Topics()
    server = mf.Server(listen, controller or None, access=access)
    server.offer(Shop("books"), agent="books")
    server.offer(Shop("maps"), agent="maps")
    server.offer(Clock())
    sales = SalesPublisher(topics).at("books")
    news = NewsPublisher(topics)
    server.offer(topics)
    with server:
        sales.publish(Sold("The sea", 3))
        print(server.address, flush=True)
        for line in sys.stdin:
            command, _, count = line.strip().partition(" ")
            if command == "sell":
                for number in range(int(count)):
                    sales.publish(Sold(f"number {number}", number))
            elif command == "news":
                news.publish(ITEMS[0])
            elif command == "reload":
                server.reload()
            print("done", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
