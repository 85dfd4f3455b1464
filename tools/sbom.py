"""Writes the bill of materials of a release, in CycloneDX 1.6: sbom.py BUILD OUT

    own        mfidl, mf-runtime, mfidl-tools, and the programs of the build
    C++        the Debian packages that the programs load, and those whose headers are compiled into them
    Python     what the compiler and the tool need, with the sums of their files (packaging/pip-*.lock)

Two calls for one commit and one set of packages write the same bytes.
"""

import re
import subprocess
import sys
import tomllib
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = ("mf-controller", "mf-relay", "mf-bridge")
HEADERS = (
    "libboost1.81-dev",
    "libcli11-dev",
    "libtomlplusplus-dev",
)  # compiled into the programs, which then load nothing of them
PYTHON = {
    "mfidl": (".", ("MarkupSafe",)),
    "mfidl-tools": ("cli", ("markdown-it-py", "mdurl", "Pygments", "cffi", "pycparser")),
}
"""Distributions that need others of the index: their folders, and what these need in turn."""
_NAMESPACE = uuid.UUID("6f0e3a1e-2a0d-5c63-9a0e-6d66692d6964")
_LOADED = re.compile(r"=> (/\S+)")
_LOCKED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)((?:[^\n]*\\\n)*[^\n]*)", re.MULTILINE)


def main(build: Path, out: Path) -> None:
    bom = Bom()
    bom.metadata.timestamp = datetime.fromtimestamp(int(_said("git", "log", "-1", "--format=%ct")), UTC)
    root = Component(
        name="mf-idl", version=_version("mfidl"), type=ComponentType.APPLICATION, bom_ref="mf-idl"
    )
    bom.metadata.component = root
    own = list(_own(build))
    debian = list(_debian(build))
    python = {name: list(_python(folder, more)) for name, (folder, more) in PYTHON.items()}
    for each in {_key(each): each for each in (*own, *debian, *chain(*python.values()))}.values():
        bom.components.add(each)
    bom.register_dependency(root, own)
    for each in own:
        needs = debian if each.type is ComponentType.APPLICATION else python.get(each.name, [])
        bom.register_dependency(each, needs)
    bom.serial_number = uuid.uuid5(
        _NAMESPACE, _said("git", "rev-parse", "HEAD") + "".join(sorted(map(_key, bom.components)))
    )
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(JsonV1Dot6(bom).output_as_string(indent=1) + "\n")


def _own(build: Path) -> Iterator[Component]:
    for name in ("mfidl", "mf-runtime", "mfidl-tools"):
        purl = PackageURL("pypi", None, name, _version(name))
        yield _component(purl, ComponentType.LIBRARY, "Apache-2.0", [])
    for name in PROGRAMS:
        sha = _said("sha256sum", str(build / name)).split()[0]
        purl = PackageURL("generic", None, name, _version("mfidl"))
        yield _component(purl, ComponentType.APPLICATION, "Apache-2.0", [sha])


def _debian(build: Path) -> Iterator[Component]:
    loaded = {found for name in PROGRAMS for found in _LOADED.findall(_said("ldd", str(build / name)))}
    names = {_package(path) for path in loaded} | set(HEADERS)
    for name in sorted(names):
        version, arch = _said("dpkg-query", "-W", "-f", "${Version} ${Architecture}", name).split()
        plain = name.partition(":")[0]
        yield _component(
            PackageURL("deb", "debian", plain, version, {"arch": arch}), ComponentType.LIBRARY, "", []
        )


def _package(path: str) -> str:
    """The package that a library is of; the linker may find it by a link of /lib to /usr/lib."""
    for name in (path, str(Path(path).resolve()), path.removeprefix("/usr")):
        done = subprocess.run(["dpkg", "-S", name], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.partition(": ")[0].split(", ")[0]
    sys.exit(f"sbom: no Debian package has {path}")


def _python(folder: str, more: tuple[str, ...]) -> Iterator[Component]:
    """What a distribution needs, and `more`, which that needs."""
    locked = {
        _spelled(found[1]): found
        for lock in ("test", "core")
        for found in _LOCKED.finditer((ROOT / f"packaging/pip-{lock}.lock").read_text())
    }
    needs = tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]["dependencies"]
    for name in (*(re.split(r"[<>=!~ ]", each)[0] for each in needs), *more):
        if name == "mf-runtime":
            continue  # our own
        found = locked[_spelled(name)]
        sums = re.findall(r"sha256:([0-9a-f]{64})", found[3])
        yield _component(PackageURL("pypi", None, _spelled(name), found[2]), ComponentType.LIBRARY, "", sums)


def _component(purl: PackageURL, kind: ComponentType, licence: str, sums: list[str]) -> Component:
    """`sums`: of each file that there is of this version."""
    return Component(
        name=purl.name,
        version=purl.version,
        type=kind,
        purl=purl,
        bom_ref=str(purl),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=each) for each in sums],
        licenses=[LicenseExpression(licence)] if licence else [],
    )


def _key(component: Component) -> str:
    return f"{component.purl} {sorted(each.content for each in component.hashes)}"


def _version(package: str) -> str:
    folder = ROOT / {"mfidl": ".", "mfidl-tools": "cli"}.get(package, "runtime/python")
    version: str = tomllib.loads((folder / "pyproject.toml").read_text())["project"]["version"]
    return version


def _spelled(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


def _said(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"sbom: {' '.join(command)}: {done.stderr.strip()}")
    return done.stdout.strip()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
