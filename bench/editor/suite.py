"""What `make bench-editor` runs: `mfidlc lsp` with one schema of 5,000 lines open that imports 400 others.

opened        from the document to its first diagnostics, all files read and parsed
key           a letter and the completion behind it, as an editor asks for them, 200 ms apart
diagnostics   from the last key to the diagnostics of the text, with the pause that the server leaves
hover, tokens, hints    asked of a fresh analysis
references    the first in all files, and one more
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from editor.client import Client
from harness.interleaved import SAME
from harness.rows import Samples

NAME = "editor"
CHART = {"key": "ms"}

_MODULES = 400
_LINES = 5_000
_WORD = "string_of_letters_that_is_long"
_PAUSE = 0.2


def run(_build: Path, quick: bool, samples: Samples, _failures: list[str]) -> None:
    for _ in range(1 if quick else 5):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            text = _write(root)
            client = Client(root)
            try:
                _measure(client, root / "big.mfidl", text, samples)
            finally:
                client.close()


def _write(root: Path) -> str:
    (root / "m").mkdir()
    for at in range(_MODULES):
        imports = "".join(f'import "m/x{other}.mfidl";\n' for other in range(max(0, at - 3), at))
        structs = "".join(
            f"/// A record.\nstruct R{at}_{each} {{\n  id: u32;\n  name: string @length(..40);\n"
            "  score: f32 = 1.0;\n  tags: list<u32>;\n}\n\n"
            for each in range(4)
        )
        uses = f"struct U{at} {{ b: x{at - 1}.R{at - 1}_1; }}\n" if at else ""
        (root / f"m/x{at}.mfidl").write_text(f"module m.x{at};\n\n{imports}\n{structs}{uses}")
    lines = ["module big;", *(f'import "m/x{at}.mfidl";' for at in range(_MODULES)), ""]
    number = 0
    while len(lines) < _LINES:
        other = number % _MODULES
        lines += [
            f"/// Struct number {number}.",
            f"struct Hit{number} {{",
            "  id: u32;",
            "  score: f32 = 1.5 @range(0..10);",
            f"  doc: x{other}.R{other}_0;",
            f"  all: list<x{other}.R{other}_1> @length(..100);",
            "}",
            f"agent shard{number}: u32;",
            f"service S{number} per shard{number} {{",
            "  @idempotent",
            f"  query(terms: list<string>, limit: u32 = 10) -> list<Hit{number}>;",
            "}",
            "",
        ]
        number += 1
    text = "\n".join(lines) + "\n"
    (root / "big.mfidl").write_text(text)
    return text


def _measure(client: Client, path: Path, text: str, samples: Samples) -> None:
    uri = path.as_uri()
    document = {"uri": uri}

    def told(work: str, action: Callable[[], Any]) -> Any:
        start, cpu = time.perf_counter(), client.cpu_ms()
        answer = action()
        ms = (time.perf_counter() - start) * 1e3
        samples.add(work, SAME, "mfidlc", {"ms": ms, "cpu_ms": client.cpu_ms() - cpu})
        return answer

    item = {"uri": uri, "languageId": "mfidl", "version": 1, "text": text}
    client.tell("textDocument/didOpen", {"textDocument": item})
    told("opened", lambda: client.diagnostics(1))
    lines = text.splitlines()
    line = len(lines) // 2
    while "limit: u32" not in lines[line]:
        line += 1
    character = lines[line].index("u32 = 10")
    times = []
    cpu = client.cpu_ms()
    for at, letter in enumerate(_WORD):
        time.sleep(_PAUSE)
        start = time.perf_counter()
        place = {"line": line, "character": character + at}
        change = {"range": {"start": place, "end": place}, "text": letter}
        version = {"uri": uri, "version": 2 + at}
        client.tell("textDocument/didChange", {"textDocument": version, "contentChanges": [change]})
        behind = {"line": line, "character": character + at + 1}
        client.ask("textDocument/completion", {"textDocument": document, "position": behind})
        times.append((time.perf_counter() - start) * 1e3)
    cpu = (client.cpu_ms() - cpu) / len(_WORD)
    worst = max(times)
    samples.add("key", SAME, "mfidlc", {"ms": statistics.median(times), "worst_ms": worst, "cpu_ms": cpu})
    told("diagnostics", lambda: client.diagnostics(1 + len(_WORD)))
    place = {"line": line, "character": lines[line].index("list<Hit") + 6}
    at_place = {"textDocument": document, "position": place}
    told("hover", lambda: client.ask("textDocument/hover", at_place))
    told("tokens", lambda: client.ask("textDocument/semanticTokens/full", {"textDocument": document}))
    window = {"start": {"line": line - 30, "character": 0}, "end": {"line": line + 30, "character": 0}}
    told("hints", lambda: client.ask("textDocument/inlayHint", {"textDocument": document, "range": window}))
    everywhere = {**at_place, "context": {"includeDeclaration": True}}
    for work in ("references", "references_again"):
        told(work, lambda: client.ask("textDocument/references", everywhere))
    samples.add("memory", SAME, "mfidlc", {"peak_mb": client.peak_mb()})
