"""Servers of tests/evolution/forms, of the older or the newer schema."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import mf


def servant_of(schema: Any) -> Any:  # noqa: C901 - a function for each method
    """Echoes, whatever its schema; `raises` and `answers` stand for the next answers."""

    class Forms(schema.FormsServant):  # type: ignore[misc]
        def __init__(self) -> None:
            self.raises: Exception | None = None
            self.answers: Callable[[Any], Any] = lambda item: item
            self.came: list[Any] = []
            self.peer = ""

        def echo(self, item: Any) -> Any:
            self.came.append(item)
            if self.raises is not None:
                raise self.raises
            return self.answers(item)

        def note(self, item: Any) -> None:
            self.came.append(item)

        def squares(self, to: int) -> Iterator[Any]:
            for n in range(to):
                yield schema.Item(id=n * n, title=str(n))

        def sum(self, values: Any) -> int:
            return sum(values)

        def both(self, items: Any) -> Iterator[Any]:
            for item in items:
                yield self.answers(item)

        def greet(self, name: str) -> str:
            self.came.append(name)
            return name

        def gone(self) -> int:
            return 1

        def come(self) -> int:
            return 2

        def apart(self, x: Any) -> int:
            return len(str(x))

    return Forms()


@contextmanager
def served(servant: Any, **options: Any) -> Iterator[Any]:
    server = mf.Server("tcp://127.0.0.1:0", **options)
    server.offer(servant)
    server.start()
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def calling(provider: Any, consumer: Any) -> Iterator[tuple[Any, Any]]:
    """A servant of the one schema, and a client of the other. `servant.peer`: its server in failures."""
    servant = servant_of(provider)
    with served(servant) as server, mf.Client(server.address) as client:
        servant.peer = server.address
        yield servant, consumer.FormsClient(client)
