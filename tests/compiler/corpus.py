"""The corpus: every `corpus/<concept>/<case>.mfidl` with what `mfidlc check` says about it in
`<case>.stderr`.

A case is checked from its own folder, with the folder's `lib` as import path. An empty .stderr is a schema
that is in order. `python tests/compiler/corpus.py [CONCEPT[/CASE]...]` writes the .stderr files anew: read
the difference before committing it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from mfidl.compiler import check
from mfidl.diagnostics.render import render_text

ROOT = Path(__file__).parent / "corpus"


def cases() -> list[Path]:
    return sorted(path for path in ROOT.glob("*/*.mfidl"))


def transcript(case: Path) -> str:
    """What the compiler says about a case. Changes the working directory for the time of the run."""
    before = Path.cwd()
    os.chdir(case.parent)
    try:
        return render_text(check([case.name], ["lib"]).diagnostics)
    finally:
        os.chdir(before)


if __name__ == "__main__":
    wanted = sys.argv[1:]
    for each in cases():
        if wanted and not {each.parent.name, f"{each.parent.name}/{each.stem}"} & set(wanted):
            continue
        each.with_suffix(".stderr").write_text(transcript(each))
