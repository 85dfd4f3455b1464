"""Headless Chromium, steered by its DevTools protocol: pages are opened, and asked by JavaScript."""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from tests.compiler.test_doc_chromium import FLAGS
from tests.http.asking import PATIENCE, Door, WebSocket


class Browser:
    def __init__(self, folder: Path) -> None:
        chromium = shutil.which("chromium")
        assert chromium is not None, "Chromium is missing: tools/bootstrap core test installs it"
        self._tabs: list[Tab] = []
        self._errors = folder / "chromium.stderr"
        command = [chromium, *FLAGS, f"--user-data-dir={folder}", "--remote-debugging-port=0", "about:blank"]
        with self._errors.open("wb") as sink:
            self._process = subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=sink, start_new_session=True
            )
        port = folder / "DevToolsActivePort"
        end = time.monotonic() + PATIENCE
        while not (port.exists() and port.read_text().count("\n")):
            assert self._process.poll() is None, self._errors.read_text()
            assert time.monotonic() < end, self._errors.read_text()
            time.sleep(0.02)
        self._devtools = Door(f"http://127.0.0.1:{port.read_text().splitlines()[0]}")

    def open(self, address: str) -> "Tab":
        """The page at this address, once it is loaded."""
        made = Request(f"{self._devtools.address}/json/new?about:blank", method="PUT")
        with urlopen(made, timeout=PATIENCE) as answer:
            target = json.load(answer)
        path = "/" + target["webSocketDebuggerUrl"].split("/", 3)[3]
        tab = Tab(self._devtools.websocket(path))
        self._tabs.append(tab)
        tab.command("Page.enable")
        tab.command("Log.enable")
        tab.command("Runtime.enable")
        tab.command("Page.navigate", url=address)
        tab.event("Page.loadEventFired")
        return tab

    def close(self) -> None:
        for tab in self._tabs:
            tab.close()
        os.killpg(self._process.pid, signal.SIGKILL)  # its helpers too
        self._process.wait()


class Tab:
    """`complaints`: what the page has written to the console, and what the browser has refused it."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._number = 0
        self._events: list[Any] = []
        self.complaints: list[str] = []

    def close(self) -> None:
        self._socket.close()

    def command(self, method: str, **params: Any) -> Any:
        self._number += 1
        self._socket.send({"id": self._number, "method": method, "params": params})
        while (message := self._next()).get("id") != self._number:
            pass
        assert "error" not in message, message
        return message["result"]

    def event(self, method: str) -> None:
        while not any(event["method"] == method for event in self._events):
            self._next()

    def _next(self) -> Any:
        message = self._socket.next()
        if "method" in message:
            self._events.append(message)
            if message["method"] in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
                self.complaints.append(json.dumps(message["params"]))
        return message

    def evaluate(self, script: str) -> Any:
        """The value of an expression, of a promise what it comes to."""
        said = self.command("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in said, said
        return said["result"].get("value")

    def wait_for(self, script: str) -> None:
        """Until the expression is true."""
        self.evaluate(
            f"new Promise(done => {{ const look = () => ({script}) ? done() : setTimeout(look, 5);"
            " look(); })"
        )
