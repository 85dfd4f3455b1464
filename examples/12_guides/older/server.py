"""A server of the older schema: prints its address, and serves until its input ends."""

import sys

import mf
from loans import Book, LoansServant


class Loans(LoansServant):
    def find(self, title: str) -> Book:
        return Book(title, 3)


server = mf.Server("tcp://127.0.0.1:0")
server.offer(Loans())
server.start()
print(server.address, flush=True)
sys.stdin.read()
server.stop()
