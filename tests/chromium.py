"""Chromium without a window, driven over the pipes of its DevTools protocol."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
]
AS_3_AND_4 = """
import fcntl, os, sys
high = [fcntl.fcntl(int(argument), fcntl.F_DUPFD, 10) for argument in sys.argv[1:3]]
for descriptor, place in zip(high, (3, 4)):
    os.dup2(descriptor, place)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Chromium reads requests from descriptor 3 and writes answers to descriptor 4."""
SECONDS = 60
"""How long to wait for any answer."""
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "End": 35, "Home": 36}
KEYS |= {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}


def executable() -> str | None:
    """Chromium on this machine."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Page:
    """One tab: calls of the protocol, and what went wrong or was requested since the last ``open``."""

    def __init__(self, requests: int, answers: int) -> None:
        self._requests, self._answers = requests, answers
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self._events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol; returns its result."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        data = memoryview(json.dumps(message).encode() + b"\0")
        while data:
            data = data[os.write(self._requests, data) :]
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                return dict(answer["result"])
            self._events.append(answer)

    def _receive(self) -> dict[str, Any]:
        deadline = time.monotonic() + SECONDS
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._answers], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, "Chromium does not answer"
            chunk = os.read(self._answers, 1 << 20)
            assert chunk, "Chromium ended"
            self._buffer += chunk
        message, self._buffer = self._buffer.split(b"\0", 1)
        return dict(json.loads(message))

    def open(self, path: Path, script: bool = True) -> None:
        """Load a file and wait for it; ``script`` says whether its JavaScript may run."""
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self._events.clear()
        self.call("Page.navigate", url=path.resolve().as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self._events):
            self._events.append(self._receive())

    def resize(self, width: int, height: int, mobile: bool = False) -> None:
        """Give the tab a size in CSS pixels."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression after the next two frames, hence after every redrawing."""
        frames = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        answer = self.call(
            "Runtime.evaluate", expression=f"{frames}.then(() => ({expression}))", awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """Press and release a key on what has the focus."""
        text = {"text": "\r"} if key == "Enter" else {}
        names = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
        self.call("Input.dispatchKeyEvent", type="keyDown", **names, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **names)

    def type(self, text: str) -> None:
        """Insert text into what has the focus."""
        self.call("Input.insertText", text=text)

    def move(self, x: float, y: float) -> None:
        """Move the mouse."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, selector: str) -> None:
        """Click the middle of an element with the mouse."""
        element = f"document.querySelector({json.dumps(selector)})"
        self.evaluate(f"{element}.scrollIntoView({{block: 'center'}})")
        # What comes into view may be drawn, and move the element, before the next evaluation.
        x, y = self.evaluate(f"(r => [r.x + r.width / 2, r.y + r.height / 2])({element}.getBoundingClientRect())")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def screenshot(self, path: Path, whole: bool = False) -> None:
        """Save what the tab shows, or the whole page."""
        picture = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(picture["data"]))

    def requests(self) -> list[str]:
        """Addresses requested since the page was opened."""
        self.evaluate("0")
        sent = [event for event in self._events if event.get("method") == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]

    def complaints(self) -> list[dict[str, Any]]:
        """Errors, warnings and console output since the page was opened."""
        self.evaluate("0")
        methods = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        return [event["params"] for event in self._events if event.get("method") in methods]


@contextmanager
def open_page(program: str) -> Iterator[Page]:
    """A tab of a fresh Chromium, which ends with the context."""
    requests, answers = os.pipe(), os.pipe()
    theirs, ours = (requests[0], answers[1]), (requests[1], answers[0])
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        start = [sys.executable, "-c", AS_3_AND_4, *map(str, theirs), program]
        process = subprocess.Popen(
            [*start, *FLAGS, f"--user-data-dir={folder}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=theirs,
        )
        for descriptor in theirs:
            os.close(descriptor)
        try:
            page = Page(*ours)
            yield page
            page._session = None
            page.call("Browser.close")
        finally:
            for descriptor in ours:
                os.close(descriptor)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
