"""`sact serve` for tests: starts it, talks to it, ends it."""

import http.client
import json
import os
import pathlib
import signal
import subprocess
import uuid

SOURCE = pathlib.Path(os.environ["SACT_SOURCE_DIR"])
PROGRAM = os.environ["SACT_PROGRAM"]
PICTURE = (SOURCE / "docs" / "images" / "ponder.png").read_bytes()


def sact(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def small_model(path, *options):
    sact("new", "--units", "2,4", "--width", "4", "--classes", "7", "--input-size", "64", "--halting", "sact",
         "--halting-bias", "-1", "--halting-scale", "0.3", *options, "--out", path)  # fmt: skip


def small_detector(folder):
    spec = folder / "spec.json"
    spec.write_text(json.dumps({
        "units": [1, 2, 2], "width": 4, "classes": 3, "halting": "sact", "labels": ["cat", "dog", "car"],
        "detection": {"shorter_side": 64, "anchor_sizes": [16, 32], "proposals": 20, "proposal_channels": 8,
                      "crop": 8, "pool": 2}}))  # fmt: skip
    sact("new", "--spec", spec, "--halting-bias", "-1", "--halting-scale", "0.1", "--out", folder / "finder.safetensors")


def form(files, fields=()):
    """The body of a form, and its content type."""
    boundary = uuid.uuid4().hex
    parts = []
    for name, value in fields:
        parts.append(f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode())
    for name, content in files:
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="image"; filename="{name}"\r\n'
        parts.append(head.encode() + b"Content-Type: image/png\r\n\r\n" + content + b"\r\n")
    return b"".join(parts) + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


class Server:
    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [PROGRAM, "serve", *map(str, arguments), "--port", "0", "--json", *([] if "--threads" in arguments else ["--threads", "1"])],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(self.process.stderr.read())
        self.started = json.loads(line)
        self.port = self.started["port"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        """Asks it to end, and gives its status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(timeout=30)
        self.process.stdout.close()
        self.process.stderr.close()
        return status

    def ask(self, method, path, body=None, headers=None):
        """The status, the headers and the body of a reply."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            try:
                connection.request(method, path, body, headers or {})
            except OSError:
                pass  # a server that does not want the body may close before all of it is sent
            reply = connection.getresponse()
            return reply.status, dict(reply.getheaders()), reply.read()
        finally:
            connection.close()

    def memory(self):
        """Bytes that it has in memory."""
        with open(f"/proc/{self.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def most_memory(self):
        """The most bytes that it ever had in memory."""
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(1024 * int(line.split()[1]) for line in file if line.startswith("VmHWM"))
