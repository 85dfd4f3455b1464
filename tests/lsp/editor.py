"""An editor for tests: pytest-lsp's client, which checks what the server answers against what it said it can
do, with `mfidlc lsp` behind it; driven without coroutines.
"""

import asyncio
import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.protocol import default_converter
from pytest_lsp import LanguageClient, client_capabilities

_T = TypeVar("_T")
_SECONDS = 60


class Editor:
    """`text` marks places with `|`: `at` finds them."""

    def __init__(self, client: Any, loop: asyncio.AbstractEventLoop) -> None:
        self.client = client
        self._loop = loop
        self._versions: dict[str, int] = {}
        self.texts: dict[str, str] = {}
        self.published: list[types.PublishDiagnosticsParams] = []
        self.messages: list[str] = []

    def run(self, awaited: Coroutine[Any, Any, _T]) -> _T:
        async def bounded() -> _T:
            return await asyncio.wait_for(awaited, _SECONDS)

        return self._loop.run_until_complete(bounded())

    # Documents ----------------------------------------------------------------------------------------------

    def open(self, path: Path, text: str | None = None) -> str:
        """Opens a file as it is on disk, or with another text; returns its URI."""
        uri = path.as_uri()
        with path.open(encoding="utf-8", newline="") as stream:
            found = stream.read() if text is None else text
        self._versions[uri] = 1
        self.texts[uri] = found
        item = types.TextDocumentItem(uri, "mfidl", 1, found)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def insert(
        self, uri: str, position: types.Position, text: str, end: types.Position | None = None
    ) -> None:
        """Types a text, in place of what is between two positions."""
        change = types.TextDocumentContentChangePartial(types.Range(position, end or position), text)
        self._change(uri, change)

    def replace(self, uri: str, text: str) -> None:
        self.texts[uri] = text
        self._change(uri, types.TextDocumentContentChangeWholeDocument(text))

    def _change(self, uri: str, change: types.TextDocumentContentChangeEvent) -> None:
        self._versions[uri] += 1
        document = types.VersionedTextDocumentIdentifier(self._versions[uri], uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    def close(self, uri: str) -> None:
        identifier = types.TextDocumentIdentifier(uri)
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(identifier))

    # Diagnostics --------------------------------------------------------------------------------------------

    def diagnostics(self, uri: str) -> list[types.Diagnostic]:
        """Those of the text as it is; waits for them."""

        async def awaited() -> list[types.Diagnostic]:
            while True:
                for each in reversed(self.published):
                    if each.uri == uri and each.version == self._versions[uri]:
                        return list(each.diagnostics)
                await self.client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)

        return self.run(awaited())

    def codes(self, uri: str) -> list[str]:
        return [str(each.code) for each in self.diagnostics(uri)]

    # Requests -----------------------------------------------------------------------------------------------

    def completions(self, uri: str, position: types.Position) -> dict[str, types.CompletionItem]:
        params = types.CompletionParams(types.TextDocumentIdentifier(uri), position)
        found = self.run(self.client.text_document_completion_async(params))
        items = found.items if isinstance(found, types.CompletionList) else found or []
        return {each.label: each for each in items}

    def hover(self, uri: str, position: types.Position) -> str:
        params = types.HoverParams(types.TextDocumentIdentifier(uri), position)
        found = self.run(self.client.text_document_hover_async(params))
        if found is None:
            return ""
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value


def position(text: str, word: str, inside: int = 0, occurrence: int = 1) -> types.Position:
    """Of the n-th occurrence of a word, or of a place inside it, in units of UTF-16."""
    at = -1
    for _ in range(occurrence):
        at = text.index(word, at + 1)
    before = text[: at + inside]
    line = before.count("\n")
    start = before.rfind("\n") + 1
    return types.Position(line, len(before[start:].encode("utf-16-le")) // 2)


@contextmanager
def editor(
    *roots: Path, options: dict[str, Any] | None = None, arguments: tuple[str, ...] = ()
) -> Iterator[Editor]:
    """One that has started the server, with Visual Studio Code's capabilities."""
    loop = asyncio.new_event_loop()
    client: Any = LanguageClient(converter_factory=default_converter)
    made = Editor(client, loop)

    def publish(params: types.PublishDiagnosticsParams) -> None:
        made.published.append(params)

    def show(params: types.ShowMessageParams) -> None:
        made.messages.append(params.message)

    def register(_params: types.RegistrationParams) -> None:
        return

    client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(publish)
    client.feature(types.WINDOW_SHOW_MESSAGE)(show)
    client.feature(types.CLIENT_REGISTER_CAPABILITY)(register)

    async def start() -> None:
        await client.start_io(sys.executable, "-m", "mfidl", "lsp", *arguments)
        folders = [types.WorkspaceFolder(each.as_uri(), each.name) for each in roots]
        params = types.InitializeParams(
            client_capabilities("visual-studio-code"),
            workspace_folders=folders,
            initialization_options=options,
        )
        await client.initialize_session(params)

    async def stop() -> None:
        await client.shutdown_session()
        await client.stop()

    try:
        made.run(start())
        yield made
        made.run(stop())
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
