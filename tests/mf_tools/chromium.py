"""Headless Chromium that a test drives: pages are opened, asked and pictured over the pipe of its protocol
for developers (`--remote-debugging-pipe`: JSON texts with a zero byte behind each).
"""

import base64
import json
import os
import select
import shutil
import signal
import subprocess
from pathlib import Path
from time import monotonic
from typing import Any

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
    "about:blank",
)
_WITHIN = 60.0


class Chromium:
    """One browser with one page. `complaints`: what the page has written to its console, and what its
    policy has refused."""

    def __init__(self, folder: Path) -> None:
        program = shutil.which("chromium")
        assert program is not None, "Chromium is missing: tools/bootstrap core test installs it"
        to_it, self._out = os.pipe()
        self._in, from_it = os.pipe()
        script = f'exec {program} "$@" 3<&{to_it} 4>&{from_it}'
        self._process = subprocess.Popen(
            [
                "bash",
                "-c",
                script,
                "chromium",
                *_FLAGS[:-1],
                f"--user-data-dir={folder / 'profile'}",
                _FLAGS[-1],
            ],
            pass_fds=(to_it, from_it),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(to_it)
        os.close(from_it)
        self._number = 0
        self._buffer = b""
        self._session = ""
        self.complaints: list[str] = []
        [page] = [each for each in self._ask("Target.getTargets")["targetInfos"] if each["type"] == "page"]
        attached = self._ask("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._ask(f"{domain}.enable")

    def open(self, address: str) -> None:
        assert "errorText" not in self._ask("Page.navigate", url=address)

    def says(self, expression: str) -> Any:
        """The value of an expression of JavaScript, awaited if it is a promise."""
        answer = self._ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Until the expression is true on the page."""
        until = monotonic() + _WITHIN
        while not self.says(f"document.readyState === 'complete' && Boolean({expression})"):
            assert monotonic() < until, f"never true: {expression}\n{self.says('document.body.innerText')}"
            select.select([], [], [], 0.05)

    def window(self, width: int, height: int, *, dark: bool = False) -> None:
        self._ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._ask("Emulation.setEmulatedMedia", features=[theme])

    def press(self, key: str) -> None:
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        for kind in ("keyDown", "keyUp"):
            given = {"text": text} if text and kind == "keyDown" else {}
            self._ask("Input.dispatchKeyEvent", type=kind, key=key, **given)

    def picture(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self._ask("Page.captureScreenshot", format="png")["data"]))

    def close(self) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)  # its helpers too
        self._process.wait()
        os.close(self._in)
        os.close(self._out)

    def _ask(self, method: str, **parameters: Any) -> Any:
        self._number += 1
        request: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            request["sessionId"] = self._session
        os.write(self._out, json.dumps(request).encode() + b"\0")
        until = monotonic() + _WITHIN
        while True:
            answer = self._next(until)
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return answer["result"]
            self._note(answer)

    def _note(self, event: Any) -> None:
        parameters = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(str(parameters["exceptionDetails"]))
        elif event.get("method") == "Runtime.consoleAPICalled":
            self.complaints.append(str(parameters["args"]))
        elif event.get("method") == "Log.entryAdded":
            self.complaints.append(parameters["entry"]["text"])

    def _next(self, until: float) -> Any:
        while b"\0" not in self._buffer:
            readable, _, _ = select.select([self._in], [], [], max(0.0, until - monotonic()))
            assert readable, "Chromium does not answer"
            data = os.read(self._in, 1 << 16)
            assert data, "Chromium has ended"
            self._buffer += data
        text, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(text)
