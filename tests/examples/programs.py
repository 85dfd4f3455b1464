"""An example's programs, as its README starts them: built ones of C++, sources of Python."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_BUILT = Path(os.environ.get("MF_BUILD_DIR", _ROOT / "build/release"))
LANGUAGES = ("C++", "Python")


class Example:
    """Of a folder of examples/, with its server and client in C++ called STEM-server and STEM-client."""

    def __init__(self, folder: str, stem: str = "") -> None:
        self.folder = _ROOT / "examples" / folder
        self.built = _BUILT / "examples" / folder
        self.path = (self.built / "python", self.folder, _ROOT / "runtime/python")
        self.environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, self.path))}
        self._stem = stem

    def program(self, name: str, language: str) -> list[str]:
        if language == "C++":
            return [str(self.built / f"{self._stem}-{name}")]
        return [sys.executable, str(self.folder / f"{name}.py")]

    @contextmanager
    def serving(self, language: str) -> Iterator[str]:
        """The address of a server, which must end well on SIGTERM."""
        command = [*self.program("server", language), "tcp://127.0.0.1:0"]
        server = subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            server.terminate()
            try:
                assert server.wait(timeout=10) == 0
            finally:
                server.kill()
                server.communicate()

    def run(self, command: Sequence[str], seconds: float = 60) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=seconds, check=False
        )
