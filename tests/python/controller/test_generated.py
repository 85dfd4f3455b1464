"""The checked-in interface of the controller is what the compiler makes of its schema."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PREFIX = "mf.controller._generated"


def test_the_generated_interface_is_up_to_date(tmp_path: Path) -> None:
    schema = ROOT / "runtime/idl/mf/controller.mfidl"
    arguments = ["compile", str(schema), "--python", str(tmp_path), "--python-package", PREFIX]
    command = [sys.executable, "-c", "from mfidl.cli import main; main()", *arguments]
    subprocess.run(command, cwd=ROOT, check=True, timeout=60)

    made = tmp_path / "mf/controller/_generated"
    kept = ROOT / "runtime/python/mf/controller/_generated"
    files = sorted(path.relative_to(made) for path in made.rglob("*.py"))
    differing = [
        str(file) for file in files if (kept / file).read_text("utf-8") != (made / file).read_text("utf-8")
    ]

    assert files
    assert differing == [], f"run mfidlc {' '.join(arguments)}, and copy {made} over {kept}"
