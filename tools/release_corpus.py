"""Stores the generated code of a release: release_corpus.py [TAG]

The compiler of TAG (a git tag; without one, of this tree) compiles the schemas of its tests/releases. Its
output goes into tests/releases/stored/VERSION.tar.xz, with the programs that use it and what they print. The
tests compile and call it with each later runtime (docs/versions.md). Two calls write the same bytes.
"""

import io
import lzma
import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STORED = ROOT / "tests/releases/stored"
_PARTS = ("mfidl", "templates", "runtime/python", "tests/releases", "pyproject.toml")
_PROGRAMS = ("use.cpp", "use.py", "said.txt")


def main(tag: str | None) -> None:
    with tempfile.TemporaryDirectory(prefix="mf-release-") as folder:
        tree = ROOT if tag is None else _checked_out(tag, Path(folder, "tree"))
        target = STORED / f"{version(tree)}.tar.xz"
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(packed(generated(tree, Path(folder, "made"))))
    print(target)


def version(tree: Path) -> str:
    text: str = tomllib.loads((tree / "pyproject.toml").read_text())["project"]["version"]
    return text


def generated(tree: Path, out: Path) -> dict[str, bytes]:
    """What the compiler of `tree` makes of its schemas, in `cpp/` and `python/`, beside the programs."""
    releases = tree / "tests/releases"
    schema = releases / "schema"
    command = [sys.executable, "-m", "mfidl", "compile", "-I.", "depot.mfidl", "depot/parts.mfidl"]
    command += ["--cpp", str(out / "cpp"), "--python", str(out / "python")]
    env = {**os.environ, "PYTHONPATH": f"{tree}:{tree / 'runtime/python'}", "MFIDL_CACHE": ""}
    subprocess.run(command, cwd=schema, env=env, check=True)
    made = {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    files = {path: text for path, text in made.items() if not path.endswith(".mfidl-manifest.json")}
    return files | {name: (releases / name).read_bytes() for name in _PROGRAMS}


def packed(files: dict[str, bytes]) -> bytes:
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path, text in sorted(files.items()):
            entry = tarfile.TarInfo(path)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text))
    return lzma.compress(tar.getvalue(), preset=9)


def unpack(stored: Path, into: Path) -> None:
    with tarfile.open(stored, mode="r:xz") as archive:
        archive.extractall(into)


def _checked_out(tag: str, into: Path) -> Path:
    into.mkdir()
    archive = subprocess.run(["git", "archive", tag, *_PARTS], cwd=ROOT, capture_output=True, check=True)
    subprocess.run(["tar", "-x", "-C", str(into)], input=archive.stdout, check=True)
    return into


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
