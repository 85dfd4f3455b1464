"""The recipes of other package managers fit the tree: versions, files, libraries and options."""

import ast
import json
import re
import subprocess
from pathlib import Path

from tools.release_corpus import version

ROOT = Path(__file__).resolve().parents[2]
CONAN = ROOT / "packaging/conan/conanfile.py"
VCPKG = ROOT / "packaging/vcpkg/mfidl"
DOCKERFILE = (ROOT / "packaging/docker/Dockerfile").read_text()
CMAKE = (ROOT / "CMakeLists.txt").read_text()

# What vcpkg has for a port, here with their arguments printed.
STUBS = """
set(VERSION 9.8.7)
set(CURRENT_PACKAGES_DIR "{packages}")
foreach(name IN ITEMS vcpkg_check_linkage vcpkg_cmake_configure vcpkg_cmake_install vcpkg_cmake_config_fixup
    vcpkg_fixup_pkgconfig vcpkg_copy_tools vcpkg_install_copyright)
  cmake_language(EVAL CODE "macro(${{name}})\\n message(STATUS \\"${{name}} \\${{ARGV}}\\")\\n endmacro()")
endforeach()
include("{port}")
"""


def constant(name: str) -> object:
    """What the recipe of Conan has under a name, in its class or beside it."""
    for node in ast.walk(ast.parse(CONAN.read_text())):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and node.targets[0].id == name
        ):
            return ast.literal_eval(node.value)
    raise AssertionError(name)


def test_all_have_the_version_of_the_tree() -> None:
    versions = {constant("version"), json.loads((VCPKG / "vcpkg.json").read_text())["version"]}
    texts = [CONAN.read_text(), (VCPKG / "portfile.cmake").read_text()]
    versions |= {found for text in texts for found in re.findall(r"pip install mfidl==([\d.]+)", text)}

    assert versions == {version(ROOT)}


def test_conan_exports_what_there_is_and_names_the_libraries_in_the_order_of_pkg_config() -> None:
    patterns = constant("_TREE")
    assert isinstance(patterns, tuple)
    assert [each for each in patterns if not list(ROOT.glob(each))] == []
    (linked,) = re.findall(r'set\(MF_LIBRARIES "(.*)"\)', (ROOT / "cmake/install.cmake").read_text())
    libraries = constant("_LIBRARIES")
    assert isinstance(libraries, tuple)
    assert re.findall(r"-l(mf_\w+)", linked) == list(libraries)


def test_recipes_set_options_that_the_tree_has() -> None:
    texts = CONAN.read_text() + (VCPKG / "portfile.cmake").read_text()
    known = CMAKE + "".join(path.read_text() for path in (ROOT / "cmake").glob("*.cmake"))

    options = set(re.findall(r"\bMF_[A-Z_]+", texts))
    assert {"MF_PRODUCT_ONLY", "MF_UNITY"} <= options
    assert [each for each in options if each not in known] == []


def ported(tmp_path: Path, path: str) -> "subprocess.CompletedProcess[str]":
    text = STUBS.format(packages=tmp_path / "packages", port=VCPKG / "portfile.cmake")
    (tmp_path / "run.cmake").write_text(text)
    command = ["/usr/bin/cmake", "-P", str(tmp_path / "run.cmake")]
    return subprocess.run(
        command, env={"PATH": path}, capture_output=True, text=True, check=False, timeout=30
    )


def test_the_port_of_vcpkg_builds_the_tree_that_it_is_in(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/mfidlc").write_text("#!/bin/sh\n")
    (tmp_path / "bin/mfidlc").chmod(0o755)
    done = ported(tmp_path, str(tmp_path / "bin"))

    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    [configure] = [line for line in lines if "vcpkg_cmake_configure" in line]
    assert f"SOURCE_PATH;{ROOT};OPTIONS;-DMF_PRODUCT_ONLY=ON" in configure
    assert f"-DMFIDLC={tmp_path}/bin/mfidlc" in configure
    assert f"-- vcpkg_install_copyright FILE_LIST;{ROOT}/LICENSE" in lines


def test_the_port_of_vcpkg_says_what_it_lacks(tmp_path: Path) -> None:
    done = ported(tmp_path, str(tmp_path))

    assert done.returncode != 0
    assert "mfidlc was not found: pip install mfidl==9.8.7" in done.stderr


def test_the_image_is_made_of_what_there_is() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    assert [path for line in copied for path in line.split() if not (ROOT / path).exists()] == []
    presets = json.loads((ROOT / "CMakePresets.json").read_text())
    assert set(re.findall(r"--preset (\w+)", DOCKERFILE)) <= {
        each["name"] for each in presets["buildPresets"]
    }
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert not {path.split("/")[0] for line in copied for path in line.split()} & set(ignored)
