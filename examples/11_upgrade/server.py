"""A server of orders, of whatever schema it finds on its path.

python server.py CONTROLLER
"""

import sys
from collections.abc import Iterator

import orders
from seal import Seal

import mf

PRODUCTS = 100


class Orders(orders.OrdersServant):
    def price(self, product: int) -> orders.Price:
        if product >= PRODUCTS:
            raise orders.NotThere(product)
        return orders.Price(product=product, cents=100 * product)

    def place(self, order: orders.Order) -> orders.Order:
        order.state = orders.State.paid
        return order

    def audit(self, audit: orders.Audit) -> orders.Audit:
        audit.note = f"{len(audit.orders)} orders"
        return audit

    def history(self, begin: int, end: int) -> Iterator[orders.Order]:
        for number in range(begin, end):
            yield orders.Order(number=number, customer="anna", products=[number])

    def sign(self, *given: int | Seal) -> Seal:
        """The newer schema has its parameters in another order."""
        number = next(each for each in given if isinstance(each, int))
        seal = next(each for each in given if isinstance(each, Seal))
        return Seal(f"{seal.text} of {number}")

    def cancel(self, number: int) -> bool:
        """Of the newer schema."""
        return number > 0


def main() -> None:
    server = mf.Server(controller=sys.argv[1], options=mf.ServerOptions(drain_timeout=10.0))
    server.offer(Orders())
    server.start()
    print("serves", flush=True)
    server.run()


if __name__ == "__main__":
    main()
