"""Publishers and subscribers of the topic Items of tests/evolution/forms in either language: Python's run in
this process, those of C++ in one of their own (cpp/items.cpp).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import mf
from tests.interop.peers import PATIENCE, Process


@dataclass(frozen=True)
class Came:
    """A message: its item, or why that cannot be read."""

    id: int = 0
    title: str = ""
    code: str = ""
    fault: str = ""


class Items(Protocol):
    """Of one schema."""

    def publish(self, controller: str) -> None: ...

    def give(self, ids: Sequence[int]) -> None:
        """Publishes items with these numbers, once there is a subscriber."""

    def subscribe(self, address: str) -> None: ...

    def await_publishers(self, count: int) -> None: ...

    def take(self, count: int) -> list[Came]:
        """So many messages."""

    def close(self) -> None: ...


class Cpp:
    def __init__(self, process: Process) -> None:
        self._process = process

    def publish(self, controller: str) -> None:
        self._ask(f"publish {controller}")

    def give(self, ids: Sequence[int]) -> None:
        self._ask(f"give {' '.join(map(str, ids))}")

    def subscribe(self, address: str) -> None:
        self._ask(f"subscribe {address}")

    def await_publishers(self, count: int) -> None:
        self._ask(f"await {count}")

    def take(self, count: int) -> list[Came]:
        return [Came(**line) for line in self._ask(f"take {count}")]

    def close(self) -> None:
        self._process.close()

    def _ask(self, command: str) -> list[dict[str, Any]]:
        lines = self._process.ask(command)
        wrong = [line["wrong"] for line in lines if "wrong" in line]
        assert not wrong, (command, wrong)
        return lines


class Python:
    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self._topics = mf.Topics()
        self._open: list[Any] = []
        self._publisher: Any = None
        self._subscriber: Any = None

    def publish(self, controller: str) -> None:
        server = mf.Server("tcp://127.0.0.1:0", controller)
        server.offer(self._topics)
        self._publisher = self._schema.ItemsPublisher(self._topics)
        server.start()
        self._open.append(server)

    def give(self, ids: Sequence[int]) -> None:
        assert self._publisher.await_subscribers(1, PATIENCE)
        for n in ids:
            self._publisher.publish(self._schema.Item(id=n, title=str(n)))

    def subscribe(self, address: str) -> None:
        client = mf.Client(address)
        self._open.append(client)
        self._subscriber = self._schema.ItemsSubscriber(client)

    def await_publishers(self, count: int) -> None:
        assert self._subscriber.await_publishers(count, PATIENCE)

    def take(self, count: int) -> list[Came]:
        return [came(self._subscriber.next(PATIENCE)) for _ in range(count)]

    def close(self) -> None:
        self._topics.close()
        for each in self._open:
            each.stop() if isinstance(each, mf.Server) else each.close()


def came(message: Any) -> Came:
    try:
        return Came(message.value.id, message.value.title)
    except mf.Error as error:
        return Came(code=error.code.name, fault=error.message)
