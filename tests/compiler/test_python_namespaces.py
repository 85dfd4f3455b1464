"""Packages above a module are namespace packages: each of them may have parts in several folders."""

import json
import subprocess
import sys
from pathlib import Path

from mfidl.compiler import Exit, Targets, compile_files
from mfidl.places import MANIFEST

ROOT = Path(__file__).parents[2]


def compiled(folder: Path, module: str, prefix: str = "") -> Path:
    """The output folder of a schema."""
    schema = folder / f"{module}.mfidl"
    schema.write_text(f"module {module};\nstruct Hit {{ doc: u32; }}\n")
    out = folder / f"out_{module.replace('.', '_')}"
    outcome = compile_files([str(schema)], [], Targets(python=str(out), python_package=prefix))
    assert outcome.exit is Exit.OK, [each.message for each in outcome.diagnostics]
    return out


def run(text: str, *folders: Path) -> str:
    path = ":".join(map(str, (ROOT / "runtime/python", *folders)))
    done = subprocess.run(
        [sys.executable, "-c", text],
        env={"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_modules_of_one_package_are_imported_from_two_folders(tmp_path: Path) -> None:
    folders = compiled(tmp_path, "acme.users"), compiled(tmp_path, "acme.search")
    assert run("import acme.users, acme.search; print(acme.search.Hit(1))", *folders) == "Hit(doc=1)\n"


def test_a_module_hides_nothing_of_a_namespace_that_others_have_parts_of(tmp_path: Path) -> None:
    out = compiled(tmp_path, "google.hits")
    text = "import google.hits, google.protobuf.message; print(google.hits.Hit(1))"
    assert run(text, out) == "Hit(doc=1)\n"


def test_type_checkers_find_the_mark_in_each_package_that_is_one(tmp_path: Path) -> None:
    out = compiled(tmp_path, "acme.users")
    assert (out / "acme/users/py.typed").exists()
    assert not (out / "acme/__init__.py").exists()


def test_files_that_an_earlier_compiler_put_above_the_module_go(tmp_path: Path) -> None:
    above = ["acme/__init__.py", "acme/py.typed"]
    out = tmp_path / "out_acme_users"
    (out / "acme").mkdir(parents=True)
    for path in above:
        (out / path).write_text("")
    files = {path: ["python acme.users"] for path in above}
    (out / MANIFEST).write_text(json.dumps({"version": 2, "files": files}))
    assert compiled(tmp_path, "acme.users") == out
    assert [path for path in above if (out / path).exists()] == []
    assert (out / "acme/users/__init__.py").exists()


def test_packages_of_a_prefix_are_the_programs_own(tmp_path: Path) -> None:
    out = compiled(tmp_path, "acme.users", "shop.generated")
    made = sorted(str(each.relative_to(out)) for each in out.rglob("__init__.py"))
    assert made == ["shop/__init__.py", "shop/generated/__init__.py", "shop/generated/acme/users/__init__.py"]
    assert (out / "shop/py.typed").exists()
