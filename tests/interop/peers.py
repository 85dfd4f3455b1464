"""Real processes for tests: controllers, servers and clients in either language. None outlives its test.

Each leads a process group of its own, is killed with the test's process whatever happens, and every wait has
a bound. `peers` starts them; what they say on standard error is shown when something fails.
"""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mfidl.compiler import Exit, check
from mfidl.emit.output import EmitOptions
from mfidl.emit.python import generate

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = Path(os.environ.get("MF_BUILD_DIR", ROOT / "build" / "release"))
LANGUAGES = ("cpp", "python")
PATIENCE = 60.0
_LOOKS, _BETWEEN_LOOKS = 20, 0.05

Line = dict[str, Any]


class Process:
    def __init__(self, command: list[str], environment: dict[str, str], errors: Path) -> None:
        self._errors = errors
        self._rest = b""
        with errors.open("wb") as sink:
            self._process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "--", *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=sink,
                env=environment,
                start_new_session=True,
            )

    def line(self, patience: float = PATIENCE) -> str:
        """The next line of standard output."""
        assert self._process.stdout is not None
        descriptor, end = self._process.stdout.fileno(), time.monotonic() + patience
        readable = select.poll()  # select() would fail where a test has more than 1,024 descriptors
        readable.register(descriptor, select.POLLIN)
        while b"\n" not in self._rest:
            ready = readable.poll(1000 * max(0.0, end - time.monotonic()))
            data = os.read(descriptor, 1 << 16) if ready else b""
            if not data:
                pytest.fail(f"{'it ended' if ready else 'no answer in time'}; it said: {self.said()}")
            self._rest += data
        first, _, self._rest = self._rest.partition(b"\n")
        return first.decode()

    def tell(self, command: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(command.encode() + b"\n")
        self._process.stdin.flush()

    def answer(self, patience: float = PATIENCE) -> list[Line]:
        """The lines of the last command's answer."""
        lines: list[Line] = []
        while "done" not in (line := json.loads(self.line(patience))):
            lines.append(line)
        return lines

    def ask(self, command: str) -> list[Line]:
        self.tell(command)
        return self.answer()

    def said(self) -> str:
        """What is on standard error by now. A thread of the program writes its log, so that a line may come a
        moment after what it speaks of: while the program runs, this waits until nothing more comes."""
        text = self._on_standard_error()
        for _ in range(_LOOKS if self._process.poll() is None else 0):
            time.sleep(_BETWEEN_LOOKS)
            before, text = text, self._on_standard_error()
            if text == before:
                break
        return text

    def _on_standard_error(self) -> str:
        return self._errors.read_text(errors="backslashreplace")

    def output(self) -> str:
        """The rest of standard output, once it has ended."""
        assert self._process.stdout is not None
        return (self._rest + self._process.stdout.read()).decode()

    def cpu_seconds(self) -> float:
        """Processor time used so far."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_peak(self) -> int:
        """The most bytes that it had in memory so far."""
        lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM:"))

    def descriptors(self) -> int:
        """How many it has open."""
        return len(list(Path(f"/proc/{self._process.pid}/fd").iterdir()))

    def signal(self, number: signal.Signals) -> None:
        if self._process.poll() is not None:
            return  # it was waited for, and its number may be that of another test's process by now
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def freeze(self) -> None:
        """Stops it until SIGCONT; returns when none of its threads runs any more."""
        self.signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self._process.pid, os.WSTOPPED | os.WNOWAIT)

    def thaw(self) -> None:
        self.signal(signal.SIGCONT)

    def wait(self, patience: float = PATIENCE) -> int:
        """Its exit code."""
        return self._process.wait(patience)

    def end(self, patience: float = PATIENCE) -> None:
        """Ends its standard input, and waits until it has ended well."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self.wait(patience) == 0, self.said()

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self._process.wait(PATIENCE)

    def close(self) -> None:
        self.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()


class Server(Process):
    """`address` is known when it is made: it listens."""

    def __init__(self, command: list[str], environment: dict[str, str], errors: Path) -> None:
        super().__init__(command, environment, errors)
        try:
            self.address = self.line()
        except BaseException:
            self.close()  # the caller has nothing to close
            raise


class Peers:
    def __init__(self, folder: Path, stubs: Path) -> None:
        self._folder = folder
        self._stubs = stubs
        self._started: list[Process] = []

    def controller(self, port: int = 0, store: str = "memory:") -> Server:
        return self._server([*self.controller_command(store), "--listen", f"tcp://127.0.0.1:{port}"])

    def controller_at(self, listen: str, *arguments: str, store: str = "memory:") -> Server:
        return self._server([*self.controller_command(store), "--listen", listen, *arguments])

    def relay(self, controller: str, *arguments: str, listen: str = "tcp://127.0.0.1:0") -> Server:
        listens = ("--listen", listen, "--log-level", "warning")
        return self._server([_binary("mf-relay"), *listens, "--controller", controller, *arguments])

    def server(self, language: str, *arguments: str, descriptors: int = 0) -> Server:
        """`descriptors`: as many as it may have open; 0: as many as this process."""
        limited = ("prlimit", f"--nofile={descriptors}", "--") if descriptors else ()
        return self._server([*limited, *self.server_command(language), *arguments])

    def server_command(self, language: str) -> list[str]:
        return _program(language, "server")

    def controller_command(self, store: str = "memory:") -> list[str]:
        return [_binary("mf-controller"), "--store", store]

    def relay_command(self) -> list[str]:
        return [_binary("mf-relay")]

    def refused_server(self, command: list[str]) -> Process:
        """One that is expected to end at once."""
        return self._keep(Process(command, self._environment("interop"), self._errors()))

    def client(self, language: str, where: str, wait_for_server: float = 5.0) -> Process:
        command = [*_program(language, "client"), where, str(wait_for_server)]
        return self._keep(Process(command, self._environment("interop"), self._errors()))

    def finder_server(self, language: str, schema: str) -> Server:
        return self._server([*_finder(language, schema), "serve"], schema)

    def find(self, language: str, schema: str, address: str) -> list[Line]:
        """Calls a finder in every way, and returns how each has ended."""
        command = [*_finder(language, schema), "call", address]
        process = self._keep(Process(command, self._environment(schema), self._errors()))
        assert process.wait() == 0
        said = process.said().splitlines()
        assert all("schema_differs " in line for line in said), said  # as schemas of finders may
        return [json.loads(line) for line in process.output().splitlines()]

    def peer_server(self, language: str, schema: str) -> Server:
        return self._server([*_peer(language, schema), "serve"], schema)

    def peer(self, language: str, schema: str, *arguments: str) -> list[Line]:
        """What a caller of extending.mfidl or nesting.mfidl says: `call` and an address, or `local`."""
        command = [*_peer(language, schema), *arguments]
        process = self._keep(Process(command, self._environment(schema), self._errors()))
        assert (process.wait(), process.said()) == (0, "")
        return [json.loads(line) for line in process.output().splitlines()]

    def close(self) -> None:
        for process in reversed(self._started):
            process.close()

    def _server(self, command: list[str], schema: str = "interop") -> Server:
        server = Server(command, self._environment(schema), self._errors())
        self._started.append(server)
        return server

    def _keep(self, process: Process) -> Process:
        self._started.append(process)
        return process

    def _environment(self, schema: str) -> dict[str, str]:
        path = os.pathsep.join(map(str, (self._stubs / schema, ROOT / "runtime" / "python")))
        return os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}

    def _errors(self) -> Path:
        return self._folder / f"{len(self._started)}.stderr"


