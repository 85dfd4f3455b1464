"""mfidl.importer: `import` compiles schemas, shows their mistakes, and follows their edits."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = "module sf1.text;\nstruct Document { title: string; }\n"
SEARCH = """\
module sf1.search;
import "sf1/text.mfidl";
struct Hit { document: sf1.text.Document; score: f32; }
service Index { find(words: string) -> list<Hit>; }
"""


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    (tmp_path / "schemas/sf1").mkdir(parents=True)
    (tmp_path / "schemas/sf1/text.mfidl").write_text(TEXT)
    (tmp_path / "schemas/sf1/search.mfidl").write_text(SEARCH)
    return tmp_path


def run(folder: Path, cell: str, **environment: str) -> str:
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "runtime/python"))),
        "MFIDL_CACHE": str(folder / "cache"),
        **environment,
    }
    code = "import mfidl.importer\nmfidl.importer.install(['schemas'])\n" + textwrap.dedent(cell)
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, timeout=60, check=False
    )
    return done.stdout + done.stderr


CELL = """
import sys
from sf1.search import Hit, IndexClient
from sf1.text import Document
print(Hit(Document("a"), 0.5))
print("mfidl.compiler" in sys.modules)
"""


@pytest.mark.parametrize("cache", [True, False], ids=["cached", "without a cache"])
def test_a_schema_and_what_it_imports_are_modules(notebook: Path, cache: bool) -> None:
    environment = {} if cache else {"MFIDL_CACHE": ""}
    hit = "Hit(document=Document(title='a'), score=0.5)\n"

    assert run(notebook, CELL, **environment) == hit + "True\n"
    run(notebook, CELL, **environment)  # finds that the second module joined the folder of the first
    assert run(notebook, CELL, **environment) == hit + f"{not cache}\n"


def test_a_mistake_is_an_import_error_with_the_compilers_words(notebook: Path) -> None:
    (notebook / "schemas/sf1/text.mfidl").write_text(TEXT.replace("string", "strin"))

    said = run(notebook, "import sf1.search")

    assert "ImportError: \nerror[E0301]: unknown type `strin`\n --> schemas/sf1/text.mfidl:2:26\n" in said
    assert "help: did you mean `string`?" in said


def test_an_edit_reaches_a_running_session(notebook: Path) -> None:
    said = run(
        notebook,
        """
        import sf1.text
        from pathlib import Path
        schema = Path("schemas/sf1/text.mfidl")
        for name in ("tit1e", "tit2e"):
            schema.write_text(schema.read_text().replace("title", name).replace("tit1e", name))
            sf1.text = mfidl.importer.reload(sf1.text)
            print(sf1.text.Document(**{name: "x"}))
        """,
    )

    assert said == "Document(tit1e='x')\nDocument(tit2e='x')\n"


def test_a_schema_whose_module_has_another_name_is_told(notebook: Path) -> None:
    (notebook / "schemas/other.mfidl").write_text("module different;\nstruct A { x: u32; }\n")

    assert (
        "schemas/other.mfidl declares `module different;`, which is imported as different, not as other"
        in run(notebook, "import other")
    )


def test_other_modules_are_found_as_before(notebook: Path) -> None:
    assert "No module named 'sf1.nothing'" in run(notebook, "import sf1.nothing")
    assert "No module named 'nothing'" in run(notebook, "import nothing")
    (notebook / "schemas/json").mkdir()
    (notebook / "schemas/json/text.mfidl").write_text("module json.text; struct A { x: u32; }\n")
    assert run(notebook, "import json; print(json.dumps(1))") == "1\n"
    assert run(notebook, "from json_.text import A; print(A(1))") == "A(x=1)\n"


def test_a_missing_folder_is_told(notebook: Path) -> None:
    assert "is not a folder with schemas" in run(notebook, "mfidl.importer.install(['scemas'])")
