"""A real etcd of one node or several, started for a test, whose nodes are killed, stopped and started again.

Debian's: tools/bootstrap installs it. None outlives its test, every wait has a bound.
"""

import base64
import contextlib
import json
import os
import shutil
import signal
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.interop.peers import free_port

PATIENCE = 60.0

Answer = dict[str, Any]


def eventually(holds: Callable[[], bool], what: str) -> None:
    """Fails the test if that does not come true in time."""
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > end:
            pytest.fail(f"it has not come to this: {what}")
        time.sleep(0.05)


@dataclass(frozen=True)
class Secured:
    """Files of an etcd over TLS: its certificate, and the authority by which it verifies clients."""

    authority: str
    certificate: str
    key: str


class Node:
    """One server of etcd; it keeps its data when it is killed and started again."""

    def __init__(self, name: str, folder: Path, secured: Secured | None = None) -> None:
        self.token = ""
        self._secured = secured
        self._scheme = "http" if secured is None else "https"
        self.name = name
        self.address = f"127.0.0.1:{free_port()}"
        self.peer = f"http://127.0.0.1:{free_port()}"
        self._folder = folder / name
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, members: str) -> None:
        program = shutil.which("etcd")
        if program is None:
            pytest.fail("there is no etcd here: tools/bootstrap core test installs it")
        own = f"{self._scheme}://{self.address}"
        command = [program, "--name", self.name, "--data-dir", str(self._folder), "--logger", "zap"]
        command += ["--listen-client-urls", own, "--advertise-client-urls", own]
        command += ["--listen-peer-urls", self.peer, "--initial-advertise-peer-urls", self.peer]
        command += ["--initial-cluster", members, "--initial-cluster-state", "new"]
        # Each log-in hashes a password, of which a loaded machine does few a second at the usual cost.
        command += ["--bcrypt-cost", "4"]
        if self._secured is not None:
            command += ["--cert-file", self._secured.certificate, "--key-file", self._secured.key]
            command += ["--client-cert-auth", "--trusted-ca-file", self._secured.authority]
        with self._folder.with_suffix(".log").open("ab") as log:
            self._process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "--", *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        assert self._process is not None
        self._process.wait(PATIENCE)

    def freeze(self) -> None:
        self.signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.signal(signal.SIGCONT)

    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def ask(self, path: str, question: Answer, patience: float = 5.0) -> Answer:
        url = f"{self._scheme}://{self.address}/v3/{path}"
        headers = {"Authorization": self.token} if self.token else {}
        request = urllib.request.Request(url, json.dumps(question).encode(), headers)
        with urllib.request.urlopen(request, timeout=patience, context=self._context()) as answer:
            found: Answer = json.load(answer)
            return found

    def _context(self) -> ssl.SSLContext | None:
        if self._secured is None:
            return None
        context = ssl.create_default_context(cafile=self._secured.authority)
        context.load_cert_chain(self._secured.certificate, self._secured.key)
        return context


class Etcd:
    def __init__(self, folder: Path, count: int, secured: Secured | None = None) -> None:
        self.nodes = [Node(f"n{number}", folder, secured) for number in range(count)]
        self._members = ",".join(f"{node.name}={node.peer}" for node in self.nodes)
        self.start()

    def start(self) -> None:
        """Starts those that do not run, and waits until all serve."""
        for node in self.nodes:
            if not node.running():
                node.start(self._members)
        for node in self.nodes:
            eventually(lambda node=node: self._serves(node), f"{node.name} serves")  # type: ignore[misc]

    @property
    def addresses(self) -> str:
        return ",".join(node.address for node in self.nodes)

    def leader(self) -> Node:
        for node in self.nodes:
            status = node.ask("maintenance/status", {})
            if status.get("leader") == status["header"]["member_id"]:
                return node
        pytest.fail("no node leads")

    def compact(self) -> None:
        """Forgets all that is not the latest."""
        node = self.nodes[0]
        node.ask("kv/compaction", {"revision": self._range("\0", "\0")["header"]["revision"]})

    def remove_all(self) -> None:
        """Deletes all keys, as a user does that takes the etcd for its own."""
        everything = base64.b64encode(b"\0").decode()
        self.nodes[0].ask("kv/deleterange", {"key": everything, "range_end": everything})

    def keys(self, prefix: str) -> list[str]:
        found = self._range(prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1))
        return [base64.b64decode(each["key"]).decode() for each in found.get("kvs", [])]

    def demand_users(self, user: str, password: str, prefix: str) -> None:
        """From now on every client needs a user; this one may use the keys that begin with the prefix."""
        node = self.nodes[0]
        node.ask("auth/user/add", {"name": "root", "password": password})
        node.ask("auth/user/grant", {"user": "root", "role": "root"})
        node.ask("auth/role/add", {"name": "keeper"})
        keys = {"key": prefix, "range_end": prefix[:-1] + chr(ord(prefix[-1]) + 1)}
        encoded = {name: base64.b64encode(key.encode()).decode() for name, key in keys.items()}
        node.ask("auth/role/grant", {"name": "keeper", "perm": {"permType": "READWRITE"} | encoded})
        node.ask("auth/user/add", {"name": user, "password": password})
        node.ask("auth/user/grant", {"user": user, "role": "keeper"})
        node.ask("auth/enable", {})
        token = node.ask("auth/authenticate", {"name": "root", "password": password})["token"]
        for each in self.nodes:
            each.token = token

    def close(self) -> None:
        for node in self.nodes:
            if node.running():
                node.kill()

    def _range(self, first: str, end: str) -> Answer:
        keys = {"key": first, "range_end": end}
        question: Answer = {name: base64.b64encode(key.encode()).decode() for name, key in keys.items()}
        return self.nodes[0].ask("kv/range", question | {"keys_only": True})

    @staticmethod
    def _serves(node: Node) -> bool:
        try:
            node.ask("kv/range", {"key": "AA=="})
        except (OSError, ValueError, urllib.error.URLError):
            return False
        return True
