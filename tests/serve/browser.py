"""A headless Chromium that a test drives: pages are opened, keys pressed, scripts run, pictures taken.

It speaks the protocol of the developer tools over a pair of pipes: messages of JSON, each with a zero behind
it. Nothing of the page is changed for a test, so the page's own policy stays as strict as it is for users.
"""

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
_SECONDS = 60.0
_CHUNK = 1 << 16


class Browser:
    """One page. `complaints` are the errors and refusals that the page caused."""

    def __init__(self, profile: Path) -> None:
        chromium = shutil.which("chromium")
        assert chromium is not None, "Chromium is missing: tools/bootstrap core test installs it"
        its_input, self._out = os.pipe()
        self._in, its_output = os.pipe()
        self._running = subprocess.Popen(
            # Chromium reads commands from 3 and writes to 4.
            ["bash", "-c", f'exec "$0" "$@" 3<&{its_input} 4>&{its_output}', chromium, *_FLAGS,
             f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(its_input, its_output),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        os.close(its_input)
        os.close(its_output)
        self.complaints: list[str] = []
        self._number = 0
        self._data = b""
        self._session: str | None = None
        self._loads = 0

    def __enter__(self) -> Self:
        targets = self._do("Target.getTargets")["targetInfos"]
        page = next(each for each in targets if each["type"] == "page")
        attached = self._do("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._do(f"{domain}.enable")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.killpg(self._running.pid, signal.SIGKILL)  # its helpers too
        self._running.wait()
        os.close(self._in)
        os.close(self._out)

    def open(self, address: str) -> None:
        """Returns when the page and its scripts are loaded."""
        before = self._loads
        self._do("Page.navigate", url=address)
        end = time.monotonic() + _SECONDS
        while self._loads == before:
            self._take(self._next(end))

    def look(self, width: int, height: int, *, dark: bool = False) -> None:
        """The size of the window in CSS pixels, and the colours that the system asks for."""
        self._do(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._do("Emulation.setEmulatedMedia", features=[scheme])

    def run(self, script: str) -> Any:
        """The value of an expression in the page; that of a promise is awaited."""
        done = self._do("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def wait(self, script: str) -> Any:
        """Waits until an expression in the page is true; its value."""
        end = time.monotonic() + _SECONDS
        while not (found := self.run(script)):
            assert time.monotonic() < end, f"this never became true: {script}"
            self.run("new Promise((done) => setTimeout(done, 20))")
        return found

    def press(self, key: str, *, shift: bool = False) -> None:
        """A key with a name, such as `F8`, `Tab` or `ArrowRight`."""
        codes = {"Tab": 9, "Escape": 27, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowRight": 39, "F8": 119}
        pressed = {
            "key": key,
            "code": key,
            "windowsVirtualKeyCode": codes[key],
            "modifiers": 8 if shift else 0,
        }
        self._do("Input.dispatchKeyEvent", type="rawKeyDown", **pressed)
        self._do("Input.dispatchKeyEvent", type="keyUp", **pressed)

    def type(self, text: str) -> None:
        """Into what has the focus."""
        self._do("Input.insertText", text=text)

    def picture(self, path: Path) -> None:
        """What is seen, as a PNG."""
        path.write_bytes(base64.b64decode(self._do("Page.captureScreenshot", format="png")["data"]))

    def _do(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        number = self._number
        asked: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            asked["sessionId"] = self._session
        os.write(self._out, json.dumps(asked).encode() + b"\0")
        end = time.monotonic() + _SECONDS
        while True:
            message = self._next(end)
            if message.get("id") == number:
                assert "error" not in message, (method, message["error"])
                result: dict[str, Any] = message["result"]
                return result
            self._take(message)

    def _take(self, message: dict[str, Any]) -> None:
        told = message.get("params", {})
        match message.get("method"):
            case "Page.loadEventFired":
                self._loads += 1
            case "Runtime.exceptionThrown":
                self.complaints.append(str(told["exceptionDetails"]))
            case "Log.entryAdded" if told["entry"]["level"] in ("error", "warning"):
                self.complaints.append(told["entry"]["text"])
            case "Runtime.consoleAPICalled" if told["type"] in ("error", "warning", "assert"):
                self.complaints.append(str(told["args"]))

    def _next(self, end: float) -> dict[str, Any]:
        while b"\0" not in self._data:
            readable, _, _ = select.select([self._in], [], [], max(0.0, end - time.monotonic()))
            assert readable, "Chromium gave no answer"
            piece = os.read(self._in, _CHUNK)
            assert piece, "Chromium has ended"
            self._data += piece
        line, _, self._data = self._data.partition(b"\0")
        found: dict[str, Any] = json.loads(line)
        return found
