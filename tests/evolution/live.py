"""Peers in either language that call and serve the schemas of tests/vectors/evolution, by bytes: Python's run
in this process, those of C++ in one that takes commands (cpp/peer.cpp).

Values are bytes in hexadecimal digits: a request, a result, an error or a value of a stream, each alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any, Protocol

import mf
from mf.core.error import Code, DeclaredError, Execution
from mf.core.service import Method
from tests.evolution.pairs import Side
from tests.interop.peers import Process


@dataclass(frozen=True)
class Ended:
    """How one item of a call ended. A declared error: its place in the client's list, and its bytes."""

    code: str = "OK"
    execution: str = ""
    message: str = ""
    error: int = 0
    value: str = ""
    stream: tuple[str, ...] = ()


class Peer(Protocol):
    """Servers and clients of any schema: `which` is ("pair01", "old"), and there is one of each at a time."""

    def serve(self, which: tuple[str, str], controller: str = "") -> str:
        """The address of a new server, which registers at the controller if there is one."""

    def answer(self, which: tuple[str, str], method: str, results: Sequence[str]) -> None:
        """Answers so from now on: one request after the other, and then from the first result on."""

    def stream(self, which: tuple[str, str], method: str, elements: Sequence[str]) -> None:
        """What the method's stream has from now on."""

    def throw(self, which: tuple[str, str], method: str, error: int, value: str) -> None:
        """What the method throws next: which one of its errors."""

    def took(self, which: tuple[str, str]) -> list[str]:
        """The requests, and values of streams, that have come since this was asked last."""

    def connect(self, which: tuple[str, str], address: str) -> None: ...

    def call(self, which: tuple[str, str], method: str, requests: Sequence[str]) -> list[Ended]:
        """In one message."""

    def send(self, which: tuple[str, str], method: str, request: str, elements: Sequence[str]) -> Ended:
        """A call with streams."""

    def stop(self) -> None:
        """Ends all servers and clients."""


# ---- C++


class Cpp:
    def __init__(self, process: Process) -> None:
        self._process = process

    def serve(self, which: tuple[str, str], controller: str = "") -> str:
        return str(self._ask("serve", *which, *filter(None, [controller]))[0]["address"])

    def answer(self, which: tuple[str, str], method: str, results: Sequence[str]) -> None:
        self._ask("answer", *which, method, *words(results))

    def stream(self, which: tuple[str, str], method: str, elements: Sequence[str]) -> None:
        self._ask("stream", *which, method, *words(elements))

    def throw(self, which: tuple[str, str], method: str, error: int, value: str) -> None:
        self._ask("throw", *which, method, str(error), *words([value]))

    def took(self, which: tuple[str, str]) -> list[str]:
        return list(self._ask("took", *which)[0]["took"])

    def connect(self, which: tuple[str, str], address: str) -> None:
        self._ask("connect", *which, address)

    def call(self, which: tuple[str, str], method: str, requests: Sequence[str]) -> list[Ended]:
        return [ended(line) for line in self._ask("call", *which, method, *words(requests))]

    def send(self, which: tuple[str, str], method: str, request: str, elements: Sequence[str]) -> Ended:
        return ended(self._ask("send", *which, method, *words([request, *elements]))[0])

    def stop(self) -> None:
        self._ask("stop")

    def _ask(self, *command: str) -> list[dict[str, Any]]:
        lines = self._process.ask(" ".join(command))
        wrong = [line["wrong"] for line in lines if "wrong" in line]
        assert not wrong, (command, wrong)
        return lines


def words(values: Sequence[str]) -> list[str]:
    return [value or "-" for value in values]


def ended(line: dict[str, Any]) -> Ended:
    failed = line["code"] != "OK"
    return Ended(
        line["code"],
        line["execution"] if failed else "",
        line["message"] if failed else "",
        line["error"],
        line["value"],
        tuple(line["stream"]),
    )


# ---- Python


