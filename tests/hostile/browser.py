"""A real Chromium, driven through its debugging pipe: what a page does when somebody opens it."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
_OPTIONS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --remote-debugging-pipe --window-size=1200,900"
)
_LISTEN = "window.refused = []; addEventListener('securitypolicyviolation', (e) => refused.push(\
`${e.violatedDirective} ${e.blockedURI} ${e.sample}`));"
_FRAMES = """new Promise((go) => {
  let left = 6;
  const next = () => (left-- ? requestAnimationFrame(next) : go());
  next();
})"""
_PATIENCE = 120.0
_TALLEST = 5000


class Browser:
    """One page; `complaints` are its dialogs, errors and messages, `requests` the addresses it asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = 0
        self._heard = b""
        self._answers: dict[int, dict[str, Any]] = {}
        self._session: str | None = None
        self.complaints: list[str] = []
        self.requests: list[str] = []

    def __enter__(self) -> Browser:
        to_it, self._tell = os.pipe()
        self._hear, from_it = os.pipe()
        # It reads from descriptor 3 and writes to 4, where a shell in between leaves them.
        place = 'exec 3<&"$0" 4>&"$1"; shift; exec "$@"'
        words = [str(CHROMIUM), *_OPTIONS.split(), f"--user-data-dir={self._folder / 'profile'}"]
        # No name leads anywhere: a page that asks for something is seen, and gets nothing.
        words += ["--host-resolver-rules=MAP * ~NOTFOUND", "about:blank"]
        self._process = subprocess.Popen(
            ["bash", "-c", place, str(to_it), str(from_it), *words],
            pass_fds=(to_it, from_it),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(to_it)
        os.close(from_it)
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")
        self.ask("Page.addScriptToEvaluateOnNewDocument", source=_LISTEN)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._tell)
        os.close(self._hear)

    def ask(self, method: str, **parameters: object) -> dict[str, Any]:
        """A command of the protocol, and its answer."""
        self._number += 1
        words: dict[str, object] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            words["sessionId"] = self._session
        os.write(self._tell, json.dumps(words).encode() + b"\0")
        end = time.monotonic() + _PATIENCE
        while self._number not in self._answers:
            self._listen(end - time.monotonic())
        answer = self._answers.pop(self._number)
        assert "result" in answer, (method, answer)
        found: dict[str, Any] = answer["result"]
        return found

    def _listen(self, patience: float) -> None:
        assert select.select([self._hear], [], [], max(0.0, patience))[0], "the browser does not answer"
        piece = os.read(self._hear, 1 << 20)
        assert piece, "the browser is gone"
        *whole, self._heard = (self._heard + piece).split(b"\0")
        for line in whole:
            said = json.loads(line)
            if "id" in said:
                self._answers[said["id"]] = said
            else:
                self._note(said["method"], said["params"])

    def _note(self, what: str, told: dict[str, Any]) -> None:
        if what == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        elif what == "Page.javascriptDialogOpening":
            self.complaints.append(f"dialog: {told['message']}")
            words = {"id": 0, "method": "Page.handleJavaScriptDialog", "params": {"accept": False}}
            os.write(self._tell, json.dumps(words | {"sessionId": self._session}).encode() + b"\0")
        elif what in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"):
            self.complaints.append(f"{what}: {json.dumps(told)[:500]}")

    def run(self, code: str) -> Any:
        """What an expression of JavaScript gives, in the page; promises are waited for."""
        answer = self.ask("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def open(self, page: Path, at: str = "") -> None:
        """Load a page and wait until it is quiet."""
        self.ask("Page.navigate", url=page.as_uri() + at)
        end = time.monotonic() + _PATIENCE
        while self.run("document.readyState") != "complete" or self.run("location.href") == "about:blank":
            assert time.monotonic() < end
            time.sleep(0.05)
        self.rest()

    def rest(self) -> None:
        """Until the page has drawn what it was about to draw."""
        self.run(_FRAMES)

    def point(self, x: float, y: float) -> None:
        self.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        self.rest()

    def each(self, selector: str) -> Iterator[dict[str, float]]:
        """The places of all elements that are shown, each scrolled into view."""
        count = self.run(f"document.querySelectorAll({json.dumps(selector)}).length")
        for number in range(count):
            found = self.run(
                f"(() => {{ const one = document.querySelectorAll({json.dumps(selector)})[{number}];"
                "one.scrollIntoView({block: 'center'}); const r = one.getBoundingClientRect();"
                "return {x: r.x, y: r.y, width: r.width, height: r.height}; })()"
            )
            if found["width"] and found["height"]:
                self.rest()
                yield found

    def refused(self) -> list[str]:
        """What the page's own policy has kept from running or loading."""
        found: list[str] = self.run("window.refused")
        return found

    def picture(self, path: Path) -> None:
        height = min(_TALLEST, self.run("document.documentElement.scrollHeight"))
        clip = {"x": 0, "y": 0, "width": 1200, "height": height, "scale": 1}
        shot = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(shot["data"]))
