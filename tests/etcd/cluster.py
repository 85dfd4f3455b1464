"""A real etcd of one node or several, started for a test, whose nodes are killed, stopped and started again.

Debian's: tools/bootstrap installs it. None outlives its test, every wait has a bound.
"""

import base64
import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
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


class Node:
    """One server of etcd; it keeps its data when it is killed and started again."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.address = f"127.0.0.1:{free_port()}"
        self.peer = f"http://127.0.0.1:{free_port()}"
        self._folder = folder / name
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, members: str) -> None:
        program = shutil.which("etcd")
        if program is None:
            pytest.fail("there is no etcd here: tools/bootstrap core test installs it")
        own = f"http://{self.address}"
        command = [program, "--name", self.name, "--data-dir", str(self._folder), "--logger", "zap"]
        command += ["--listen-client-urls", own, "--advertise-client-urls", own]
        command += ["--listen-peer-urls", self.peer, "--initial-advertise-peer-urls", self.peer]
        command += ["--initial-cluster", members, "--initial-cluster-state", "new"]
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
        request = urllib.request.Request(f"http://{self.address}/v3/{path}", json.dumps(question).encode())
        with urllib.request.urlopen(request, timeout=patience) as answer:
            found: Answer = json.load(answer)
            return found


class Etcd:
    def __init__(self, folder: Path, count: int) -> None:
        self.nodes = [Node(f"n{number}", folder) for number in range(count)]
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

    def keys(self, prefix: str) -> list[str]:
        found = self._range(prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1))
        return [base64.b64decode(each["key"]).decode() for each in found.get("kvs", [])]

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
