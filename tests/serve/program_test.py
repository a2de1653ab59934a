"""`sact serve` on sockets: forms, limits, rude clients, and its end."""

import concurrent.futures
import http.client
import json
import pathlib
import random
import socket
import subprocess
import tempfile
import threading
import time
import unittest

from rude import be_rude
from server import PICTURE, PROGRAM, Server, form, sact, small_detector, small_model


class Serving(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.scratch.name)
        cls.model = folder / "m.safetensors"
        small_model(cls.model)
        small_detector(folder)
        cls.finder = folder / "finder.safetensors"
        cls.picture = folder / "p.png"
        cls.picture.write_bytes(PICTURE)
        cls.server = Server(cls.model, cls.finder, "--max-body", "4", "--timeout", "2", "--connections", "8")

    @classmethod
    def tearDownClass(cls):
        assert cls.server.end() == 0
        cls.scratch.cleanup()

    def ask_json(self, *arguments, status=200, server=None):
        found, _, body = (server or self.server).ask(*arguments)
        self.assertEqual(found, status, body)
        return json.loads(body)

    def test_raw_bodies_and_forms_give_what_the_program_gives(self):
        right = json.loads(sact("predict", self.model, self.picture, "--json", "--no-pictures", "--threads", "1"))
        right = right["images"][0]
        raw = self.ask_json("POST", "/v1/classify?top=3", PICTURE)["images"][0]
        body, kind = form([("a.png", PICTURE)], [("top", 3), ("model", "m")])
        sent = self.ask_json("POST", "/v1/classify", body, {"Content-Type": kind})["images"][0]
        for found in (raw, sent):
            self.assertEqual(found["top"], right["top"][:3])
            self.assertEqual(found["flops"], right["flops"])
        self.assertEqual(sent["path"], "a.png")
        self.assertEqual(len(self.ask_json("POST", "/v1/detect", PICTURE)["images"]), 1)

    def test_requests_that_arrive_together_run_together(self):
        def ask(_):
            return self.ask_json("POST", "/v1/classify", PICTURE, server=server)["images"][0]

        with Server(self.model) as server:
            with concurrent.futures.ThreadPoolExecutor(16) as pool:
                found = list(pool.map(ask, range(160)))
        self.assertEqual(len({json.dumps(one["top"][0]["label"]) for one in found}), 1)
        self.assertGreater(max(one["together"] for one in found), 1)

    def test_connections_are_kept(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=10)
        for _ in range(20):
            connection.request("POST", "/v1/classify", PICTURE)
            self.assertEqual(connection.getresponse().read()[:1], b"{")
        connection.close()

    def test_no_file_of_the_machine_is_readable(self):
        for path in ("/etc/passwd", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/m.safetensors",
                     "/v1/classify/../../etc/passwd", "/.", "/proc/self/environ"):  # fmt: skip
            status, _, body = self.server.ask("GET", path)
            self.assertEqual(status, 404, path)
            self.assertNotIn(b"root:", body)

    def test_what_is_too_large_or_too_slow_is_refused(self):
        status, _, body = self.server.ask("POST", "/v1/classify", b"x" * (5 << 20))
        self.assertEqual(status, 413)
        self.assertIn(b"error", body)
        body, kind = form([(f"{i}.png", b"x") for i in range(200)])
        self.assertEqual(self.server.ask("POST", "/v1/classify", body, {"Content-Type": kind})[0], 413)
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=20) as slow:
            slow.sendall(b"POST /v1/classify HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
            reply = b""
            for _ in range(40):  # a byte now and then, for longer than a request may take
                try:
                    slow.sendall(b"x")
                    slow.settimeout(0.1)
                    reply = slow.recv(1000)
                    break
                except (socket.timeout, TimeoutError):
                    continue
                except OSError:
                    break
            self.assertIn(b"408", reply)

    def test_connections_beyond_the_limit_are_told_to_come_back(self):
        idle = []
        try:
            for request in (["GET", "/health"], ["POST", "/v1/classify", PICTURE]):
                for _ in range(20):  # connections of before may still be closing, and idle ones close after a while
                    idle.append(socket.create_connection(("127.0.0.1", self.server.port)))
                    status, headers, _ = self.server.ask(*request)
                    if status == 503:
                        break
                self.assertEqual(status, 503)
                self.assertEqual(headers["Retry-After"], "1")
        finally:
            for connection in idle:
                connection.close()
        for _ in range(50):
            if self.server.ask("GET", "/health")[0] == 200:
                break
            time.sleep(0.1)
        self.assertEqual(self.server.ask("GET", "/health")[0], 200)

    def test_rude_clients_do_no_harm(self):
        seed = random.randrange(1 << 30)
        be_rude(self.server, 150, seed)
        self.assertEqual(self.ask_json("GET", "/health")["status"], "ok")

    def test_a_signal_ends_it_when_what_has_begun_is_answered(self):
        server = Server(self.model)
        replies = []

        def ask():
            body, kind = form([(f"{i}.png", PICTURE) for i in range(40)])
            replies.append(server.ask("POST", "/v1/classify?size=512&whole=1", body, {"Content-Type": kind})[0])

        asking = [threading.Thread(target=ask) for _ in range(1)]
        for one in asking:
            one.start()
        for _ in range(100):
            if b"sact_queue_images 0\n" not in server.ask("GET", "/metrics")[2]:
                break
            time.sleep(0.02)
        started = time.monotonic()
        self.assertEqual(server.end(), 0)
        for one in asking:
            one.join()
        self.assertEqual(replies, [200])
        self.assertLess(time.monotonic() - started, 25)

    def test_mistakes_at_the_start_are_one_line(self):
        for arguments, said in [
            (["no/such/model"], "no/such/model"),
            ([self.model, self.model], "two models"),
            ([self.model, "--port", self.server.port], "cannot listen"),
            ([self.model, "--host", "203.0.113.7", "--port", "0"], "cannot listen"),
        ]:
            run = subprocess.run([PROGRAM, "serve", *map(str, arguments)], capture_output=True, text=True, timeout=30)
            self.assertEqual(run.returncode, 1, run.stderr)
            self.assertIn(said, run.stderr)
            self.assertEqual(run.stderr.count("\n"), 1)

    def test_it_says_where_it_listens_and_what_it_has(self):
        started = self.server.started
        self.assertEqual(list(started), ["schema", "address", "port", "models"])
        self.assertEqual(started["address"], f"http://127.0.0.1:{self.server.port}/")
        self.assertEqual([model["name"] for model in started["models"]], ["m", "finder"])
        self.assertEqual(self.ask_json("GET", "/v1/models")["models"], started["models"])

    def test_only_this_machine_is_let_in(self):
        with open("/proc/net/tcp") as file:
            listening = [line.split()[1] for line in file if line.split()[3] == "0A"]
        self.assertIn(f"0100007F:{self.server.port:04X}", listening)
        self.assertNotIn(f"00000000:{self.server.port:04X}", listening)


if __name__ == "__main__":
    unittest.main()
