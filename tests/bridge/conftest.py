"""The engines of the tests of bridges, the stubs of ledger.mfidl, and the processes of a test."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mfidl.compiler import Exit, Targets, check, compile_files
from tests.bridge.kafka import Kafka
from tests.bridge.nats import Nats
from tests.interop.peers import BUILD, Process, Server
from tests.topics.conftest import Program

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SCHEMAS = {"ledger": HERE / "ledger.mfidl", "later": HERE / "later" / "ledger.mfidl"}

Engine = Nats | Kafka


class Bridges:
    """Bridges, publishers and subscribers. `schema`: one of SCHEMAS."""

    def __init__(self, folder: Path, stubs: Path) -> None:
        self._folder = folder
        self._stubs = stubs
        self._started: list[Process] = []

    def publisher(self) -> Program:
        return Program(self._server(self._program("publisher"), "ledger", "tcp://127.0.0.1:0"))

    def subscriber(self, address: str, ledgers: str = "*", schema: str = "ledger") -> Program:
        return Program(self._server(self._program("subscriber"), schema, address, ledgers))

    def into(self, engine: Engine, publishers: str, *options: str) -> Server:
        """A bridge that subscribes there, once it has said so."""
        return self._server(self._bridge("in", engine.url), "ledger", "--from", publishers, *options)

    def out_of(
        self, engine: Engine, *options: str, at: str = "tcp://127.0.0.1:0", schema: str = "ledger"
    ) -> Server:
        where = ("--listen", at, "--settle", "200")
        return self._server(self._bridge("out", engine.url, schema), "ledger", *where, *options)

    def refused(self, direction: str, url: str, *options: str) -> Process:
        """A bridge that is expected to end at once."""
        command = [*self._bridge(direction, url), *options]
        process = Process(command, dict(os.environ), self._errors())
        self._started.append(process)
        return process

    def close(self) -> None:
        for process in reversed(self._started):
            process.close()

    def _bridge(self, direction: str, url: str, schema: str = "ledger") -> list[str]:
        binary = BUILD / "mf-bridge"
        assert binary.is_file(), f"{binary} is missing: cmake --build --preset release --target mf-bridge"
        described = self._stubs / schema / "entries.topic"
        return [str(binary), direction, "--topic", str(described), "--engine", url]

    def _program(self, name: str) -> list[str]:
        return [sys.executable, str(HERE / "programs" / f"{name}.py")]

    def _server(self, command: list[str], schema: str, *arguments: str) -> Server:
        path = os.pathsep.join(map(str, (self._stubs / schema, ROOT / "runtime" / "python")))
        environment = os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        server = Server([*command, *arguments], environment, self._errors())
        self._started.append(server)
        return server

    def _errors(self) -> Path:
        return self._folder / f"{len(self._started)}.stderr"


@pytest.fixture(scope="session")
def stubs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of each schema a folder with its stubs and the description of its topic."""
    folder = tmp_path_factory.mktemp("bridges")
    for name, schema in SCHEMAS.items():
        outcome = compile_files([str(schema)], [], Targets(python=str(folder / name)))
        assert outcome.exit is Exit.OK, outcome.diagnostics
        program = check([str(schema)], []).program
        assert program is not None
        topic = program.module("ledgers").topics[0]
        (folder / name / "entries.topic").write_text(topic.descriptor + topic.annex)
    return folder


@pytest.fixture
def bridges(tmp_path: Path, stubs: Path) -> Iterator[Bridges]:
    started = Bridges(tmp_path, stubs)
    yield started
    started.close()


@pytest.fixture
def nats(tmp_path: Path) -> Iterator[Nats]:
    started = Nats(tmp_path)
    started.make_stream()
    yield started
    started.close()


@pytest.fixture
def kafka(tmp_path: Path) -> Iterator[Kafka]:
    started = Kafka(tmp_path)
    yield started
    started.close()


@pytest.fixture(params=["nats", "kafka"])
def engine(request: pytest.FixtureRequest) -> Engine:
    started: Engine = request.getfixturevalue(request.param)
    return started
