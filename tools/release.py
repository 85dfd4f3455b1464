"""Completes a release: release.py DIST, after the packages are there (`make release`).

    NOTES.md      what CHANGELOG.md says of the version
    SHA256SUMS    of all files, for `sha256sum -c`

Refuses a version that is tagged already, a tree with changes that are not committed, packages that are
missing or of another version, and generated code that is not stored for the tests of later releases.
"""

import hashlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tools.release_corpus import ROOT, STORED, generated, packed, version

_PURE = ("mfidl", "mf_runtime", "mfidl_tools")  # distributions for any machine
_BILL = "mf-idl.cdx.json"
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)


class RefusedError(Exception):
    """There is no release; the text says why, and what to do."""


def main(dist: Path) -> None:
    number = version(ROOT)
    check_tree(
        number, said("git", "status", "--porcelain"), said("git", "tag", "--points-at", "HEAD"), tags()
    )
    check_stored(number)
    check_files(dist, number)
    (dist / "NOTES.md").write_text(notes((ROOT / "CHANGELOG.md").read_text(), number))
    (dist / "SHA256SUMS").write_text(sums(dist))


def check_tree(number: str, changed: str, here: str, all_tags: Sequence[str]) -> None:
    if changed:
        raise RefusedError(f"the tree has changes that are not committed: git stash -u\n{changed}")
    if f"v{number}" in all_tags and f"v{number}" not in here.split():
        raise RefusedError(
            f"{number} was released, at the tag v{number}: raise the version (docs/versions.md)"
        )


def check_stored(number: str) -> None:
    stored = STORED / f"{number}.tar.xz"
    with tempfile.TemporaryDirectory(prefix="mf-release-") as folder:
        made = packed(generated(ROOT, Path(folder, "made")))
    if not stored.exists() or stored.read_bytes() != made:
        raise RefusedError(
            f"{stored.relative_to(ROOT)} is not what this compiler makes: python -m tools.release_corpus,"
            " and commit it"
        )


def check_files(dist: Path, number: str) -> None:
    wanted = [f"{name}-{number}.tar.gz" for name in (*_PURE, "mf_controller", "mf_runtime_native")]
    wanted += [f"{name}-{number}-py3-none-any.whl" for name in _PURE]
    wanted += [f"mf_controller-{number}-py3-none-*_{machine}.whl" for machine in ("x86_64", "aarch64")]
    # One for each Python that `make wheels` finds: Debian 12 has 3.11.
    native = [f"mf_runtime_native-{number}-cp{minor}-*.whl" for minor in ("311", "312", "313")]
    wanted += [pattern for pattern in native if "cp311" in pattern or any(dist.glob(pattern))]
    wanted += [f"{name}_{number}_*.deb" for name in ("libmf-dev", "mfidlc", "mf-controller")]
    for pattern in (*wanted, _BILL):
        if len(list(dist.glob(pattern))) != 1:
            raise RefusedError(f"{dist} has not one {pattern}: make release")
    strays = [path.name for path in dist.iterdir() if not any(path.match(each) for each in (*wanted, *_OWN))]
    if strays:
        raise RefusedError(f"{dist} has {', '.join(sorted(strays))} besides the release: remove them")


_OWN = (_BILL, "NOTES.md", "SHA256SUMS")


def notes(changelog: str, number: str) -> str:
    """The section of the version, and while it is unreleased what is listed under `Unreleased`."""
    _, *parts = _HEADING.split(changelog)
    sections = list(zip(parts[::2], parts[1::2], strict=True))
    own = [text for heading, text in sections if heading.split()[0] == number]
    if not own:
        raise RefusedError(f"CHANGELOG.md has no heading `## {number}`: put it below `## Unreleased`")
    if f"{number} (unreleased)" in [heading for heading, _ in sections]:
        own = [text for heading, text in sections if heading == "Unreleased"] + own
    text = "\n\n".join(text.strip() for text in own if text.strip())
    return f"# MF/IDL {number}\n\n{text}\n"


def sums(dist: Path) -> str:
    paths = sorted(path for path in dist.iterdir() if path.name != "SHA256SUMS")
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in paths)


def tags() -> list[str]:
    return said("git", "tag").split()


def said(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except RefusedError as refused:
        sys.exit(f"release: {refused}")
