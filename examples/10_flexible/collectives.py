"""The collective operations of MPI on arrays of float64, above mpi_send_buf and mpi_recv_buf: each in the
naive form, in which the root speaks with all ranks, and as a binomial tree, in which the work doubles its
hands each step. All ranks call the same operations in the same order.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from ranks import Ranks

Array = np.ndarray[Any, np.dtype[np.float64]]
Operation = Callable[[Array, Array], Array]


class Collectives:
    """`tree`: the form. Roots are rank 0 unless said otherwise."""

    def __init__(self, ranks: Ranks, *, tree: bool) -> None:
        self.ranks = ranks
        self.rank = ranks.rank
        self.size = ranks.size
        self._tree = tree
        self._round = 0

    def barrier(self) -> None:
        """No rank goes on before all are here."""
        self.allreduce(np.zeros(1))

    def broadcast(self, array: Array, root: int = 0) -> Array:
        """The root's array, for all ranks; the others' says how long it is."""
        tag, array = self._tag("broadcast"), array.copy()
        if self._tree:
            parent, children = self._place(root)
        else:
            parent = None if self.rank == root else root
            children = self._others(root) if self.rank == root else []
        if parent is not None:
            self._receive(array, parent, tag)
        for child in children:
            self._send(array, child, tag)
        return array

    def reduce(self, array: Array, operation: Operation = np.add, root: int = 0) -> Array | None:
        """All arrays made into one, for the root; None for the others. The operation is associative and
        commutative."""
        tag, result, other = self._tag("reduce"), array.copy(), np.empty_like(array)
        if self._tree:
            parent, children = self._place(root)
        else:
            parent = None if self.rank == root else root
            children = self._others(root) if self.rank == root else []
        for child in reversed(children):
            self._receive(other, child, tag)
            result = operation(result, other)
        if parent is None:
            return result
        self._send(result, parent, tag)
        return None

    def allreduce(self, array: Array, operation: Operation = np.add) -> Array:
        reduced = self.reduce(array, operation)
        return self.broadcast(array if reduced is None else reduced)

    def gather(self, array: Array, root: int = 0) -> Array | None:
        """All arrays, of one length, as the rows of one, for the root."""
        tag, count = self._tag("gather"), len(array)
        held = np.empty((self._below(root), count))
        held[0] = array
        if not self._tree:
            if self.rank != root:
                self._send(array, root, tag)
                return None
            everything = np.empty((self.size, count))
            everything[root] = array
            for other in self._others(root):
                self._receive(everything[other], other, tag)
            return everything
        parent, children = self._place(root)
        for child in reversed(children):
            begin = self._relative(child, root) - self._relative(self.rank, root)
            part = np.empty(self._below(root, child) * count)
            self._receive(part, child, tag)
            held[begin : begin + len(part) // count] = part.reshape(-1, count)
        if parent is not None:
            self._send(held.reshape(-1), parent, tag)
            return None
        return np.roll(held, root, axis=0)

    def scatter(self, rows: Array | None, count: int, root: int = 0) -> Array:
        """A row of the root's for each rank, which has `count` values."""
        tag, mine = self._tag("scatter"), np.empty(count)
        if not self._tree:
            if self.rank != root:
                self._receive(mine, root, tag)
                return mine
            assert rows is not None
            for other in self._others(root):
                self._send(rows[other], other, tag)
            mine[:] = rows[root]
            return mine
        parent, children = self._place(root)
        if parent is None:
            assert rows is not None
            held = np.roll(rows, -root, axis=0)
        else:
            part = np.empty(self._below(root) * count)
            self._receive(part, parent, tag)
            held = part.reshape(-1, count)
        for child in children:
            begin = self._relative(child, root) - self._relative(self.rank, root)
            self._send(held[begin : begin + self._below(root, child)].reshape(-1), child, tag)
        mine[:] = held[0]
        return mine

    def all_to_all(self, rows: Array) -> Array:
        """Row i of each rank to rank i, which has them in the order of the ranks."""
        if not self._tree:
            everything = self.gather(rows.reshape(-1))
            if everything is None:
                return self.scatter(None, rows.size).reshape(rows.shape)
            by_sender = everything.reshape(self.size, self.size, -1)
            return self.scatter(by_sender.swapaxes(0, 1).reshape(self.size, -1), rows.size).reshape(
                rows.shape
            )
        tag, result = self._tag("all_to_all"), rows.copy()
        for partner in self._partners():
            if partner < self.rank:
                self._receive(result[partner], partner, tag)
            self._send(rows[partner], partner, tag)
            if partner > self.rank:
                self._receive(result[partner], partner, tag)
        return result

    # Inside

    def _tag(self, operation: str) -> str:
        """Another one for each operation, so that a fast rank's next one is not taken for this."""
        self._round += 1
        return f"{operation}.{self._round}"

    def _send(self, array: Array, to: int, tag: str) -> None:
        self.ranks.mpi_send_buf(array, 0, len(array), "f64", to, tag)

    def _receive(self, array: Array, of: int, tag: str) -> None:
        self.ranks.mpi_recv_buf(array, 0, len(array), "f64", of, tag)

    def _others(self, root: int) -> list[int]:
        return [rank for rank in range(self.size) if rank != root]

    def _relative(self, rank: int, root: int) -> int:
        return (rank - root) % self.size

    def _place(self, root: int) -> tuple[int | None, list[int]]:
        """Parent and children in the binomial tree: a rank's parent lacks the lowest of its bits, and those
        with the largest subtrees come first."""
        mine = self._relative(self.rank, root)
        lowest = mine & -mine if mine else 1 << self.size.bit_length()
        parent = None if not mine else (mine - lowest + root) % self.size
        steps = [1 << bit for bit in reversed(range(self.size.bit_length())) if 1 << bit < lowest]
        children = [(mine + step + root) % self.size for step in steps if mine + step < self.size]
        return parent, children

    def _below(self, root: int, rank: int | None = None) -> int:
        """Ranks in the subtree of one, itself included."""
        mine = self._relative(self.rank if rank is None else rank, root)
        return min(mine & -mine, self.size - mine) if mine else self.size

    def _partners(self) -> list[int]:
        """All others, so that in each round each has one partner or none: a tournament."""
        players = self.size + self.size % 2
        rounds = players - 1
        found = []
        for turn in range(rounds):
            partner = turn if self.rank == rounds else (2 * turn - self.rank) % rounds
            if partner == self.rank:
                partner = rounds
            if partner < self.size:
                found.append(partner)
        return found
