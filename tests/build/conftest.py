"""The install tree that projects of users build against: made once, of what MF_BUILD_DIR holds."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    build = os.environ.get("MF_BUILD_DIR", str(ROOT / "build/release"))
    folder = tmp_path_factory.mktemp("install") / "a prefix"
    command = ["cmake", "--install", build, "--prefix", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, (
        f"{done.stderr}build it first: cmake --preset release && cmake --build --preset release"
    )
    return folder


class Cmake:
    """A project of a user's: its own linker, no flags of ours, and ccache only to make the tests quick."""

    def __init__(self, source: Path, prefix: Path, generator: str, *options: str) -> None:
        self.source = source
        self.build_dir = source / "build"
        self.configured = self._run(
            "cmake",
            *("-G", generator, "-S", str(source), "-B", str(self.build_dir)),
            f"-DCMAKE_PREFIX_PATH={prefix}",
            f"-DMFIDLC={Path(sys.executable).with_name('mfidlc')}",
            "-DCMAKE_BUILD_TYPE=Debug",
            "-DCMAKE_CXX_FLAGS_DEBUG=-O0 -Wall -Wextra -Wconversion -Werror",
            *options,
        )

    def build(self, *, fails: bool = False) -> str:
        return self._run("cmake", "--build", str(self.build_dir), "-j", "2", fails=fails)

    def run(self, program: str, *arguments: str) -> str:
        """Its standard output: the log goes to standard error."""
        return self._done(str(self.build_dir / program), *arguments).stdout

    def _run(self, *command: str, fails: bool = False) -> str:
        done = self._done(*command, fails=fails)
        return done.stdout + done.stderr

    def _done(self, *command: str, fails: bool = False) -> "subprocess.CompletedProcess[str]":
        env = dict(os.environ)
        env.setdefault("CMAKE_CXX_COMPILER_LAUNCHER", "ccache" if _has_ccache() else "")
        done = subprocess.run(
            command, cwd=self.source, env=env, capture_output=True, text=True, timeout=250, check=False
        )
        assert (done.returncode != 0) == fails, done.stdout + done.stderr
        return done


def _has_ccache() -> bool:
    return any(os.access(Path(folder, "ccache"), os.X_OK) for folder in os.get_exec_path())


@pytest.fixture(scope="session")
def cmake() -> type[Cmake]:
    return Cmake
