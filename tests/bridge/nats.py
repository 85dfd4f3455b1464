"""A real server of NATS with JetStream, started for a test, killed and started again; what a test asks of it.

Debian's: tools/bootstrap installs it. None outlives its test, every wait has a bound.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.etcd.cluster import eventually
from tests.interop.peers import free_port

PATIENCE = 60.0
STREAM = "ledgers_Entries"
SUBJECT = "mf.ledgers.Entries"

Answer = dict[str, Any]


class Nats:
    """One server; it keeps its streams when it is killed and started again. `shown`: what a client says of
    itself to be let in; `tls`: how it is reached, if over TLS."""

    def __init__(
        self, folder: Path, *options: str, shown: Answer | None = None, tls: ssl.SSLContext | None = None
    ) -> None:
        self.port = free_port()
        self.url = f"{'nats' if tls is None else 'tls'}://127.0.0.1:{self.port}"
        self.shown = shown or {}
        self._tls = tls
        self._folder = folder / "nats"
        self._options = options or ("--jetstream", "--store_dir", str(self._folder))
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        program = shutil.which("nats-server") or "/usr/sbin/nats-server"
        if not Path(program).is_file():
            pytest.fail("there is no nats-server here: tools/bootstrap bridge installs it")
        command = [program, "--addr", "127.0.0.1", "--port", str(self.port), *self._options]
        with self._folder.with_suffix(".log").open("ab") as log:
            self._process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "--", *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        eventually(self._answers, "NATS answers")

    def kill(self) -> None:
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(PATIENCE)

    close = kill

    def ask(self, what: str, body: Answer | None = None) -> Answer:
        """JetStream's answer: ask("STREAM.INFO.NAME")."""
        with contextlib.ExitStack() as stack:
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", self.port), PATIENCE))
            while connection.recv(1) != b"\n":  # INFO, behind which TLS begins
                pass
            if self._tls is not None:
                connection = stack.enter_context(
                    self._tls.wrap_socket(connection, server_hostname="127.0.0.1")
                )
            lines = connection.makefile("rb")
            payload = b"" if body is None else json.dumps(body).encode()
            said = json.dumps({"verbose": False, "headers": True, **self.shown})
            connection.sendall(f"CONNECT {said}\r\nSUB answer 1\r\n".encode())
            connection.sendall(f"PUB $JS.API.{what} answer {len(payload)}\r\n".encode() + payload + b"\r\n")
            while not (line := lines.readline()).startswith((b"MSG ", b"HMSG ")):
                assert line, "NATS has closed the connection"
                assert not line.startswith(b"-ERR"), line
            answer = lines.read(int(line.split()[-1]))
        assert line.startswith(b"MSG "), answer  # without JetStream there is no answer
        return dict(json.loads(answer))

    def make_stream(self, **settings: Any) -> None:
        body = {"name": STREAM, "subjects": [SUBJECT], "storage": "file", "retention": "limits", **settings}
        assert "error" not in (answer := self.ask(f"STREAM.CREATE.{STREAM}", body)), answer

    def change_stream(self, **settings: Any) -> None:
        config = self.ask(f"STREAM.INFO.{STREAM}")["config"]
        answer = self.ask(f"STREAM.UPDATE.{STREAM}", {**config, **settings})
        assert "error" not in answer, answer

    def count(self) -> int:
        """How many records the stream has."""
        return int(self.ask(f"STREAM.INFO.{STREAM}").get("state", {}).get("messages", 0))

    def consumers(self) -> dict[str, int]:
        """The number of the last record that is acknowledged, by the name of the consumer."""
        answer = self.ask(f"CONSUMER.LIST.{STREAM}", {"offset": 0})
        return {each["name"]: each["ack_floor"]["stream_seq"] for each in answer["consumers"] or []}

    def _answers(self) -> bool:
        with contextlib.suppress(OSError, AssertionError):
            return "--debug" in self._options or "error" not in self.ask("INFO")
        return False
