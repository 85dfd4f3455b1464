"""`make sbom`: the bill of materials of a release is one by the schema of CycloneDX, and names what the
programs load.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("MF_BUILD_DIR", ROOT / "build" / "release"))


def written(out: Path) -> str:
    subprocess.run([sys.executable, ROOT / "tools/sbom.py", BUILD, out], check=True, timeout=60)
    return out.read_text()


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    return written(tmp_path_factory.mktemp("sbom") / "sbom.cdx.json")


@pytest.fixture(scope="module")
def parts(text: str) -> dict[str, dict[str, Any]]:
    return {each["purl"].split("?")[0].rpartition("@")[0]: each for each in json.loads(text)["components"]}


def test_it_is_valid_by_the_schema(text: str) -> None:
    validator = JsonStrictValidator(SchemaVersion.V1_6)

    assert validator.validate_str(text) is None
    assert validator.validate_str(text.replace('"purl"', '"url"')) is not None


def test_it_names_our_own_packages_and_the_sums_of_the_programs(parts: dict[str, dict[str, Any]]) -> None:
    assert {"pkg:pypi/mfidl", "pkg:pypi/mf-runtime"} <= parts.keys()
    for name in ("mf-controller", "mf-relay", "mf-bridge"):
        [part] = parts[f"pkg:generic/{name}"]["hashes"]
        told = subprocess.run(["sha256sum", BUILD / name], capture_output=True, text=True, check=True).stdout
        assert part == {"alg": "SHA-256", "content": told.split()[0]}


def test_it_names_debians_packages_with_their_versions(parts: dict[str, dict[str, Any]]) -> None:
    headers = {"libboost1.81-dev", "libcli11-dev", "libtomlplusplus-dev"}
    wanted = {"libc6", "libssl3", "libstdc%2B%2B6", *headers}

    assert {f"pkg:deb/debian/{name}" for name in wanted} <= parts.keys()
    command = ["dpkg-query", "-W", "-f", "${Version}", "libssl3"]
    version = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert parts["pkg:deb/debian/libssl3"]["version"] == version


def test_it_names_what_the_compiler_needs_with_the_sums_of_the_index(
    parts: dict[str, dict[str, Any]],
) -> None:
    lock = (ROOT / "packaging/pip-core.lock").read_text()
    for name in ("antlr4-python3-runtime", "click", "jinja2", "markupsafe", "protobuf"):
        part = parts[f"pkg:pypi/{name}"]
        sums = [each["content"] for each in part["hashes"]]
        assert len(sums) >= 2
        assert all(each in lock for each in sums)


def test_everything_is_reached_from_the_release(text: str) -> None:
    bom = json.loads(text)
    needs = {each["ref"]: each.get("dependsOn", []) for each in bom["dependencies"]}
    reached = [bom["metadata"]["component"]["bom-ref"]]
    for each in reached:
        reached += [other for other in needs[each] if other not in reached]

    assert set(reached) == {"mf-idl", *(each["bom-ref"] for each in bom["components"])}


def test_it_is_the_same_when_it_is_written_again(text: str, tmp_path: Path) -> None:
    assert written(tmp_path / "again.json") == text
