"""An editor that is as fast as can be: requests and notifications of the language server protocol over the
pipes of a process, answers as they are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.child import BenchError

_TICKS = os.sysconf("SC_CLK_TCK")


class Client:
    """Has started `mfidlc lsp`, and said what it can do: next to nothing."""

    def __init__(self, root: Path) -> None:
        command = [sys.executable, "-m", "mfidl", "lsp"]
        self._server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._id = 0
        folders = [{"uri": root.as_uri(), "name": root.name}]
        self.ask("initialize", {"processId": None, "capabilities": {}, "workspaceFolders": folders})
        self.tell("initialized", {})

    def tell(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    def ask(self, method: str, params: Any) -> Any:
        """Waits for the answer; what else the server says meanwhile is dropped."""
        self._id += 1
        self._send({"id": self._id, "method": method, "params": params})
        return self._until(lambda message: message.get("id") == self._id and "method" not in message)[
            "result"
        ]

    def diagnostics(self, version: int) -> list[Any]:
        """Waits for those of a version."""

        def fits(message: Any) -> bool:
            published = message.get("method") == "textDocument/publishDiagnostics"
            return bool(published and message["params"].get("version") == version)

        found: list[Any] = self._until(fits)["params"]["diagnostics"]
        return found

    def _send(self, message: dict[str, Any]) -> None:
        assert self._server.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._server.stdin.flush()

    def _until(self, fits: Callable[[Any], bool]) -> Any:
        while True:
            message = self._receive()
            if "error" in message:
                raise BenchError(f"the server says: {message['error']}")
            if fits(message):
                return message

    def _receive(self) -> Any:
        stream = self._server.stdout
        assert stream is not None
        length = 0
        while (line := stream.readline()) != b"\r\n":
            if not line:
                raise BenchError("the language server ended")
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return json.loads(stream.read(length))

    # What the server takes ----------------------------------------------------------------------------------

    def cpu_ms(self) -> float:
        """Its processor time until now."""
        fields = Path(f"/proc/{self._server.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS * 1e3

    def peak_mb(self) -> float:
        status = Path(f"/proc/{self._server.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) / 1024

    def close(self) -> None:
        if self._server.poll() is None:
            self.ask("shutdown", None)
            self.tell("exit", None)
        deadline = time.monotonic() + 10
        while self._server.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        self._server.kill()
        self._server.wait()
