"""Calls each form of method of the generated package `depot`, and prints the results, as use.cpp does."""

from collections.abc import Iterator

from depot import (
    SalesPublisher,
    SalesSubscriber,
    StoreClient,
    StoreServant,
    StoreTotalsResult,
    StoreWeighRequest,
    YardClient,
    YardServant,
)
from depot.parts import Colour, Crate, Found, FoundNothing, FoundPart, Grade, Mark, Missing, Part, Spot

import mf


class Store(StoreServant):
    def __init__(self) -> None:
        self.parts: dict[str, Part] = {}

    def put(self, part: Part) -> int:
        self.parts[part.code] = part
        return len(self.parts)

    def find(self, code: str, limit: int) -> Found:
        if code == "lost":
            raise Missing(code)
        return FoundPart(self.parts[code]) if code in self.parts else FoundNothing(f"{code} of {limit}")

    def pack(self, crate: Crate) -> Crate:
        return Crate("outer", inside=crate, counts={"crates": 2})

    def totals(self) -> StoreTotalsResult:
        return StoreTotalsResult(len(self.parts), sum(part.weight or 0.0 for part in self.parts.values()))

    def clear(self) -> None:
        self.parts.clear()

    def touch(self, code: str) -> None:
        pass

    def weigh(self, code: str) -> float:
        return self.parts[code].weight or 0.0

    def grade_of(self, code: str) -> Grade:
        return self.parts[code].grade

    def scan(self, from_: int) -> Iterator[Part]:
        yield from list(self.parts.values())[from_:]

    def load(self, parts: Iterator[Part]) -> int:
        return [self.put(part) for part in parts][-1]


class Yard(YardServant):
    def name(self) -> str:
        return "north"


def call(client: mf.Client) -> None:
    store = StoreClient(client)
    bolt = Part("bolt", Grade.rough, Mark.checked | Mark.sold, [Spot(1.5, -2.0)], 0.5)
    print("put", store.put(bolt), store.put(Part("nut")))
    found = store.find("bolt")
    print(
        "find",
        isinstance(found, FoundPart) and found.value == bolt,
        store.find("none") == FoundNothing("none of 5"),
    )
    try:
        store.find("lost")
    except Missing as missing:
        print("missing", missing.code)
    crate = store.pack(Crate("inner", Colour.plain))
    inside = crate.inside
    assert inside is not None
    print("pack", crate.label, inside.label, inside.colour is Colour.plain, crate.counts["crates"])
    totals = store.totals()
    print("totals", totals.parts, totals.weight)
    print("weigh", [outcome.value() for outcome in store.weigh_bulk([StoreWeighRequest("bolt")])])
    print("grade", store.grade_of("bolt").name, store.grade_of("bolt").name)
    print("load", store.load([Part("cog"), Part("axle")]))
    print("scan", *(part.code for part in store.scan(2)))
    store.touch("bolt")
    store.clear()
    print("cleared", store.totals().parts)
    print("yard", YardClient(client).at("here").name())


def main() -> None:
    server = mf.Server("tcp://127.0.0.1:0")
    server.offer(Store())
    server.offer(Yard(), "here")
    with server, mf.Client(server.address) as client:
        call(client)
    topics = mf.Topics()
    with SalesSubscriber(topics) as sales:
        SalesPublisher(topics).publish(Part("cog"))
        print("sold", sales.next().value.code)


if __name__ == "__main__":
    main()
