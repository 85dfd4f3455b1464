"""The processes of the conformance suite: a server once, a client once for each cell.

Each leads a process group of its own, is killed with the process that tests, and has a bound for every
answer. One that fails to answer is killed, and the next row of its cell gets another.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import mf
from tests.conformance.table import CLIENTS, SERVERS, Cell
from tests.interop.peers import BUILD, Process
from tests.interop.peers import Server as ServerProcess
from tests.python.certificates import Authority

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PATIENCE = 8.0
LISTEN = ("--listen", "tcp://127.0.0.1:0", "--log-level", "warning")
LISTEN_TLS = ("--listen", "tls://127.0.0.1:0", "--log-level", "warning")

_INTERCEPTED = {"MF_PEER_INTERCEPTED": "1"}
"""Both ends have an interceptor around all calls that changes nothing."""


class Processes:
    def __init__(self, folder: Path, stubs: Path) -> None:
        self._folder = folder
        path = os.pathsep.join(map(str, (stubs, ROOT / "runtime" / "python")))
        authority = Authority(folder)
        self._shown, known, stranger = (
            authority.issue(names=f"DNS:localhost,IP:127.0.0.1,URI:spiffe://example.org/{name}")
            for name in ("server", "client", "stranger")
        )
        access = folder / "access.conf"
        access.write_text(
            f"allow spiffe://example.org/client call *\nallow uid:{os.getuid()} call *\n"  # it calls itself
        )
        own = os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        verifies = {"MF_PEER_CA": authority.file}
        self.environment = own | verifies
        self._of_server = own | _shows(self._shown)
        self._demands = verifies | {"MF_PEER_ACCESS": str(access)}
        self._of_client = {
            "mtls": _shows(known),
            "denied": _shows(stranger),
            "intercepted": _INTERCEPTED,
        }
        self._servers: dict[str, ServerProcess] = {}
        self._clients: dict[Cell, Process] = {}
        self._started = 0

    def address(self, cell: Cell) -> str:
        """Of the cell's server in the cell's way; of one in the process, what its client gets as the servant
        to offer."""
        server = SERVERS[cell.server]
        if cell.light:
            return f"light-{server.kind}"
        addresses = self.server(cell).address.split()
        if cell.relayed:
            return self.relay(cell).address.replace("mf://", "relay://")
        scheme = {"mtls": "tls", "denied": "tls", "intercepted": "tcp"}.get(cell.way, cell.way)
        return next(each for each in addresses if each.startswith(f"{scheme}:"))

    def server(self, cell: Cell) -> ServerProcess:
        """That of the cell, started if it was not."""
        if cell.relayed:
            at = self._controller(cell).address
            return self._serve(cell, f"{cell.server}-relay", "tcp://127.0.0.1:0", at)
        if cell.knows_clients:
            listen = f"unix:{self._folder / cell.server}-knows,tls://127.0.0.1:0"
            return self._serve(cell, f"{cell.server}-knows", listen)
        if cell.way == "intercepted":
            return self._serve(cell, f"{cell.server}-intercepted", "tcp://127.0.0.1:0")
        listen = f"tcp://127.0.0.1:0,tls://127.0.0.1:0,unix:{self._folder / cell.server}"
        return self._serve(cell, cell.server, listen)

    def relay(self, cell: Cell) -> ServerProcess:
        """The one before the cell's server: a process of its own for those in C++, else the controller."""
        controller = self._controller(cell)
        if not cell.server.startswith("cpp"):
            return controller
        listen: tuple[str, ...] = LISTEN
        if cell.way == "relay+tls":
            listen = (*LISTEN_TLS, "--certificate", self._shown.certificate, "--key", self._shown.key)
        command = [binary("mf-relay"), *listen, "--controller", controller.address]
        return self._run(f"{cell.server}-{cell.way}s", command)

    def _controller(self, cell: Cell) -> ServerProcess:
        relays = () if cell.server.startswith("cpp") else ("--relay",)
        return self._run(f"{cell.server}-controller", [binary("mf-controller"), *LISTEN, *relays])

    def _serve(self, cell: Cell, name: str, *arguments: str) -> ServerProcess:
        server = SERVERS[cell.server]
        serve = ("serve",) if server.language == "cpp" else ()
        more = _INTERCEPTED if cell.way == "intercepted" else self._demands if cell.knows_clients else {}
        environment = self._of_server | more
        command = [*program(server.language, "server"), *serve, server.kind, *arguments]
        return self._run(name, command, environment)

    def _run(self, name: str, command: list[str], environment: dict[str, str] | None = None) -> ServerProcess:
        if name not in self._servers:
            self._servers[name] = ServerProcess(command, environment or self._of_server, self._errors())
        return self._servers[name]

    def begin(self, cell: Cell, step: str) -> None:
        """Has the cell's client take a step; `end` gives what it observes."""
        if cell not in self._clients:
            client = CLIENTS[cell.client]
            command = [*program(client.language, "client"), *client.command, self.address(cell)]
            environment = self.environment | self._of_client.get(cell.way, {})
            self._clients[cell] = Process(command, environment, self._errors())
        self._clients[cell].tell(step)

    def end(self, cell: Cell) -> Any:
        return json.loads(self._clients[cell].line(PATIENCE))

    def observe(self, cell: Cell, step: str) -> Any:
        try:
            self.begin(cell, step)
            return self.end(cell)
        except BaseException:
            self._clients.pop(cell).close()
            raise

    def kill_client(self, cell: Cell) -> None:
        self._clients.pop(cell).close()

    def close(self) -> None:
        for process in (*self._clients.values(), *self._servers.values()):
            process.close()

    def _errors(self) -> Path:
        self._started += 1
        return self._folder / f"{self._started}.stderr"


def _shows(tls: mf.Tls) -> dict[str, str]:
    return {"MF_PEER_CERTIFICATE": tls.certificate, "MF_PEER_KEY": tls.key}


def program(language: str, name: str) -> list[str]:
    if language == "python":
        return [sys.executable, str(HERE / "programs" / f"{name}.py")]
    return [binary("tests/conformance/conformance")]


def binary(name: str) -> str:
    found = BUILD / name
    assert found.is_file(), f"{found} is missing: cmake --build --preset release --target {found.name}"
    return str(found)
