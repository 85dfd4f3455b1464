"""Clients of tests/evolution/forms/mid.mfidl that call it in every form: Python's, blocking and awaited, run
in this process, those of C++ in one of their own (cpp/caller.cpp).
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import mf
from tests.interop.peers import Process


@dataclass(frozen=True)
class End:
    """How one request has ended. `thrown`: it was raised, for all of them."""

    code: str = "OK"
    execution: str = ""
    message: str = ""
    thrown: bool = False


class Caller(Protocol):
    def connect(self, address: str) -> None:
        """A client, in the place of the one before."""

    def call(self, way: str, method: str, numbers: Sequence[int]) -> list[End]:
        """`way`: "call" and "async", with the first number alone, "batch" or "bulk"."""

    def close(self) -> None: ...


class Cpp:
    def __init__(self, process: Process) -> None:
        self._process = process

    def connect(self, address: str) -> None:
        self._ask(f"connect {address}")

    def call(self, way: str, method: str, numbers: Sequence[int]) -> list[End]:
        return [End(**line) for line in self._ask(" ".join([way, method, *map(str, numbers)]))]

    def close(self) -> None:
        self._process.close()

    def _ask(self, command: str) -> list[dict[str, Any]]:
        lines = self._process.ask(command)
        wrong = [line["wrong"] for line in lines if "wrong" in line]
        assert not wrong, (command, wrong)
        return lines


def failed(error: BaseException, *, thrown: bool) -> End:
    assert isinstance(error, mf.Error), error
    return End(error.code.name, error.execution.name, error.message, thrown)


def ends(call: Callable[[], Any]) -> list[End]:
    try:
        outcomes = call()
    except mf.Error as error:
        return [failed(error, thrown=True)]
    if not isinstance(outcomes, list):
        return [End()]
    return [End() if each.error is None else failed(each.error, thrown=False) for each in outcomes]


def arguments(schema: Any, method: str, number: int) -> tuple[Any, ...]:
    if method in ("echo", "note"):
        return (schema.Item(number, str(number)),)
    return (number,) if method == "apart" else ()


def requests(schema: Any, method: str, numbers: Sequence[int]) -> list[Any]:
    made = getattr(schema, f"Forms{method.capitalize()}Request")
    return [made(*arguments(schema, method, number)) for number in numbers]


class Blocking:
    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self._client: mf.Client | None = None

    def connect(self, address: str) -> None:
        self.close()
        self._client = mf.Client(address)

    def call(self, way: str, method: str, numbers: Sequence[int]) -> list[End]:
        stub = self._schema.FormsClient(self._client)
        if way in ("call", "async"):
            of_one = arguments(self._schema, method, numbers[0])
            return ends(lambda: getattr(stub, method)(*of_one))
        all_of_them = requests(self._schema, method, numbers)
        if way == "batch":
            return ends(lambda: getattr(stub, f"{method}_batch")(all_of_them).results())
        return ends(lambda: getattr(stub, f"{method}_bulk")(all_of_them))

    def close(self) -> None:
        if self._client is not None:
            self._client.close()


class Awaited:
    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self._runner = asyncio.Runner()
        self._client: mf.AsyncClient | None = None

    def connect(self, address: str) -> None:
        async def connected() -> mf.AsyncClient:
            if self._client is not None:
                await self._client.close()
            return mf.AsyncClient(address)

        self._client = self._runner.run(connected())

    def call(self, way: str, method: str, numbers: Sequence[int]) -> list[End]:
        stub = self._schema.FormsAsyncClient(self._client)
        if way in ("call", "async"):
            of_one = arguments(self._schema, method, numbers[0])
            return self._ends(lambda: getattr(stub, method)(*of_one))
        all_of_them = requests(self._schema, method, numbers)
        return self._ends(lambda: getattr(stub, f"{method}_{way}")(all_of_them))

    def _ends(self, call: Callable[[], Any]) -> list[End]:
        async def awaited() -> Any:
            return await call()

        return ends(lambda: self._runner.run(awaited()))

    def close(self) -> None:
        if self._client is not None:
            self._runner.run(self._client.close())
        self._runner.close()
