"""Values of any type under keys of any type, in a table of SQLite: the key's hash, its bytes, the value's."""

import sqlite3
from typing import Generic, TypeVar

import mf

K = TypeVar("K")
V = TypeVar("V")


class Table(Generic[K, V]):
    """`name` is written into SQL as it is. table.hpp reads and writes the same."""

    def __init__(self, database: sqlite3.Connection, name: str, value: type[V]) -> None:
        database.execute(
            f"CREATE TABLE IF NOT EXISTS {name} "
            "(hash INTEGER, key BLOB, value BLOB, PRIMARY KEY (hash, key)) WITHOUT ROWID"
        )
        self._database = database
        self._name = name
        self._value = value

    def put(self, key: K, value: V) -> None:
        row = (*_place(key), mf.to_bytes(value))
        self._database.execute(f"INSERT OR REPLACE INTO {self._name} VALUES (?, ?, ?)", row)

    def get(self, key: K) -> V | None:
        """Raises mf.Error if the row does not hold such a value."""
        select = f"SELECT value FROM {self._name} WHERE hash = ? AND key = ?"
        row = self._database.execute(select, _place(key)).fetchone()
        return None if row is None else mf.from_bytes(self._value, row[0])

    def __len__(self) -> int:
        (count,) = self._database.execute(f"SELECT count(*) FROM {self._name}").fetchone()
        return int(count)


def _place(key: object) -> tuple[int, bytes]:
    """Two keys may have one hash, so the key is in the row as well. SQLite's integers are signed."""
    number = mf.hash64(key)
    return number - (1 << 64) if number >> 63 else number, mf.to_bytes(key)
