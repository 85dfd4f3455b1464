"""The wiring: what the editor says, when an analysis is made, and which request gets which answer.

All that is heavy runs on the worker, a pool of one thread: analyses, and answers that read many files. Each
change of any text counts; a snapshot is fresh as long as nothing was counted since it was begun.
"""

import asyncio
import gc
import os
import time
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import chain
from typing import Any, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.language_server import lsp_method

from mfidl import __version__
from mfidl.lsp.answers import actions, completion, diagnostics, folding, formatting, hover, inlay, navigation
from mfidl.lsp.answers import lens as lenses
from mfidl.lsp.answers import signature as signatures
from mfidl.lsp.answers import symbols as symbols_
from mfidl.lsp.answers import tokens as tokens_
from mfidl.lsp.place import Expected, place_at
from mfidl.lsp.published import Published
from mfidl.lsp.store import Store
from mfidl.lsp.text import Document, path_of, uri_of
from mfidl.lsp.workspace import Snapshot, Workspace

DEBOUNCE = 0.15  # seconds without a key before an analysis begins, at least
LONGEST_DEBOUNCE = 1.0  # at most, where an analysis takes as long
CALM = 1.5  # seconds without a key after which everything is shown
_REQUEST_FAILED = -32803
_COLLECT_AFTER = 16  # analyses without a calm moment
_SNAPSHOTS_KEPT = 8
_T = TypeVar("_T")