def _program(language: str, name: str) -> list[str]:
    if language == "cpp":
        return [_binary(f"tests/interop/interop-{name}")]
    return [sys.executable, str(HERE / "programs" / f"{name}.py")]


def _finder(language: str, schema: str) -> list[str]:
    if language == "cpp":
        return [_binary(f"tests/interop/interop-{schema.replace('_', '-')}")]
    return [sys.executable, str(HERE / "programs" / "finder_peer.py")]


def _peer(language: str, schema: str) -> list[str]:
    if language == "cpp":
        return [_binary(f"tests/interop/interop-{schema}")]
    return [sys.executable, str(HERE / "programs" / f"{schema}_peer.py")]


def _binary(name: str) -> str:
    binary = BUILD / name
    if not binary.is_file():
        pytest.fail(f"{binary} is missing: cmake --build --preset release --target interop")
    return str(binary)


def free_port() -> int:
    """A port at which no process listens now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def write_stubs(folder: Path) -> None:
    """The Python stubs of the schemas, each below a folder of its own."""
    schemas = {name: f"{name}.mfidl" for name in ("interop", "finder", "extending")}
    schemas["nesting"] = "../compiler/golden/cpp/nesting/schema/nesting.mfidl"
    schemas["other_finder"] = "other/finder.mfidl"
    for name, schema in schemas.items():
        outcome = check([str(HERE / schema)], [])
        assert outcome.exit is Exit.OK, outcome.diagnostics
        assert outcome.program is not None
        for file in generate(outcome.program, EmitOptions("", "0")):
            path = folder / name / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(file.text)


@pytest.fixture(scope="session")
def stubs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stubs")
    write_stubs(folder)
    return folder


@pytest.fixture
def peers(tmp_path: Path, stubs: Path) -> Iterator[Peers]:
    started = Peers(tmp_path, stubs)
    yield started
    started.close()
