"""find_package(mfidl) and mfidl_generate(), for a project elsewhere: it builds, runs, follows its schemas."""

import shutil
import sys
import time
from pathlib import Path

import pytest

from .conftest import Cmake

HERE = Path(__file__).parent


def project(folder: Path, text: str = "") -> Path:
    copy = folder / "a project"
    shutil.copytree(HERE / "consumer", copy)
    if text:
        (copy / "CMakeLists.txt").write_text(text)
    return copy


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    time.sleep(0.01)  # file systems count in ticks of some milliseconds
    path.write_text(text.replace(old, new))


def compiled(said: str) -> set[str]:
    """The sources that a build compiled."""
    objects = [line.rsplit("/", 1)[-1] for line in said.splitlines() if "Building CXX object" in line]
    return {name.removesuffix(".o") for name in objects}


ECHO = {"echo.cpp", "say.cpp"}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
def test_a_project_builds_runs_and_follows_its_schemas(
    tmp_path: Path, prefix: Path, cmake: type[Cmake], generator: str
) -> None:
    source = project(tmp_path)
    built = cmake(source, prefix, generator)
    plain = source / "schemas/plain.mfidl"

    assert compiled(built.build()) == {*ECHO, "plain.cpp", "bolt.cpp", "spare.cpp"}
    assert built.run("echo") == "hi! 2\n"
    assert built.run("plain") == "bolt 3\n"
    assert (source / "build/python/echo/__init__.py").exists()
    assert compiled(built.build()) == set()

    # What generates the same files rebuilds nothing, and is not asked again.
    edit(plain, "module plain;", "module plain;  // a remark")
    assert "from its schemas" in built.build() or generator != "Ninja"
    assert "from its schemas" not in built.build()

    # Only what includes the changed file: nothing of the service is in bolt.cpp.
    if generator == "Ninja":  # g++ is not asked for all of it twice
        edit(source / "schemas/echo.mfidl", "say(item", "say(thing")
        assert compiled(built.build()) == ECHO
        assert built.run("echo") == "hi! 2\n"

    # A mistake in an import stops the build with the compiler's words, and mending it is enough.
    edit(plain, "string", "strin")
    refused = built.build(fails=True)
    assert "unknown type `strin`" in refused
    assert "help: did you mean `string`?" in refused
    edit(plain, "strin;", "string;")
    assert compiled(built.build()) == set()

    # Other files than before, in one build; and without them again.
    spare = source / "schemas/spare.mfidl"
    edit(spare, "struct Part", "service Shop { open(); }\nstruct Part")
    assert compiled(built.build()) >= {"spare.cpp"}
    edit(spare, "service Shop { open(); }\n", "")
    built.build()
    assert not (source / "build/plain_types.mfidl/spare.client.hpp").exists()
    assert compiled(built.build()) == set()
    assert built.run("plain") == "bolt 3\n"


def test_types_and_codecs_alone_need_no_boost_threads_or_openssl(
    tmp_path: Path, prefix: Path, cmake: type[Cmake]
) -> None:
    text = (HERE / "consumer/CMakeLists.txt").read_text()
    without = (
        "set(COMPONENTS codec)\nset(CMAKE_DISABLE_FIND_PACKAGE_Threads ON)\n"
        "set(CMAKE_DISABLE_FIND_PACKAGE_OpenSSL ON)\nfind_package(mfidl"
    )
    source = project(tmp_path, text.replace("find_package(mfidl", without, 1))
    built = cmake(source, prefix, "Unix Makefiles")
    built.build()

    assert built.run("plain") == "bolt 3\n"
    rules = [path.read_text() for path in source.glob("build/**/*.d")]
    assert any("mf/codec" in rule for rule in rules)
    assert not any("boost" in rule for rule in rules)


def test_a_target_that_is_there_gets_the_code_and_any_folder_may_ask(
    tmp_path: Path, prefix: Path, cmake: type[Cmake]
) -> None:
    source = project(tmp_path, "cmake_minimum_required(VERSION 3.16)\nproject(top CXX)\n")
    for folder in ("one", "two"):
        (source / folder).mkdir()
        with (source / "CMakeLists.txt").open("a") as text:
            text.write(f"add_subdirectory({folder})\n")
        (source / folder / "CMakeLists.txt").write_text(
            f"find_package(mfidl REQUIRED COMPONENTS codec)\nadd_executable({folder} ../bolt.cpp)\n"
            f"mfidl_generate(TARGET {folder} FILES ../schemas/plain.mfidl)\n"
        )
    built = cmake(source, prefix, "Ninja")
    built.build()

    assert built.run("one/one") == built.run("two/two") == "bolt 3\n"


def test_without_mfidlc_the_module_of_a_python_is_called(
    tmp_path: Path, prefix: Path, cmake: type[Cmake], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    options = ("-DMFIDLC=MFIDLC-NOTFOUND", f"-DPython3_EXECUTABLE={sys.executable}", "-DCOMPONENTS=codec")
    built = cmake(project(tmp_path), prefix, "Ninja", *options)

    assert (built.build_dir / "plain_types.mfidl/plain.hpp").exists()


def test_a_compiler_of_another_version_is_told(tmp_path: Path, prefix: Path, cmake: type[Cmake]) -> None:
    fake = tmp_path / "mfidlc"
    fake.write_text("#!/bin/sh\necho mfidlc 7.0\n")
    fake.chmod(0o755)

    with pytest.raises(AssertionError) as failure:
        cmake(project(tmp_path), prefix, "Ninja", f"-DMFIDLC={fake}")
    said = " ".join(str(failure.value).split())
    assert 'the compiler is "mfidlc 7.0"' in said


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("COMPONENTS ${COMPONENTS}", "COMPONENTS codek", "mfidl has no component codek"),
        ("mfidl 0.1", "mfidl 9.1", "compatible"),
        ("FILES schemas/plain.mfidl schemas/spare.mfidl", "", "usage: mfidl_generate(TARGET name FILES"),
    ],
)
def test_a_wrong_use_is_told(
    tmp_path: Path, prefix: Path, cmake: type[Cmake], old: str, new: str, said: str
) -> None:
    text = (HERE / "consumer/CMakeLists.txt").read_text()
    assert old in text
    source = project(tmp_path, text.replace(old, new, 1))

    with pytest.raises(AssertionError) as failure:
        cmake(source, prefix, "Ninja")
    assert said in " ".join(str(failure.value).split())