class _Protocol(LanguageServerProtocol):
    """pygls keeps documents of its own, whose lines end at more characters than those of editors do. These
    methods leave the documents to the server.
    """

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(
        self, params: types.DidOpenTextDocumentParams
    ) -> Generator[Any, Any, None]:
        yield self.fm.features[types.TEXT_DOCUMENT_DID_OPEN], (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(
        self, params: types.DidChangeTextDocumentParams
    ) -> Generator[Any, Any, None]:
        yield self.fm.features[types.TEXT_DOCUMENT_DID_CHANGE], (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(
        self, params: types.DidCloseTextDocumentParams
    ) -> Generator[Any, Any, None]:
        yield self.fm.features[types.TEXT_DOCUMENT_DID_CLOSE], (params,), None


class Server(LanguageServer):
    """One per process."""

    def __init__(self, import_paths: Iterable[str] = ()) -> None:
        super().__init__("mfidl", __version__, protocol_cls=_Protocol)
        self.store = Store()
        self.files = Workspace(self.store)
        self.documents: dict[str, Document] = {}
        self.snapshots: dict[str, Snapshot] = {}
        self.breaking = lenses.Breaking()
        self._import_paths = list(import_paths)
        self._worker = ThreadPoolExecutor(1, "analysis")
        self._waiting: dict[str, asyncio.Task[None]] = {}
        self._published: dict[str, Published] = {}
        self._of_others: dict[str, dict[str, list[types.Diagnostic]]] = {}  # by URI of the analysed document
        self._read_by: dict[str, set[str]] = {}  # paths of files, by URI of the document that needs them
        self._changes = 0
        self._took = 0.0  # seconds, the last analysis
        self._edited = 0.0  # when any document was last typed into
        self._analysed: dict[str, int] = {}  # the count of changes at the beginning of the last analysis
        self._uncollected = 0

    # Settings -----------------------------------------------------------------------------------------------

    def configure(self, params: types.InitializeParams) -> None:
        folders = params.workspace_folders or []
        roots = [path_of(each.uri) for each in folders]
        if not roots and params.root_uri:
            roots = [path_of(params.root_uri)]
        self.files.roots = [each.rstrip(os.sep) or os.sep for each in roots]
        self.files.encoding = str(self.encoding)
        self.set_options(params.initialization_options)

    @property
    def encoding(self) -> str:
        agreed = self.workspace.position_encoding
        return str(getattr(agreed, "value", agreed) or "utf-16")

    def set_options(self, options: Any) -> None:
        """`importPaths`: relative ones are below the first root. Anything else is ignored."""
        given = options.get("importPaths") if isinstance(options, dict) else None
        paths = [*self._import_paths, *(each for each in given or () if isinstance(each, str))]
        base = self.files.roots[0] if self.files.roots else ""
        self.files.import_paths = [os.path.normpath(os.path.join(base, each)) for each in paths]

    # Documents ----------------------------------------------------------------------------------------------

    def opened(self, item: types.TextDocumentItem) -> None:
        document = Document(item.uri, item.text, item.version, self.encoding)
        self.documents[item.uri] = document
        self._published[item.uri] = Published()
        self._store(document)
        self.schedule(item.uri, 0)

    def edited(self, params: types.DidChangeTextDocumentParams) -> None:
        document = self.documents.get(params.text_document.uri)
        if document is None:
            return
        for change in params.content_changes:
            document.change(change)
            self._published[document.uri].moved(change)
        document.version = params.text_document.version
        self._store(document)
        self._edited = time.monotonic()
        self.schedule(document.uri, self.pause)

    def closed(self, uri: str) -> None:
        document = self.documents.pop(uri, None)
        if document is None:
            return
        self.store.documents.pop(os.path.realpath(document.path), None)
        self._changes += 1
        task = self._waiting.pop(uri, None)
        if task is not None:
            task.cancel()
        self._show_in_others(uri, {})
        for table in (self.snapshots, self._published, self._of_others, self._analysed, self._read_by):
            table.pop(uri, None)
        self.files.closed(document.path)
        self._publish(uri, [])

    def _store(self, document: Document) -> None:
        self._changes += 1
        real = os.path.realpath(document.path)
        self.store.documents[real] = document, document.text, self._changes

    def files_changed(self) -> None:
        """Files came, went or changed on disk."""
        self._changes += 1
        self.files.forget_files()
        for uri in self.documents:
            self.schedule(uri, DEBOUNCE)

    # Analyses -----------------------------------------------------------------------------------------------

    @property
    def pause(self) -> float:
        """How long nothing is typed before an analysis begins: as long as one takes, so that hardly any runs
        beside the next key.
        """
        return min(max(DEBOUNCE, self._took), LONGEST_DEBOUNCE)

    async def work(self, function: Callable[..., _T], *arguments: Any) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._worker, function, *arguments)

    def schedule(self, uri: str, delay: float) -> None:
        """An analysis after some time without another change."""
        waiting = self._waiting.pop(uri, None)
        if waiting is not None:
            waiting.cancel()
        self._waiting[uri] = asyncio.get_running_loop().create_task(self._later(uri, delay))

    async def _later(self, uri: str, delay: float) -> None:
        await asyncio.sleep(delay)
        snapshot = await self.fresh(uri)
        if snapshot is None:
            return
        self._show(uri, snapshot, is_typing=delay > 0)
        await asyncio.sleep(CALM)
        self._show(uri, snapshot, is_typing=False)
        if self._uncollected:
            self._uncollected = 0
            await self.work(gc.collect)

    async def calm(self) -> None:
        """Waits until nothing was typed for a while."""
        while (rest := self._edited + CALM - time.monotonic()) > 0:
            await asyncio.sleep(rest)

    async def fresh(self, uri: str) -> Snapshot | None:
        """The analysis of a document, or of a file that is not open, as it is now. None: there is none."""
        while True:
            document = self.documents.get(uri)
            path = path_of(uri) if document is None else document.path
            known = self.snapshots.get(uri)
            if known is not None and self._analysed.get(uri) == self._changes:
                return known
            rest = self._edited + self.pause - time.monotonic()
            if rest > 0:
                await asyncio.sleep(rest)
                continue
            begun = self._changes
            if document is None and not os.path.isfile(path):
                return None
            version = -1 if document is None else document.version
            text = None if document is None else document.text
            self._uncollected += 1
            snapshot = await self.work(self._analyse, path, version, text, begun)
            if document is None:
                return snapshot
            if snapshot is not None and self.documents.get(uri) is document:
                self._keep(uri, snapshot, begun)
            if self._changes == begun:
                return snapshot

    def _keep(self, uri: str, snapshot: Snapshot, begun: int) -> None:
        """The last ones: an analysis of many modules takes 100 MB."""
        self.snapshots.pop(uri, None)
        self.snapshots[uri], self._analysed[uri] = snapshot, begun
        while len(self.snapshots) > _SNAPSHOTS_KEPT:
            del self.snapshots[next(iter(self.snapshots))]
        self._read_by[uri] = {each.file.source.path for each in snapshot.analysis.modules}
        others = diagnostics.by_file(snapshot)
        others.pop(uri_of(snapshot.path))
        self._show_in_others(uri, others)

    def _analyse(self, path: str, version: int, text: str | None, begun: int) -> Snapshot | None:
        """On the worker. Nothing is made of a text that was changed while this waited."""
        if begun != self._changes and text is not None:
            return None
        self.files.changed()
        if self._uncollected > _COLLECT_AFTER:
            self._uncollected = 0
            gc.collect()
        start = time.monotonic()
        made = self.files.snapshot(path, version, text, lambda: text is None or begun == self._changes)
        if made is not None:
            self._took = time.monotonic() - start
        return made

    # Diagnostics --------------------------------------------------------------------------------------------

    def _show(self, uri: str, snapshot: Snapshot, *, is_typing: bool) -> None:
        document, published = self.documents.get(uri), self._published.get(uri)
        if document is None or published is None or self.snapshots.get(uri) is not snapshot:
            return
        if snapshot.version != document.version:
            return
        found = diagnostics.by_file(snapshot)
        own = found.get(uri_of(snapshot.path), [])
        edited = document.edited if is_typing else None
        before = list(published.shown)
        shown = published.merged(own, edited, snapshot.is_valid)
        if shown != before or published.version != document.version:
            published.version = document.version
            self._publish(uri, shown, document.version)

    def _show_in_others(self, uri: str, found: dict[str, list[types.Diagnostic]]) -> None:
        """Of files that are not open and that open ones import; each shows what all of these found."""
        before = self._of_others.pop(uri, {})
        now = self._of_others[uri] = {
            each: its_own for each, its_own in found.items() if each not in self.documents and each != uri
        }
        for each in {*before, *now} - set(self.documents):
            if before.get(each) != now.get(each):
                every = chain.from_iterable(table.get(each, ()) for table in self._of_others.values())
                self._publish(each, _once(every))

    def _publish(self, uri: str, found: list[types.Diagnostic], version: int | None = None) -> None:
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version))

    def importers(self, path: str) -> list[str]:
        """The open documents, but for its own, whose analyses have read a file."""
        real = os.path.realpath(path)
        own = {uri for uri, document in self.documents.items() if os.path.realpath(document.path) == real}
        return [
            uri for uri, read in self._read_by.items() if uri not in own and not read.isdisjoint((path, real))
        ]


