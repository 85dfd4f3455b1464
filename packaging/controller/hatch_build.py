"""The build hook of the wheel `mf-controller`: CMake builds the programs, which the wheel carries as scripts.

The wheel fits every Python 3 and each Linux whose glibc has the symbols that the programs use: nothing else
is linked dynamically. The build folder is `build/wheel`, so that a second build compiles only what changed.
MF_MACHINE=aarch64 builds for 64-bit Arm on another machine, in a folder of its own (tools/wheel_aarch64).
"""

import os
import platform
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_PROGRAMS = ("mf-controller", "mf-relay", "mf-bridge")
_NEEDED = {
    "cmake": "CMake 3.25 or newer (Debian: apt-get install cmake)",
    "ninja": "Ninja (Debian: apt-get install ninja-build)",
    "c++": "a C++20 compiler (Debian: apt-get install g++)",
}
_MACHINE = os.environ.get("MF_MACHINE") or platform.machine()
_OLDEST = 17  # manylinux_2_17, the oldest tag that pip and auditwheel know


class ProgramsBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Builds the programs before hatchling makes the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        self._folder = tempfile.TemporaryDirectory(prefix="mf-controller-")
        self._build(Path(self._folder.name))
        programs = {name: Path(self._folder.name, "bin", name) for name in _PROGRAMS}
        build_data["shared_scripts"].update({str(path): name for name, path in programs.items()})
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_tag(programs.values())}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    _folder: "tempfile.TemporaryDirectory[str] | None" = None

    def _build(self, prefix: Path) -> None:
        for program, what in _NEEDED.items():
            if shutil.which(program) is None:
                self.app.abort(f"mf-controller: {program} was not found; building from source needs {what}")
        tree = Path(self.root)
        if not (tree / "CMakeLists.txt").exists():  # a clone, and no source distribution
            tree = tree.parents[1]
        build, cross = str(tree / "build/wheel"), []
        if platform.machine() != _MACHINE:
            build += f"-{_MACHINE}"
            cross = ["--toolchain", str(tree / f"cmake/{_MACHINE}.cmake")]
        self._run(tree, "cmake", "--preset", "wheel", "-B", build, "--log-level=WARNING", *cross)
        self._run(tree, "cmake", "--build", build, "--target", *_PROGRAMS)
        self._run(
            tree, "cmake", "--install", build, "--component", "controller", "--strip", "--prefix", str(prefix)
        )

    def _run(self, folder: Path, *command: str) -> None:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            self.app.display_error(done.stdout + done.stderr)
            self.app.abort(f"mf-controller: `{' '.join(command)}` failed; its output is above")


def platform_tag(programs: Any) -> str:
    """The tag of the oldest glibc that has the symbols which these programs use."""
    newest = max(
        int(minor) for path in programs for minor in re.findall(rb"GLIBC_2\.(\d+)\0", path.read_bytes())
    )
    return f"manylinux_2_{max(newest, _OLDEST)}_{_MACHINE}"
