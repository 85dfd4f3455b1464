"""Starts a controller and three replicas, writes without a pause, kills one replica with SIGKILL and starts
it again.

    python demo.py                     # by the flow one_hop_ack_client
    python demo.py --flow chain
    python demo.py --replicas cpp,python,cpp

At the end each replica says what it has, which is the same by every flow but no_versioning.
"""

import argparse
import os
import subprocess
import sys
import threading
from pathlib import Path

from client import FLOWS

import mf
from kv import StoreClient

HERE = Path(__file__).parent
BUILT = Path(os.environ.get("MF_BUILD_DIR", HERE.parents[1] / "build" / "release"))
CONTROLLER = BUILT / "mf-controller"
IN_CPP = BUILT / "examples" / "9_replicated" / "kv-replica"
MEMBERS = ("a", "b", "c")
WRITES = 200


class Demo:
    def __init__(self, flow: str, languages: list[str]) -> None:
        self.flow = flow
        self.languages = dict(zip(MEMBERS, languages, strict=True))
        listening = ("--listen", "tcp://127.0.0.1:0", "--store", "memory:", "--log-level", "warning")
        self.controller = self._start([str(CONTROLLER), *listening])
        self.where = self._line(self.controller)
        self.replicas: dict[str, subprocess.Popen[str]] = {}
        self.written = 0
        self.back = threading.Event()

    def start(self, member: str) -> None:
        python = self.languages[member] == "python"
        program = [sys.executable, str(HERE / "replica.py")] if python else [str(IN_CPP)]
        self.replicas[member] = self._start([*program, self.where, member, ",".join(MEMBERS)])

    def until_serving(self, member: str) -> None:
        while self._line(self.replicas[member]) != f"{member} serves":
            pass

    def write(self) -> None:
        """So many writes before a replica is killed, and at least as many after. The last one ends when all
        replicas have it, and so all before it.
        """
        with mf.Client(self.where) as client:
            put = getattr(StoreClient(client), f"put_{self.flow}")
            while not self.back.is_set() or self.written < 2 * WRITES:
                put(f"key {self.written}", f"value {self.written}")
                self.written += 1
            put("the last", "one", options=mf.ReplicatedOptions(require=mf.Require.ALL))

    def run(self) -> None:
        for member in MEMBERS:
            self.start(member)
        for member in MEMBERS:
            self.until_serving(member)
        print(f"all replicas serve; writes go by {self.flow}", flush=True)
        writer = threading.Thread(target=self.write)
        writer.start()
        while self.written < WRITES and writer.is_alive():
            writer.join(0.01)
        self.replicas["b"].kill()
        self.replicas["b"].wait()
        self.start("b")
        print("b was killed, and is started again", flush=True)
        self.until_serving("b")
        self.back.set()
        print("b serves again", flush=True)
        writer.join()
        for state in self.states():
            print(state, flush=True)

    def states(self) -> list[str]:
        """What each replica says that it has when it ends."""
        for member in MEMBERS:
            self.replicas[member].terminate()
        return [self._line(self.replicas[member]) for member in MEMBERS]

    def close(self) -> None:
        for each in [*self.replicas.values(), self.controller]:
            each.kill()
            each.communicate()

    def _start(self, command: list[str]) -> subprocess.Popen[str]:
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def _line(self, process: subprocess.Popen[str]) -> str:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise SystemExit("a process has ended early")
        return line.strip()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--flow", choices=FLOWS, default="one_hop_ack_client")
    parser.add_argument(
        "--replicas", default="python,python,python", help="cpp or python, for each of the three"
    )
    given = parser.parse_args()
    demo = Demo(given.flow, given.replicas.split(","))
    try:
        demo.run()
    finally:
        demo.close()


if __name__ == "__main__":
    main()