def _once(found: Iterable[types.Diagnostic]) -> list[types.Diagnostic]:
    made: list[types.Diagnostic] = []
    for each in found:
        if each not in made:
            made.append(each)
    return made


def make_server(import_paths: Iterable[str] = ()) -> Server:
    server = Server(import_paths)
    _documents(server)
    _typing(server)
    _reading(server)
    _changing(server)
    return server


def _documents(server: Server) -> None:
    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.configure(params)

    @server.feature(types.INITIALIZED)
    async def initialized(_params: types.InitializedParams) -> None:
        workspace = server.client_capabilities.workspace
        watching = None if workspace is None else workspace.did_change_watched_files
        if watching is None or not watching.dynamic_registration:
            return
        watchers = [types.FileSystemWatcher("**/*.mfidl"), types.FileSystemWatcher("**/mfidl.toml")]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        registration = types.Registration("watch", method, options)
        with suppress(JsonRpcException):
            await server.client_register_capability_async(types.RegistrationParams([registration]))

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def did_open(params: types.DidOpenTextDocumentParams) -> None:
        server.opened(params.text_document)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def did_change(params: types.DidChangeTextDocumentParams) -> None:
        server.edited(params)
        document = server.documents.get(params.text_document.uri)
        for uri in [] if document is None else server.importers(document.path):
            server.schedule(uri, 2 * server.pause)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def did_close(params: types.DidCloseTextDocumentParams) -> None:
        server.closed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def did_save(_params: types.DidSaveTextDocumentParams) -> None:
        server.files_changed()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def did_change_files(_params: types.DidChangeWatchedFilesParams) -> None:
        server.files_changed()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def did_change_configuration(params: types.DidChangeConfigurationParams) -> None:
        settings = params.settings
        server.set_options(settings.get("mfidl", settings) if isinstance(settings, dict) else None)
        server.files_changed()

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def did_change_folders(params: types.DidChangeWorkspaceFoldersParams) -> None:
        gone = {path_of(each.uri).rstrip(os.sep) for each in params.event.removed}
        kept = [each for each in server.files.roots if each not in gone]
        server.files.roots = [*kept, *(path_of(each.uri).rstrip(os.sep) for each in params.event.added)]
        server.files_changed()


def _typing(server: Server) -> None:
    """What is answered at once, from the last analysis."""

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION,
        types.CompletionOptions(trigger_characters=["@", ".", '"', "/", "<", "("]),
    )
    async def complete(params: types.CompletionParams) -> types.CompletionList | None:
        uri = params.text_document.uri
        document = server.documents.get(uri)
        if document is None:
            return None
        lines = document.lines
        snapshot = server.snapshots.get(uri) or await server.fresh(uri)
        place = place_at(lines.text, lines.offset(params.position))
        arguments = (server.files, snapshot, document.path, place, lines, _has_snippets(server))
        if place.expected is Expected.IMPORT:
            return await server.work(completion.complete, *arguments)
        return completion.complete(*arguments)

    @server.feature(
        types.TEXT_DOCUMENT_SIGNATURE_HELP, types.SignatureHelpOptions(trigger_characters=["(", ","])
    )
    def signature(params: types.SignatureHelpParams) -> types.SignatureHelp | None:
        document = server.documents.get(params.text_document.uri)
        if document is None:
            return None
        place = place_at(document.text, document.lines.offset(params.position))
        return signatures.signature(server.snapshots.get(document.uri), place)


def _has_snippets(server: Server) -> bool:
    text = server.client_capabilities.text_document
    item = None if text is None or text.completion is None else text.completion.completion_item
    return bool(item is not None and item.snippet_support)


def _reading(server: Server) -> None:
    """What is read from a fresh analysis."""

    async def ask(params: Any, answer: Callable[..., _T], *more: Any) -> _T | None:
        """`answer`, on the worker, with the snapshot and, if the request has a position, its offset."""
        snapshot = await server.fresh(params.text_document.uri)
        if snapshot is None:
            return None
        if hasattr(params, "position"):
            more = (snapshot.lines.offset(params.position), *more)
        return await server.work(answer, snapshot, *more)

    async def compared(snapshot: Snapshot, answer: Callable[[Snapshot, list[str]], _T]) -> _T:
        """Beside the worker, since git may take long."""
        import_paths = await server.work(server.files.searched, snapshot.path)
        return await asyncio.to_thread(answer, snapshot, import_paths)

    async def ask_range(params: Any, answer: Callable[..., _T], *more: Any) -> _T | None:
        snapshot = await server.fresh(params.text_document.uri)
        if snapshot is None:
            return None
        start, end = (snapshot.lines.offset(each) for each in (params.range.start, params.range.end))
        return await server.work(answer, snapshot, start, end, *more)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover_(params: types.HoverParams) -> types.Hover | None:
        return await ask(params, hover.hover)

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def inlay_hint(params: types.InlayHintParams) -> list[types.InlayHint] | None:
        return await ask_range(params, inlay.inlay_hints)

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: types.DefinitionParams) -> types.Location | None:
        return await ask(params, navigation.definition)

    @server.feature(types.TEXT_DOCUMENT_TYPE_DEFINITION)
    async def type_definition(params: types.TypeDefinitionParams) -> types.Location | None:
        return await ask(params, navigation.type_definition)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    async def highlight(params: types.DocumentHighlightParams) -> list[types.DocumentHighlight] | None:
        return await ask(params, navigation.highlights)

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def references(params: types.ReferenceParams) -> list[types.Location] | None:
        def answer(snapshot: Snapshot, offset: int) -> list[types.Location]:
            return navigation.references(server.files, snapshot, offset, params.context.include_declaration)

        return await ask(params, answer)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def document_symbols(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol] | None:
        return await ask(params, symbols_.document_symbols)

    @server.feature(types.WORKSPACE_SYMBOL)
    async def workspace_symbols(params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
        return await server.work(symbols_.workspace_symbols, server.files, params.query)

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, tokens_.LEGEND)
    async def semantic_tokens(params: types.SemanticTokensParams) -> types.SemanticTokens | None:
        def answer(snapshot: Snapshot) -> types.SemanticTokens:
            return tokens_.semantic_tokens(snapshot, 0, len(snapshot.lines.text))

        return await ask(params, answer)

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, tokens_.LEGEND)
    async def semantic_tokens_range(params: types.SemanticTokensRangeParams) -> types.SemanticTokens | None:
        return await ask_range(params, tokens_.semantic_tokens)

    @server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    async def folding_range(params: types.FoldingRangeParams) -> list[types.FoldingRange] | None:
        return await ask(params, folding.folding)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_LINK)
    async def document_links(params: types.DocumentLinkParams) -> list[types.DocumentLink] | None:
        return await ask(params, navigation.links)

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions(resolve_provider=True))
    async def code_lens(params: types.CodeLensParams) -> list[types.CodeLens] | None:
        return await ask(params, lenses.lenses)

    @server.feature(types.CODE_LENS_RESOLVE)
    async def resolve(params: types.CodeLens) -> types.CodeLens:
        data = params.data if isinstance(params.data, dict) else {}
        await server.calm()  # both kinds look at many files, and editors ask again after each key
        snapshot = await server.fresh(str(data.get("uri", "")))
        if snapshot is None:
            return params
        if data.get("what") == "breaking":
            params.command = await compared(snapshot, server.breaking.lens)
        else:
            params.command = await server.work(lenses.uses_lens, server.files, snapshot, params.range)
        if params.command is None:
            params.command = types.Command("", "")
        return params

    @server.command(lenses.BREAKING)
    async def breaking(uri: str) -> list[str]:
        """What breaks, a line each; also shown as a message."""
        snapshot = await server.fresh(uri)
        found = None if snapshot is None else await compared(snapshot, server.breaking.changes)
        lines = [] if found is None else [f"{each.code}: {each.message}" for each in found[1]]
        text = "\n".join(lines) or "nothing breaks, or there is nothing to compare with"
        server.window_show_message(types.ShowMessageParams(types.MessageType.Info, text))
        return lines


def _changing(server: Server) -> None:
    """What answers with edits."""

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    async def format_(params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        document = server.documents.get(params.text_document.uri)
        if document is None:
            return None
        return await server.work(formatting.formatted, document.path, document.lines)

    @server.feature(types.TEXT_DOCUMENT_RANGE_FORMATTING)
    async def format_range(params: types.DocumentRangeFormattingParams) -> list[types.TextEdit] | None:
        document = server.documents.get(params.text_document.uri)
        if document is None:
            return None
        return await server.work(formatting.formatted, document.path, document.lines, params.range)

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=actions.KINDS))
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction] | None:
        snapshot = await server.fresh(params.text_document.uri)
        if snapshot is None:
            return None
        start, end = (snapshot.lines.offset(each) for each in (params.range.start, params.range.end))
        only = params.context.only
        wanted = None if only is None else [str(getattr(each, "value", each)) for each in only]
        return await server.work(actions.actions, server.files, snapshot, start, end, wanted)

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    async def prepare(params: types.PrepareRenameParams) -> types.Range | None:
        snapshot = await server.fresh(params.text_document.uri)
        if snapshot is None:
            return None
        try:
            return navigation.prepare_rename(snapshot, snapshot.lines.offset(params.position))
        except navigation.RenameError as error:
            raise JsonRpcException(str(error), _REQUEST_FAILED) from None

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    async def rename(params: types.RenameParams) -> types.WorkspaceEdit | None:
        snapshot = await server.fresh(params.text_document.uri)
        if snapshot is None:
            return None
        offset = snapshot.lines.offset(params.position)
        try:
            return await server.work(navigation.rename, server.files, snapshot, offset, params.new_name)
        except navigation.RenameError as error:
            raise JsonRpcException(str(error), _REQUEST_FAILED) from None


def run(import_paths: Iterable[str] = ()) -> None:
    """Serves one editor over standard input and output, until it says `exit`. The collector of garbage runs
    between analyses only: one run over all trees takes longer than a key.
    """
    gc.disable()
    # The server closes what it is given. What anything else prints must not come between its answers.
    given, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    make_server(import_paths).start_io(given, answers)
