"""demo.py [--ba cpp|python] [--agents cpp|python|both]: starts the roles, kills one after another, starts
them again, and prints what a user of the BA sees meanwhile, on a time line.

A query is made twenty times a second. A line is printed when what answers is not what answered before.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import mf
from sf1 import AccessClient, Answer, MiningClient, Part, SearchClient

HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ.get("MF_BUILD_DIR", HERE.parents[1] / "build" / "release"))
COLLECTIONS = ["books", "news"]
PATIENCE = 30.0


class Process:
    """Runs until it is killed; `address` is the first line that it prints."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(  # it ends with this program, whatever ends that
            ["setpriv", "--pdeathsig", "KILL", "--", *command], stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().strip()

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()


class Roles:
    """All processes by their roles, and how each is started."""

    def __init__(self, ba: str, agents: str) -> None:
        self._ba = ba
        self._languages = dict.fromkeys(("sia", "mia"), agents)
        if agents == "both":
            self._languages = {"sia": "cpp", "mia": "python"}
        self._running: dict[str, Process] = {}
        self._addresses = {"controller": "tcp://127.0.0.1:0", "BA": "tcp://127.0.0.1:0"}
        for role in self.names():
            self.start(role)

    @staticmethod
    def names() -> list[str]:
        return ["controller", *(f"{kind} of {name}" for kind in ("SIA", "MIA") for name in COLLECTIONS), "BA"]

    @property
    def ba_address(self) -> str:
        return self._addresses["BA"]

    def await_registered(self) -> None:
        """Returns when all agents are registered at the controller that runs now: a BA that is started next
        gets their addresses."""
        with mf.Client(self._addresses["controller"], mf.ClientOptions(wait_for_server=PATIENCE)) as client:
            for name in COLLECTIONS:
                SearchClient(client).at(name).search("apple")
                MiningClient(client).at(name).related("apple")

    def start(self, role: str) -> None:
        running = self._running[role] = Process(self._command(role))
        if role in self._addresses:  # from now on it has this one: clients know it
            self._addresses[role] = running.address

    def kill(self, role: str) -> None:
        self._running.pop(role).kill()

    def kill_all(self) -> None:
        for role in list(self._running):
            self.kill(role)

    def _command(self, role: str) -> list[str]:
        if role == "controller":
            program = [str(BUILD / "mf-controller"), "--log-level", "error", "--store", "memory:"]
            return [*program, "--listen", self._addresses[role]]
        controller = self._addresses["controller"]
        if role == "BA":
            return [*self._program(self._ba, "ba"), controller, self._addresses[role]]
        kind, _, collection = role.partition(" of ")
        return [*self._program(self._languages[kind.lower()], "agent"), kind.lower(), collection, controller]

    @staticmethod
    def _program(language: str, name: str) -> list[str]:
        if language == "python":
            return [sys.executable, str(HERE / f"{name}.py")]
        return [str(BUILD / "examples" / "5_failover" / f"sf1-{name}")]


def shown(kind: str, parts: Sequence[Part]) -> str:
    answered = [part.collection for part in parts if not part.skipped]
    skipped = [f"{part.collection} skipped" for part in parts if part.skipped]
    return f"{kind}: {', '.join(answered + skipped)}"


def seen(answer: Answer) -> str:
    return f"{shown('documents', answer.documents):34}{shown('related', answer.related)}"


def reasons(answer: Answer) -> list[str]:
    return [part.skipped for part in (*answer.documents, *answer.related) if part.skipped]


class TimeLine:
    """Asks the BA, and prints what changes."""

    def __init__(self, ba: str) -> None:
        self._start = time.monotonic()
        self._client = mf.Client(ba)
        self._access = AccessClient(self._client)
        self._last = ""
        self._same = 0

    def event(self, what: str) -> None:
        self._print_count()
        self._print(f"== {what}")

    def until(self, expected: str) -> None:
        """Asks until the answer is this one, and ten times more."""
        end = time.monotonic() + PATIENCE
        while self._ask() != expected:
            if time.monotonic() > end:
                sys.exit(f"demo.py: waited for {expected!r}")
        for _ in range(10):
            self._ask()

    def close(self) -> None:
        self._print_count()
        self._client.close()

    def _ask(self) -> str:
        time.sleep(0.05)
        why: list[str] = []
        try:
            answer = self._access.query(COLLECTIONS, "apple", options=mf.CallOptions(deadline=5))
            now, why = seen(answer), reasons(answer)
        except mf.Error as error:
            now, why = "the BA does not answer", [f"{error.code.name}: {error.message}"]
        if now != self._last:
            self._print_count()
            self._print(now)
            for reason in why:
                self._print(f"   ({reason})")
            self._last = now
        else:
            self._same += 1
        return now

    def _print_count(self) -> None:
        if self._same:
            self._print(f"   and {self._same} queries more with the same answer")
        self._same = 0

    def _print(self, what: str) -> None:
        print(f"{time.monotonic() - self._start:6.2f} s  {what}", flush=True)


def whole(documents: Sequence[str], related: Sequence[str]) -> str:
    """What is seen while these collections answer."""

    def parts(answering: Sequence[str]) -> list[Part]:
        return [Part(name, skipped="" if name in answering else "down") for name in COLLECTIONS]

    return seen(Answer(parts(documents), parts(related)))


def run(roles: Roles) -> None:
    everything = whole(COLLECTIONS, COLLECTIONS)
    line = TimeLine(roles.ba_address)
    line.event("all roles run; every query asks both collections for documents and for related words")
    line.until(everything)
    meanwhile = {
        "SIA of news": whole(["books"], COLLECTIONS),
        "MIA of books": whole(COLLECTIONS, ["news"]),
        "controller": everything,
        "BA": "the BA does not answer",
    }
    for role, expected in meanwhile.items():
        line.event(f"{role}: killed")
        roles.kill(role)
        line.until(expected)
        line.event(f"{role}: started again")
        roles.start(role)
        line.until(everything)
        roles.await_registered()
    line.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--ba", choices=("cpp", "python"), default="cpp")
    parser.add_argument("--agents", choices=("cpp", "python", "both"), default="both")
    options = parser.parse_args()
    roles = Roles(options.ba, options.agents)
    try:
        run(roles)
    finally:
        roles.kill_all()


if __name__ == "__main__":
    main()
