"""A group of replicas of the journal and clients that call it under load, each a process, in C++ or
Python, of the schema tests/python/replicated/journal.mfidl ("journal") or of later.mfidl ("later").
"""

import json
import os
import sys
import threading
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mfidl.compiler import Exit, Targets, compile_files
from tests.interop.peers import BUILD, PATIENCE, Process, Server, free_port
from tests.python.conftest import eventually

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests/python/replicated/programs"
SCHEMAS = {
    "journal": ROOT / "tests/python/replicated/journal.mfidl",
    "later": ROOT / "tests/replicated/later.mfidl",
}
IN_CPP = {"journal": "replicated", "later": "replicated-later"}
NAMES = ("a", "b", "c")


@dataclass(frozen=True)
class Kind:
    """Of a program."""

    language: str
    schema: str = "journal"


@dataclass(frozen=True)
class Ended:
    """How a call has ended: with a version, or an error."""

    version: tuple[int, int] | None = None
    error: str = ""


@pytest.fixture(scope="session")
def journals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Where the package `journal` of each schema is."""
    folders = {}
    for name, schema in SCHEMAS.items():
        folders[name] = tmp_path_factory.mktemp(name)
        outcome = compile_files([str(schema)], [], Targets(python=str(folders[name])))
        assert (outcome.exit, outcome.diagnostics) == (Exit.OK, [])
    return folders


class Group:
    """A controller and three replicas, which keep so many messages for replicas that return."""

    def __init__(
        self, folder: Path, journals: dict[str, Path], languages: tuple[str, ...], most_entries: int = 16_384
    ) -> None:
        self._folder = folder
        self._journals = journals
        self._most_entries = most_entries
        self._started: list[Process] = []
        self.port = free_port()
        self.where = f"mf://127.0.0.1:{self.port}"
        self.start_controller()
        self.kinds = {name: Kind(language) for name, language in zip(NAMES, languages, strict=True)}
        self.replicas: dict[str, Process] = {}
        self._silent: list[str] = []
        for name in NAMES:
            self.start(name)
        self.wait_for_all()

    def start_controller(self) -> None:
        command = [str(BUILD / "mf-controller"), "--store", str(self._folder / "store"), "--listen"]
        listen = f"tcp://127.0.0.1:{self.port}"
        self.controller = Server([*command, listen], self.environment("journal"), self._errors())
        self._started.append(self.controller)

    def start(self, name: str) -> None:
        arguments = (name, ",".join(NAMES), str(self._most_entries))
        self.replicas[name] = self.process("replica", self.kinds[name], *arguments)
        self._silent.append(name)

    def replace(self, name: str, kind: Kind) -> None:
        """Stops a replica and starts it as another program; returns when it has caught up."""
        self.replicas[name].end()
        self.kinds[name] = kind
        self.start(name)
        self.wait_for_all()

    def process(self, role: str, kind: Kind, *arguments: str) -> Process:
        if kind.language == "python":
            command = [sys.executable, str(PROGRAMS / f"journal_{role}.py")]
        else:
            binary = BUILD / "tests/replicated" / IN_CPP[kind.schema]
            assert binary.is_file(), f"cmake --build --preset release --target {binary.name}"
            command = [str(binary), role]
        made = Process([*command, self.where, *arguments], self.environment(kind.schema), self._errors())
        self._started.append(made)
        return made

    def environment(self, schema: str) -> dict[str, str]:
        path = os.pathsep.join(map(str, (self._journals[schema], ROOT / "runtime/python")))
        return os.environ | {"PYTHONPATH": path}

    def wait_for_all(self) -> None:
        """Until each has caught up with the versioning server."""
        while self._silent:
            name = self._silent.pop()
            assert self.replicas[name].line() == name
        for name in NAMES:
            assert self.ask(name, "serves") is True, self.ask(name, "stuck")

    def leader(self) -> str:
        self.wait_for_all()
        return next(name for name in NAMES if self.ask(name, "leads"))

    def ask(self, name: str, what: str) -> Any:
        self.replicas[name].tell(what)
        return json.loads(self.replicas[name].line())

    def close(self) -> None:
        for each in reversed(self._started):
            each.close()

    def _errors(self) -> Path:
        return self._folder / f"errors{len(self._started)}"


class Load:
    """A client, of so many callers that make one call after the other, by all patterns."""

    def __init__(
        self, group: Group, kind: Kind, callers: int, name: str = "client", more: tuple[str, ...] = ()
    ) -> None:
        """`more`: ("more",) to call this method of the later schema, too."""
        self._process = group.process("client", kind, str(callers), name, *more)
        self._ended: dict[str, Ended] = {}
        self._over = False
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        try:
            while "done" not in (line := json.loads(self._process.line())):
                version = (line["epoch"], line["counter"]) if "epoch" in line else None
                with self._changed:
                    self._ended[line["text"]] = Ended(version, line.get("error", ""))
                    self._changed.notify_all()
        finally:
            with self._changed:
                self._over = True
                self._changed.notify_all()

    @property
    def count(self) -> int:
        """The calls that have ended by now."""
        with self._changed:
            return len(self._ended)

    def goes_on(self, calls: int) -> None:
        """Returns when so many more have ended."""
        with self._changed:
            enough = len(self._ended) + calls
            self._changed.wait_for(lambda: len(self._ended) >= enough or self._over, PATIENCE)
            assert len(self._ended) >= enough, f"calls do not end; it said: {self._process.said()}"

    def stop(self) -> dict[str, Ended]:
        """How all of its calls have ended."""
        self._process.tell("stop")
        self._reader.join(PATIENCE)
        assert self._process.wait() == 0, self._process.said()
        return self._ended


def check_order(group: Group, ended: dict[str, Ended]) -> dict[str, list[str]]:
    """What must hold once all calls have ended: each well, with a version of its own, and each replica
    applies all of their messages in the order of the versions, and nothing twice. Returns what each has
    applied.
    """
    wrong = [f"{text}: {each.error}" for text, each in ended.items() if each.version is None]
    assert wrong == []
    versions = [each.version for each in ended.values()]
    assert len(set(versions)) == len(versions)
    in_order = sorted(ended, key=lambda text: ended[text].version or (0, 0))
    applied: dict[str, list[str]] = {}

    def has_applied(name: str) -> bool:
        return ended.keys() <= set(group.ask(name, "texts"))

    for name in NAMES:
        assert eventually(partial(has_applied, name), 30.0), f"{name} lacks what was acknowledged"
        applied[name] = texts = group.ask(name, "texts")
        assert len(set(texts)) == len(texts), f"{name} has applied something twice"
        assert [text for text in texts if text in ended] == in_order, f"{name} has another order"
    return applied
