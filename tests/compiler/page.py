"""A page of docs/, followed from top to bottom: its schema is compiled, and its programs run beside it."""

import os
import re
import subprocess
import sys
from pathlib import Path

from mfidl.compiler import check
from mfidl.emit import cpp
from mfidl.emit.output import EmitOptions
from mfidl.emit.python import generate
from tests.compiler.cpp import ROOT
from tests.mypy import mypy_cache

_BLOCK = re.compile(r"^```([\w -]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LIBRARIES = ("mf_runtime", "mf_protocol", "mf_asio", "mf_core")


class Page:
    """`folder` gets the modules of the page's schema, `words.mfidl`, and its programs."""

    def __init__(self, name: str, folder: Path) -> None:
        self._text = (ROOT / "docs" / name).read_text()
        self._folder = folder
        (folder / "words.mfidl").write_text(self.blocks("mfidl"))
        outcome = check([str(folder / "words.mfidl")], [str(folder)])
        assert outcome.program is not None, outcome.diagnostics
        options = EmitOptions("", "0")
        for each in (*generate(outcome.program, options), *cpp.generate(outcome.program, options)):
            (folder / each.path).parent.mkdir(parents=True, exist_ok=True)
            (folder / each.path).write_text(each.text)

    def blocks(self, language: str) -> str:
        """All blocks with this word behind their fence, as one text; with none, what programs print."""
        return "\n\n".join(text for which, text in _BLOCK.findall(self._text) if which == language)

    def prints(self, language: str, output: str) -> None:
        """Runs the program that the blocks of one word are, and compares it with those of another."""
        done = self._run(str(self._program(language)))
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == self.blocks(output)

    def prints_in_cpp(self, language: str, output: str, build: Path) -> None:
        """Compiles the program that the blocks of one word are, with the libraries of a build, and compares
        what it prints with those of another."""
        source, program = self._folder / "of_the_page.cpp", self._folder / "of_the_page"
        source.write_text(self.blocks(language))
        libraries = [str(build / f"lib{each}.a") for each in _LIBRARIES]
        generated = sorted(str(each) for each in self._folder.glob("words*.cpp"))
        command = ["g++", "-std=c++20", "-Wall", "-Wextra", "-Wconversion", "-Werror", f"-I{self._folder}"]
        command += [
            f"-I{ROOT / 'runtime/cpp/include'}",
            "-o",
            str(program),
            str(source),
            *generated,
            *libraries,
        ]
        command += ["-lssl", "-lcrypto", "-lpthread"]
        made = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert made.returncode == 0, made.stderr
        done = subprocess.run([str(program)], capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stdout) == (0, self.blocks(output)), done.stderr

    def passes_mypy_strict(self, language: str) -> None:
        program = str(self._program(language))
        done = self._run("-m", "mypy", "--strict", "--config-file=", "--cache-dir", mypy_cache(), program)
        assert done.returncode == 0, done.stdout + done.stderr

    def _program(self, language: str) -> Path:
        program = self._folder / f"{language.replace(' ', '_')}_of_the_page.py"
        program.write_text(self.blocks(language))
        return program

    def _run(self, *command: str) -> "subprocess.CompletedProcess[str]":
        path = f"{self._folder}:{ROOT / 'runtime/python'}"
        all_paths = f"{path}:{os.environ.get('PYTHONPATH', '')}"
        return subprocess.run(
            [sys.executable, *command],
            env={"PYTHONPATH": all_paths, "MYPYPATH": path, "PATH": "/usr/bin"},
            cwd=self._folder,
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )
