"""The demo from start to end: builds the index and asks the queries in every way, kills and resumes.

Every answer of every Main is compared with the plain index; the first that differs ends the demo (DemoError).
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from corpus.wordnet import make_corpus
from driver.child import Child, Children, DemoError
from driver.measures import LIGHT, REPORT_QUERIES, WAYS, Run, Work, order_lines, report_table, work_table
from driver.truth import Traffic, Truth, parse_answers

MORE_QUERIES = (
    "water",
    "zebra",
    "large north american bird",
    "the act of a person who is paid",
    "unit of length",
    "genus",
    "move quickly; run",
    "Small-Leaved TREES",
    "1492",
    "xyzzy",  # in no document
)
QUERIES = [*REPORT_QUERIES, *MORE_QUERIES]
RESUME_SECONDS = 10.0
BATCH_ROUNDS = 5  # batches and light are over soon, so they can be timed more often


@dataclass(frozen=True, slots=True)
class Settings:
    programs: Path  # the folder of testbed-*
    controller: Path
    per_collection: int
    limit: int
    rounds: int


class Scenario:
    def __init__(self, settings: Settings, children: Children, folder: Path, say: Callable[[str], None]):
        self._settings = settings
        self._children = children
        self._folder = folder
        self._say = say
        self._url = ""
        self._files: dict[str, Path] = {}

    def run(self) -> None:
        settings = self._settings
        with self._step("documents from WordNet's glosses, and the plain index to check answers against"):
            self._files = make_corpus(self._folder / "corpus", settings.per_collection)
            truth = Truth(self._files)
        self._truth, self._collections = truth, list(self._files)
        sizes = ", ".join(f"{truth.size(name):,} {name}" for name in self._collections)
        self._say(f"  {sum(map(truth.size, self._collections)):,} documents: {sizes}")

        with self._step(
            "mf-controller, text analysis, an index server a collection, document server in Python"
        ):
            self._start_servers()
        python_indexing = self._index_in_all_ways("Building the index, Document in Python", self._main)
        python_querying = self._ask_in_all_ways("Queries, Main and Document in Python", self._python_main)
        mixed_querying = self._ask_in_all_ways("Queries, Main in C++, Document in Python", self._main)
        with self._step("the document server again, in C++: the others go on and notice nothing"):
            self._replace_document_server()
        indexing = self._index_in_all_ways("Building the index, Document in C++", self._main)
        querying = self._ask_in_all_ways("Queries, Main and Document in C++", self._main)
        self._ask_in_all_ways("Queries, Main in Python, Document in C++", self._python_main)
        self._restart_controller()
        self._kill_and_resume()
        self._run_light(indexing, querying)

        for work in (indexing, python_indexing):
            self._say("\n" + work_table(work, {"analysis": ["analysis"], "indexing": ["indexing"]}))
        by_query = {f'"{text}"': [text] for text in REPORT_QUERIES} | {"ten more": list(MORE_QUERIES)}
        for work in (querying, mixed_querying, python_querying):
            self._say("\n" + work_table(work, by_query))
        self._say("\n" + report_table(indexing, querying))
        self._say("\nOrder of the ways")
        for work in (indexing, querying):
            self._say(f"{work.title}\n" + "\n".join(order_lines(work)))

    @contextmanager
    def _step(self, what: str) -> Iterator[None]:
        self._say(f"- {what} …")
        start = time.monotonic()
        yield
        self._say(f"  {time.monotonic() - start:.1f} s")

    # Processes

    def _start_servers(self) -> None:
        self._url = self._start_controller()
        analyzer = self._server("analyzer", "testbed-analyzer")
        indexes = {name: self._index_server(name) for name in self._collections}
        self._documents = self._python("document server", "services.document_server")
        for server in (analyzer, *indexes.values(), self._documents):
            server.ready()
        self._indexes = indexes
        queries = [word for text in QUERIES for word in ("--query", text)]
        self._main = self._server("main", "testbed-main", *queries)
        self._python_main = self._python("main in Python", "services.main_process", *queries)

    def _start_controller(self, listen: str = "tcp://127.0.0.1:0") -> str:
        store = self._folder / "store of the controller"
        self._controller = self._children.start(
            "controller", self._settings.controller, "--listen", listen, "--store", store
        )
        return self._controller.ready()

    def _server(self, name: str, program: str, *flags: str) -> Child:
        return self._children.start(
            name, self._settings.programs / program, "--controller", self._url, *flags
        )

    def _index_server(self, collection: str) -> Child:
        return self._server(f"index of {collection}", "testbed-index", "--collection", collection)

    def _python(self, name: str, module: str, *flags: str) -> Child:
        return self._children.start(name, sys.executable, "-m", module, "--controller", self._url, *flags)

    def _replace_document_server(self) -> None:
        self._children.stop(self._documents)
        self._documents = self._server("document server in C++", "testbed-document")
        self._documents.ready()

    # Work

    def _index_in_all_ways(self, title: str, main: Child) -> Work:
        work = Work(title)
        with self._step(f"{title}: {', '.join(WAYS)}"):
            for collection, path in self._files.items():
                self._retry(main, f"load {collection} {path}")
            for way in WAYS:
                work.runs[way] = self._index(main, way, 1 if way == "single" else BATCH_ROUNDS)
        return work

    def _index(self, main: Child, way: str, rounds: int) -> Run:
        """The round of median time. What the indexes had is cleared before each."""
        runs = sorted((self._index_once(main, way) for _ in range(rounds)), key=lambda run: run.total)
        return runs[rounds // 2]

    def _index_once(self, main: Child, way: str) -> Run:
        times, traffic = {"analysis": 0, "indexing": 0}, Traffic(0, 0, 0, 0)
        cpu = self._children.cpu()
        for collection in self._collections:
            ((_, documents, analysis, indexing, *counts),) = main.ask(f"index {collection} {way}")
            if int(documents) != self._truth.size(collection):
                raise DemoError(f"{documents} documents were indexed, not {self._truth.size(collection)}")
            times["analysis"] += int(analysis)
            times["indexing"] += int(indexing)
            traffic += Traffic.parse(counts)
        return Run(times, traffic, self._children.cpu() - cpu)

    def _ask_in_all_ways(self, title: str, main: Child) -> Work:
        work = Work(title)
        with self._step(f"{title}: {', '.join(WAYS)}; one collection, and both"):
            for way in WAYS:
                for collection in self._collections:
                    self._check(main, way, [collection])
                traffic = self._check(main, way, self._collections)
                work.runs[way] = self._time(main, way)
                work.runs[way].traffic = traffic
        return work

    def _check(self, main: Child, way: str, collections: list[str], dead: tuple[str, ...] = ()) -> Traffic:
        """Asks every query, compares every answer; exactly the dead collections may be, and are, skipped."""
        limit = self._settings.limit
        lines = main.ask(f"check {way} {','.join(collections)} {limit}")
        answers, traffic = parse_answers(lines)
        served = [name for name in collections if name not in dead]
        self._truth.check(f"{main.name}, {way}, {'+'.join(collections)}", answers, QUERIES, served, limit)
        for text, answer in answers.items():
            if set(answer.skipped) != set(dead):
                raise DemoError(f"{main.name}: '{text}': skipped {answer.skipped}, not {list(dead)}")
        self._skipped = {name: sorted({answer.skipped[name] for answer in answers.values()}) for name in dead}
        return traffic

    def _time(self, main: Child, way: str) -> Run:
        rounds = self._settings.rounds * (1 if way == "single" and main.name != LIGHT else BATCH_ROUNDS)
        cpu = self._children.cpu()
        lines = main.ask(f"time {way} {','.join(self._collections)} {self._settings.limit} {rounds}")
        spent = (self._children.cpu() - cpu) // rounds
        return Run({text: int(microseconds) for _, text, microseconds in lines}, cpu=spent)

    # Faults

    def _restart_controller(self) -> None:
        mains = (self._main, self._python_main)
        with self._step("kill -9 of the controller; it starts again with what it has stored"):
            self._controller.kill()
            for main in mains:
                self._check(main, "message", self._collections)
            self._say(f"  while it is away: {len(QUERIES)} queries of each Main served, none failed")
            start = time.monotonic()
            self._start_controller(self._url)
            self._say(f"  it serves again after {time.monotonic() - start:.2f} s")
            for main in mains:
                self._check(main, "message", self._collections)
            self._say(f"  {len(QUERIES)} queries of each Main served, none failed")

    def _kill_and_resume(self) -> None:
        victim = self._collections[-1]
        with self._step(f"kill -9 of the index server of {victim}; both Mains live on"):
            self._indexes[victim].kill()
            for main in (self._main, self._python_main):
                start = time.monotonic()
                self._check(main, "message", self._collections, dead=(victim,))
                seconds = time.monotonic() - start
                how = "; ".join(self._skipped[victim])
                others = ", ".join(name for name in self._collections if name != victim)
                self._say(
                    f"  {main.name}: {len(QUERIES)} queries in {seconds:.2f} s: {others} served, "
                    f"{victim} skipped ({how})"
                )
        with self._step(f"a new index server for {victim}: empty, so its documents are passed to it again"):
            start = time.monotonic()
            server = self._index_server(victim)
            server.ready()
            for main in (self._main, self._python_main):  # each hears of it by itself
                self._retry(main, f"stats {victim}")
            self._say(f"  found {time.monotonic() - start:.2f} s after its start")
            # The server of documents is a client of the index server, and hears of it by itself, too.
            self._retry(self._main, f"index {victim} application")
            for main in (self._main, self._python_main):
                self._check(main, "message", self._collections)
            self._say(
                f"  {victim} resumed after {time.monotonic() - start:.2f} s; all queries are right again"
            )

    def _retry(self, main: Child, command: str) -> None:
        """For a server that has just started: it listens, but its clients may not have heard of it yet."""
        end = time.monotonic() + RESUME_SECONDS
        while (answer := main.try_ask(command))[-1][0] == "failed":
            if time.monotonic() > end:
                raise DemoError(f"{main.name}: {command}: {answer[-1][1]}")
            time.sleep(0.05)

    def _run_light(self, indexing: Work, querying: Work) -> None:
        flags = [word for name in self._collections for word in ("--collection", name)]
        flags += [word for text in QUERIES for word in ("--query", text)]
        with self._step("light: the same servants, stubs and Main in one process"):
            light = self._children.start(LIGHT, self._settings.programs / "testbed-light", *flags)
            for collection, path in self._files.items():
                light.ask(f"load {collection} {path}")
            indexing.runs[LIGHT] = self._index(light, "single", BATCH_ROUNDS)
            indexing.runs[LIGHT].traffic = None
            for way in WAYS:
                for collection in self._collections:
                    self._check(light, way, [collection])
                self._check(light, way, self._collections)
            querying.runs[LIGHT] = self._time(light, "single")
