"""The process: how it begins and ends, and what it says without pygls."""

import json
import subprocess
import sys
from typing import Any

_WITHOUT = """
import sys
from mfidl.cli import main
sys.modules["pygls"] = None
sys.argv = ["mfidlc", "lsp"]
main()
"""


def framed(*messages: dict[str, Any]) -> bytes:
    made = b""
    for message in messages:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        made += b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    return made


def run(given: bytes, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "mfidl", "lsp", *arguments]
    return subprocess.run(command, input=given, capture_output=True, timeout=110, check=False)


def answers(output: bytes) -> list[dict[str, Any]]:
    """All that was written is messages."""
    found = []
    while output:
        head, _, rest = output.partition(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split()[0])
        found.append(json.loads(rest[:length]))
        output = rest[length:]
    return found


INITIALIZE = {
    "id": 1,
    "method": "initialize",
    "params": {"processId": None, "rootUri": None, "capabilities": {}},
}
SHUTDOWN = {"id": 2, "method": "shutdown", "params": None}
EXIT = {"method": "exit", "params": None}


def test_it_says_what_it_can_do_and_ends_when_asked() -> None:
    done = run(framed(INITIALIZE, {"method": "initialized", "params": {}}, SHUTDOWN, EXIT), "--stdio")
    first, second = answers(done.stdout)
    capabilities = first["result"]["capabilities"]
    assert {
        "codeActionProvider",
        "codeLensProvider",
        "completionProvider",
        "definitionProvider",
        "documentFormattingProvider",
        "documentHighlightProvider",
        "documentLinkProvider",
        "documentRangeFormattingProvider",
        "documentSymbolProvider",
        "foldingRangeProvider",
        "hoverProvider",
        "inlayHintProvider",
        "referencesProvider",
        "renameProvider",
        "semanticTokensProvider",
        "signatureHelpProvider",
        "typeDefinitionProvider",
        "workspaceSymbolProvider",
    } <= {name for name, value in capabilities.items() if value}
    assert second["id"] == 2
    assert done.returncode == 0, done.stderr


def test_it_ends_when_the_editor_is_gone() -> None:
    done = run(framed(INITIALIZE))
    assert [each["id"] for each in answers(done.stdout)] == [1]


def test_what_is_no_message_ends_nothing() -> None:
    """What an editor says wrongly is an error of its own."""
    wrong = {"id": 7, "method": "textDocument/hover", "params": {"textDocument": 3}}
    unknown = {"id": 8, "method": "textDocument/unheardOf", "params": {}}
    done = run(framed(INITIALIZE, wrong, unknown, SHUTDOWN, EXIT))
    told = answers(done.stdout)
    found = {each.get("id"): each for each in told}
    assert any(each.get("method") == "window/showMessage" for each in told)  # pygls gives it no answer
    assert "error" in found[8]
    assert found[2].get("error") is None
    assert done.returncode == 0


def test_without_pygls_it_says_what_to_install() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT], capture_output=True, text=True, timeout=110, check=False
    )
    assert done.returncode == 1
    assert "pip install 'mfidl[lsp]'" in done.stderr
