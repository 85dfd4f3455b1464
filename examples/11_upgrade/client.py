"""Calls a server of orders in every way, again and again, until SIGTERM.

python client.py CONTROLLER CALLS_A_SECOND

Of each round that is over it prints the calls that were made so far and those that failed, and what the first
of these said.
"""

import signal
import sys
import time
from types import FrameType

import orders
from seal import Seal

import mf

UNKNOWN = 1000


class Caller:
    def __init__(self, client: mf.Client, rate: float) -> None:
        self.orders = orders.OrdersClient(client)
        self.between = 1 / rate
        self.due = time.monotonic()
        self.calls = 0
        self.failures: list[str] = []
        self.ends = False

    def stop(self, _: int, __: FrameType | None) -> None:
        self.ends = True

    def run(self) -> None:
        while not self.ends:
            for way in (
                self.price,
                self.not_there,
                self.place,
                self.audit,
                self.sign,
                self.history,
                self.batch,
            ):
                self.pace()
                self.calls += 1
                try:
                    if not way(self.calls % 100):
                        self.failures.append(f"{way.__name__}: another answer")
                except mf.Error as error:
                    self.failures.append(f"{way.__name__}: {error}")
            first = self.failures[0] if self.failures else ""
            print(self.calls, len(self.failures), first, flush=True)

    def pace(self) -> None:
        """Until the next call is due. What a busy machine was late for is made up for by a second at most."""
        time.sleep(max(0.0, self.due - time.monotonic()))
        self.due = max(self.due + self.between, time.monotonic() - 1)

    def price(self, n: int) -> bool:
        return self.orders.price(n) == orders.Price(product=n, cents=100 * n)

    def not_there(self, n: int) -> bool:
        try:
            self.orders.price(UNKNOWN + n)
        except orders.NotThere as error:
            return error.product == UNKNOWN + n
        return False

    def place(self, n: int) -> bool:
        order = orders.Order(number=n, customer="anna", products=[n, 2 * n])
        paid = orders.Order(number=n, customer="anna", products=[n, 2 * n], state=orders.State.paid)
        return self.orders.place(order) == paid

    def audit(self, n: int) -> bool:
        some = [orders.Order(number=each, customer="bo") for each in range(n % 7)]
        answer = self.orders.audit(orders.Audit(who="me", orders=some))
        return (answer.who, answer.orders, answer.note) == ("me", some, f"{len(some)} orders")

    def sign(self, n: int) -> bool:
        return self.orders.sign(number=n, seal=Seal("anna")) == Seal(f"anna of {n}")

    def history(self, n: int) -> bool:
        return [order.number for order in self.orders.history(n, n + 5)] == list(range(n, n + 5))

    def batch(self, n: int) -> bool:
        requests = [
            orders.OrdersPlaceRequest(orders.Order(number=each, customer="cy")) for each in range(n % 20)
        ]
        outcomes = self.orders.place_batch(requests).results()
        return [outcome.value().number for outcome in outcomes] == list(range(n % 20))


def main() -> None:
    with mf.Client(sys.argv[1]) as client:
        caller = Caller(client, float(sys.argv[2]))
        signal.signal(signal.SIGTERM, caller.stop)
        caller.run()


if __name__ == "__main__":
    main()
