"""The checked-in interfaces of the runtime equal the compiler's output for their schemas."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("schema", "package"),
    [("controller", "controller"), ("flex", "flex"), ("health", "health"), ("replication", "replicated")],
)
def test_the_generated_interface_is_up_to_date(schema: str, package: str, tmp_path: Path) -> None:
    source, prefix = ROOT / f"runtime/idl/mf/{schema}.mfidl", f"mf.{package}._generated"
    arguments = ["compile", str(source), "--python", str(tmp_path), "--python-package", prefix]
    command = [sys.executable, "-c", "from mfidl.cli import main; main()", *arguments]
    subprocess.run(command, cwd=ROOT, check=True, timeout=60)

    made = tmp_path / f"mf/{package}/_generated"
    kept = ROOT / f"runtime/python/mf/{package}/_generated"
    files = sorted(path.relative_to(made) for path in made.rglob("*.py"))
    differing = [
        str(file) for file in files if (kept / file).read_text("utf-8") != (made / file).read_text("utf-8")
    ]

    assert files
    assert differing == [], f"run mfidlc {' '.join(arguments)}, and copy {made} over {kept}"
