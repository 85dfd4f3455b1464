"""A controller, three servers and two clients, which are upgraded one by one to a newer schema while the
clients call at a set rate, and taken back again.

    python demo.py STUBS                    # the folder with v1 and v2, as mfidlc wrote them
    python demo.py STUBS --language mixed   # servers a and c and client x are programs of C++
    python demo.py STUBS --rounds 200       # of calls, that each client makes between two steps
    python demo.py STUBS --relays 2         # the clients call through two relays in a row
"""

import argparse
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).parent
BUILD = Path(os.environ.get("MF_BUILD_DIR", HERE.parents[1] / "build" / "release"))
OLD, NEW = "v1", "v2"
PATIENCE = 60.0
"""Seconds for what a program should do at once."""


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

    def await_lines(self, count: int, patience: float = PATIENCE) -> None:
        """Until so many have come."""
        with self.changed:
            self.changed.wait_for(lambda: len(self.lines) >= count or self.ended, patience)
            if len(self.lines) < count:
                raise SystemExit("a process has ended early" if self.ended else "a process makes no headway")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(PATIENCE)
        self.reader.join()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.reader.join()


class Demo:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.cpp = ("a", "c", "x") if options.language == "mixed" else ()
        self.begun = time.monotonic()
        listening = ("--listen", "tcp://127.0.0.1:0", "--log-level", "warning")
        self.controller = Program([str(BUILD / "mf-controller"), *listening, "--store", "memory:"])
        self.controller.await_lines(1)
        self.relays: list[Program] = []
        for _ in range(options.relays):
            behind = (self.relays or [self.controller])[-1].lines[0]
            command = [str(BUILD / "mf-relay"), *listening, "--controller", behind]
            self.relays.append(Program(command))
            self.relays[-1].await_lines(1)
        self.servers: dict[str, Program] = {}
        self.clients: dict[str, Program] = {}
        self.calls = 0
        self.failures: list[str] = []

    def start(self, kind: str, name: str, version: str) -> Program:
        where = (self.relays or [self.controller])[-1] if kind == "client" else self.controller
        arguments = [where.lines[0]]
        if kind == "client":
            arguments.append(str(self.options.rate / 2))
        if name in self.cpp:
            program = BUILD / "examples" / "11_upgrade" / f"orders-{kind}-{version}"
            started = Program([str(program), *arguments])
        else:
            path = os.pathsep.join((str(self.options.stubs / version), os.environ.get("PYTHONPATH", "")))
            started = Program([sys.executable, str(HERE / f"{kind}.py"), *arguments], path)
        started.await_lines(1)
        return started

    def say(self, what: str) -> None:
        print(f"{time.monotonic() - self.begun:7.2f} s  {what}", flush=True)

    def run(self) -> None:
        self.servers = {name: self.start("server", name, OLD) for name in ("a", "b", "c")}
        self.clients = {name: self.start("client", name, OLD) for name in ("x", "y")}
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
        before, programs[name] = programs[name], self.start(kind, name, version)
        if kind == "client":
            self.end(before)
        else:
            before.stop()
        self.say(f"{kind} {name}{' in C++' if name in self.cpp else ''} has schema {version}")
        self.go_on()

    def go_on(self) -> None:
        """Until each client has made so many rounds of calls more."""
        counts = {client: len(client.lines) + self.options.rounds for client in self.clients.values()}
        for client, count in counts.items():
            client.await_lines(count, PATIENCE + self.options.rounds)

    def end(self, client: Program) -> None:
        client.stop()
        calls, failed, *what = client.lines[-1].split(" ", 2)
        self.calls += int(calls)
        self.failures += [f"client: {' '.join(what)}"] * int(failed)

    def close(self) -> None:
        for program in (*self.clients.values(), *self.servers.values(), *self.relays, self.controller):
            program.kill()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("stubs", type=Path)
    parser.add_argument("--language", choices=("python", "mixed"), default="python")
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument(
        "--rate", type=float, default=1000, help="calls in a second, of both clients together"
    )
    parser.add_argument("--relays", type=int, default=0)
    demo = Demo(parser.parse_args())
    try:
        demo.run()
    finally:
        demo.close()
    sys.exit(1 if demo.failures else 0)


if __name__ == "__main__":
    main()
