"""Headless Chromium by its DevTools protocol, with nothing but Python's own modules."""

import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request


def find_browser():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        found = shutil.which(name)
        if found:
            return found
    return None


class WebSocket:
    """Enough of RFC 6455 for a debugger."""

    def __init__(self, host, port, path):
        self.socket = socket.create_connection((host, port), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        self.file = self.socket.makefile("rb")
        while self.file.readline() not in (b"\r\n", b""):
            pass

    def send(self, text):
        payload = text.encode()
        mask = os.urandom(4)
        length = len(payload)
        head = b"\x81" + (
            struct.pack("!B", 0x80 | length) if length < 126
            else struct.pack("!BH", 0x80 | 126, length) if length < 65536
            else struct.pack("!BQ", 0x80 | 127, length)
        )  # fmt: skip
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
        self.socket.sendall(head + mask + masked)

    def receive(self):
        text = b""
        while True:
            first, second = self.file.read(2)
            length = second & 127
            if length == 126:
                (length,) = struct.unpack("!H", self.file.read(2))
            elif length == 127:
                (length,) = struct.unpack("!Q", self.file.read(8))
            text += self.file.read(length)
            if first & 0x80:
                return text.decode()

    def close(self):
        self.file.close()
        self.socket.close()


class Browser:
    """One page of a browser that is ended with it."""

    def __init__(self, program):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--remote-debugging-port=0", "--remote-allow-origins=*",
             "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream", "--hide-scrollbars",
             f"--user-data-dir={self.profile.name}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        where = os.path.join(self.profile.name, "DevToolsActivePort")
        for _ in range(600):
            if os.path.exists(where):
                with open(where) as file:
                    lines = file.read().splitlines()
                if len(lines) >= 2:
                    break
            time.sleep(0.1)
        port = int(lines[0])
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json", timeout=30) as reply:
            page = next(one for one in json.load(reply) if one["type"] == "page")
        self.web = WebSocket("127.0.0.1", port, page["webSocketDebuggerUrl"].split(str(port), 1)[1])
        self.number = 0
        self.problems = []  # errors of scripts, and requests to elsewhere
        for domain in ("Page", "Runtime", "Network", "DOM", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        self.number += 1
        mine = self.number
        self.web.send(json.dumps({"id": mine, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.web.receive())
            if message.get("id") == mine:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.note(message)

    def note(self, message):
        if message.get("method") == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(message["params"]["exceptionDetails"])[:500])
        if message.get("method") == "Network.requestWillBeSent":
            url = message["params"]["request"]["url"]
            if not url.startswith(("http://127.0.0.1:", "data:", "blob:", "about:")):
                self.problems.append(url)

    def run(self, script):
        """The value of a script, which may be a promise."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(json.dumps(found["exceptionDetails"])[:500])
        return found["result"].get("value")

    def wait(self, condition, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.run(f"!!({condition})"):
                return
            time.sleep(0.05)
        raise AssertionError(f"never: {condition}; the page says: {self.run('document.body.innerText')[:800]}")

    def open(self, url, width=1200, height=900):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Page.navigate", url=url)

    def choose_files(self, selector, paths):
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(path) for path in paths])

    def screenshot(self, path):
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def close(self):
        try:
            self.call("Browser.close")
        except (OSError, ValueError):
            pass
        self.web.close()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.profile.cleanup()