class Serving:
    """A servant of one schema, and its server."""

    def __init__(self, side: Side, controller: str) -> None:
        self.came: list[str] = []
        self.results: dict[str, Any] = {}
        self.elements: dict[str, list[Any]] = {}
        self.errors: dict[str, DeclaredError] = {}
        members = {method.attribute: self._handler(method) for method in side.methods.values()}
        self.server = mf.Server("tcp://127.0.0.1:0", controller=controller or None)
        self.server.offer(type("Answering", (side.servant,), members)())
        self.server.start()

    def _handler(self, method: Method[Any, Any]) -> Callable[..., Any]:
        def begin(arguments: tuple[Any, ...]) -> None:
            stream = None
            if method.param_element is not None:
                *arguments, stream = arguments  # type: ignore[assignment]
            self.came.append(bytes(method.encode_request(*arguments)).hex())
            if stream is not None:
                assert method.param_element is not None
                self.came += [bytes(method.param_element.encode(each)).hex() for each in stream]
            error = self.errors.pop(method.name, None)
            if error is not None:
                raise error

        def plain(_: Any, *arguments: Any) -> Any:
            begin(arguments)
            return next(self.results[method.name]) if method.name in self.results else None

        def streaming(_: Any, *arguments: Any) -> Any:
            begin(arguments)
            yield from self.elements.get(method.name, ())

        return plain if method.result_element is None else streaming


class Python:
    def __init__(self, side: Callable[[str, str], Side]) -> None:
        self._side = side
        self._serving: dict[tuple[str, str], Serving] = {}
        self._clients: dict[tuple[str, str], mf.Client] = {}

    def _method(self, which: tuple[str, str], name: str) -> Method[Any, Any]:
        return self._side(*which).methods[name]

    def serve(self, which: tuple[str, str], controller: str = "") -> str:
        self._serving[which] = Serving(self._side(*which), controller)
        return self._serving[which].server.address

    def answer(self, which: tuple[str, str], method: str, results: Sequence[str]) -> None:
        decode = self._method(which, method).decode_result
        self._serving[which].results[method] = cycle([decode(bytes.fromhex(each)) for each in results])

    def stream(self, which: tuple[str, str], method: str, elements: Sequence[str]) -> None:
        codec = self._method(which, method).result_element
        assert codec is not None
        values = [codec.decode_all(bytes.fromhex(each), 1)[0] for each in elements]
        self._serving[which].elements[method] = values

    def throw(self, which: tuple[str, str], method: str, error: int, value: str) -> None:
        codec = self._method(which, method).errors[error]
        self._serving[which].errors[method] = codec.decode(bytes.fromhex(value))

    def took(self, which: tuple[str, str]) -> list[str]:
        came = self._serving[which].came
        taken = came[:]
        del came[: len(taken)]
        return taken

    def connect(self, which: tuple[str, str], address: str) -> None:
        if which in self._clients:
            self._clients.pop(which).close()
        self._clients[which] = mf.Client(address)

    def call(self, which: tuple[str, str], method: str, requests: Sequence[str]) -> list[Ended]:
        made = self._method(which, method)
        stub = self._side(*which).client(self._clients[which])
        arguments = [made.decode_request(bytes.fromhex(each)) for each in requests]
        if len(arguments) == 1:
            return [self._ended(made, lambda: getattr(stub, made.attribute)(*arguments[0]))]
        items = [made.request(*each) for each in arguments]
        outcomes = getattr(stub, f"{made.attribute}_bulk")(items)
        return [self._ended(made, outcome.value) for outcome in outcomes]

    def send(self, which: tuple[str, str], method: str, request: str, elements: Sequence[str]) -> Ended:
        made = self._method(which, method)
        stub = self._side(*which).client(self._clients[which])
        arguments = list(made.decode_request(bytes.fromhex(request)))
        if made.param_element is not None:
            sent = made.param_element
            arguments.append([sent.decode_all(bytes.fromhex(each), 1)[0] for each in elements])
        got: list[str] = []

        def run() -> Any:
            call = getattr(stub, made.attribute)
            if made.result_element is None:
                return call(*arguments)
            if made.param_element is not None:
                *arguments_before, values = arguments
                stream = call(*arguments_before)
                for each in values:
                    stream.write(each)
                stream.done_writing()
            else:
                stream = call(*arguments)
            for each in stream:
                got.append(bytes(made.result_element.encode(each)).hex())
            return None

        as_ended = self._ended(made, run)
        return Ended(**{**vars(as_ended), "stream": tuple(got)})

    def stop(self) -> None:
        for client in self._clients.values():
            client.close()
        for serving in self._serving.values():
            serving.server.stop()
        self._clients.clear()
        self._serving.clear()

    @staticmethod
    def _ended(method: Method[Any, Any], run: Callable[[], Any]) -> Ended:
        try:
            value = run()
        except mf.Error as error:
            return Ended(error.code.name, Execution(error.execution).name, error.message)
        except DeclaredError as error:
            place = method.error_types.index(type(error))
            data = bytes(method.errors[place].encode(error)).hex()
            return Ended(Code.DECLARED.name, Execution.UNKNOWN.name, "", place, data)
        if method.result_element is not None:
            return Ended()
        return Ended(value=bytes(method.encode_result(value)).hex())
