"""What `make wheels` and `make debs` have put into dist/, and the packages of others that the wheels need."""

import platform
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "dist"
INDEX_ONLY = ["antlr4-python3-runtime", "click", "cryptography", "hatchling", "jinja2", "protobuf", "pytest"]
INDEX_ONLY += ["rich"]  # of the tool, as cryptography
INDEX_ONLY += ["scikit-build-core"]  # builds the native codec from its source distribution


def run(
    *command: str, cwd: Path | None = None, env: dict[str, str] | None = None, timeout: float = 250
) -> str:
    done = subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, text=True, timeout=timeout, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def wheels() -> dict[str, Path]:
    """Each wheel that this machine can install, by the name of its distribution."""
    mine = [path for path in DIST.glob("*.whl") if path.stem.endswith(("-any", platform.machine()))]
    found = {path.name.split("-")[0].replace("_", "-"): path for path in mine}
    assert sorted(found) == [
        "mf-controller",
        "mf-runtime",
        "mf-runtime-native",
        "mfidl",
        "mfidl-tools",
    ], "run `make wheels` first"
    return found


@pytest.fixture(scope="session")
def needed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the wheels need of the package index."""
    folder = tmp_path_factory.mktemp("needed")
    pins = ROOT / "packaging"
    constraints = [
        word for each in ("core", "package", "test") for word in ("-c", str(pins / f"pip-{each}.txt"))
    ]
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "download",
        "-q",
        "--only-binary",
        ":all:",
    ]
    run(*pip, *constraints, "-d", str(folder), *INDEX_ONLY)
    return folder


class Environment:
    """A virtual environment that installs from the wheels, without an index, and without this tree."""

    def __init__(self, folder: Path, wheels: Path, needed: Path) -> None:
        run(sys.executable, "-m", "venv", str(folder))
        self._bin = folder / "bin"
        self._env = {
            "PATH": f"{self._bin}:/usr/bin:/bin",
            "HOME": str(folder),
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": f"{wheels} {needed}",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }

    def run(self, *command: str, cwd: Path | None = None) -> str:
        return run(str(self._bin / command[0]), *command[1:], cwd=cwd, env=self._env)

    def start(self, *command: str) -> "subprocess.Popen[str]":
        program = str(self._bin / command[0])
        return subprocess.Popen([program, *command[1:]], env=self._env, stdout=subprocess.PIPE, text=True)


@pytest.fixture
def environment(tmp_path: Path, wheels: dict[str, Path], needed: Path) -> Environment:
    assert wheels
    return Environment(tmp_path / "venv", DIST, needed)


@pytest.fixture(scope="session")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree that `cmake --install` makes of the product alone."""
    build = ROOT / "build/install"
    assert build.is_dir(), "run `make debs` first"
    folder = tmp_path_factory.mktemp("install") / "a prefix"
    run("cmake", "--install", str(build), "--prefix", str(folder))
    return folder
