"""A controller, three servers and two clients, which are upgraded one by one to a newer schema while the
clients call without a pause, and taken back again.

    python demo.py STUBS                # the folder with v1 and v2, as mfidlc wrote them
    python demo.py STUBS --rounds 200   # of calls, that each client makes between two steps
"""

import argparse
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).parent
CONTROLLER = Path(os.environ.get("MF_BUILD_DIR", HERE.parents[1] / "build" / "release")) / "mf-controller"
OLD, NEW = "v1", "v2"


class Program:
    """A process, and the lines that it has written."""

    def __init__(self, command: list[str], path: str = "") -> None:
        env = os.environ | ({"PYTHONPATH": path} if path else {})
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
        self.lines: list[str] = []
        self.changed = threading.Condition()
        self.ended = False
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line.strip())
                self.changed.notify_all()
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def await_lines(self, count: int) -> None:
        """Until so many have come."""
        with self.changed:
            self.changed.wait_for(lambda: len(self.lines) >= count or self.ended)
        if len(self.lines) < count:
            raise SystemExit("a process has ended early")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()
        self.reader.join()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.reader.join()


class Demo:
    def __init__(self, stubs: Path, rounds: int) -> None:
        self.stubs = stubs
        self.rounds = rounds
        self.begun = time.monotonic()
        listening = ("--listen", "tcp://127.0.0.1:0", "--store", "memory:", "--log-level", "warning")
        self.controller = Program([str(CONTROLLER), *listening])
        self.servers: dict[str, Program] = {}
        self.clients: dict[str, Program] = {}
        self.calls = 0
        self.failures: list[str] = []

    def start(self, program: str, version: str) -> Program:
        path = os.pathsep.join((str(self.stubs / version), os.environ.get("PYTHONPATH", "")))
        where = self.controller.lines[0]
        started = Program([sys.executable, str(HERE / f"{program}.py"), where], path)
        started.await_lines(1)
        return started

    def say(self, what: str) -> None:
        print(f"{time.monotonic() - self.begun:7.2f} s  {what}", flush=True)

    def run(self) -> None:
        self.controller.await_lines(1)
        self.servers = {name: self.start("server", OLD) for name in ("a", "b", "c")}
        self.clients = {name: self.start("client", OLD) for name in ("x", "y")}
        self.say(f"three servers and two clients have schema {OLD}")
        self.go_on()
        for version, back in ((NEW, False), (OLD, True)):
            for kind in ("client", "server") if back else ("server", "client"):
                for name in self.servers if kind == "server" else self.clients:
                    self.replace(kind, name, version)
        for client in self.clients.values():
            self.end(client)
        print(f"{self.calls:,} calls, {len(self.failures)} failed", flush=True)
        for failure in self.failures[:10]:
            print(failure, flush=True)

    def replace(self, kind: str, name: str, version: str) -> None:
        """The new one serves or calls before the old one ends."""
        programs = self.servers if kind == "server" else self.clients
        before, programs[name] = programs[name], self.start(kind, version)
        if kind == "client":
            self.end(before)
        else:
            before.stop()
        self.say(f"{kind} {name} has schema {version}")
        self.go_on()

    def go_on(self) -> None:
        """Until each client has made so many rounds of calls more."""
        counts = {client: len(client.lines) + self.rounds for client in self.clients.values()}
        for client, count in counts.items():
            client.await_lines(count)

    def end(self, client: Program) -> None:
        client.stop()
        calls, failed, *what = client.lines[-1].split(" ", 2)
        self.calls += int(calls)
        self.failures += [f"client: {' '.join(what)}"] * int(failed)

    def close(self) -> None:
        for program in (*self.clients.values(), *self.servers.values(), self.controller):
            program.kill()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("stubs", type=Path)
    parser.add_argument("--rounds", type=int, default=50)
    options = parser.parse_args()
    demo = Demo(options.stubs, options.rounds)
    try:
        demo.run()
    finally:
        demo.close()
    sys.exit(1 if demo.failures else 0)


if __name__ == "__main__":
    main()
