"""`sact serve` on sockets: forms, limits, rude clients, and its end."""

import concurrent.futures
import gzip
import http.client
import json
import os
import pathlib
import random
import resource
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest
import zlib

from rude import be_rude
from server import PICTURE, PROGRAM, SOURCE, Server, form, sact, small_detector, small_model


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

    def test_forms_may_be_written_in_any_way(self):
        for kind, disposition in (
            ("multipart/form-data; boundary=b", "form-data; name=image; filename=a.png"),
            ("multipart/form-data; boundary=b; charset=utf-8", 'form-data; filename="a.png"; name="image"'),
            ("Multipart/Form-Data; Boundary=b", "form-data; filename*=UTF-8''a.png"),
        ):
            body = b"--b\r\nContent-Disposition: " + disposition.encode() + b"\r\n\r\n" + PICTURE + b"\r\n--b--\r\n"
            sent = self.ask_json("POST", "/v1/classify", body, {"Content-Type": kind})["images"][0]
            self.assertEqual(sent["path"], "a.png")

    def test_hostile_headers_of_forms_take_no_time(self):
        hostile = b'--b\r\nContent-Disposition: form-data; name="image' + b'";filename="";filename*=' * 330
        body = hostile + b"\r\n\r\nx\r\n--b--\r\n"
        start = time.monotonic()
        for _ in range(100):
            status = self.server.ask("POST", "/v1/classify", body, {"Content-Type": "multipart/form-data; boundary=b"})[0]
            self.assertEqual(status, 431)
        self.assertLess(time.monotonic() - start, 5)  # it took 9 s for each
        body, kind = form([("a.png", PICTURE)])
        self.assertIn("form", self.ask_json("POST", "/v1/classify", body[:-10], {"Content-Type": kind}, status=400)["error"])

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
            slow.sendall(b"POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n")
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

    def drip(self, head, seconds, server=None, then=b"X"):
        """Sends `head`, and then a byte now and then; what came back until the server closed, and when that was."""
        start = time.monotonic()
        reply = b""
        with socket.create_connection(("127.0.0.1", (server or self.server).port), timeout=20) as slow:
            slow.sendall(head)
            slow.settimeout(0.2)
            while time.monotonic() - start < seconds:
                try:
                    slow.sendall(then)
                    found = slow.recv(4096)
                    if not found:
                        break
                    reply += found
                except (socket.timeout, TimeoutError):
                    continue
                except OSError:
                    break
        return reply, time.monotonic() - start

    def test_no_byte_prolongs_the_time_of_a_request(self):
        for head in (
            b"POST /v1/clas",
            b"POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nX-",
            b"POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n",
            b"POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nfff\r\n",
            b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n",
        ):
            reply, seconds = self.drip(head, 15)
            self.assertLess(seconds, 7, head)  # --timeout is 2, and 2 are given to take the reply
            if b"Content-Length" in head and head.startswith(b"POST"):
                self.assertIn(b"408", reply)

    def send(self, request, seconds=20, server=None):
        """All that comes back for these bytes, until the server closes."""
        with socket.create_connection(("127.0.0.1", (server or self.server).port), timeout=seconds) as client:
            reply = b""
            try:
                client.sendall(request)
                client.shutdown(socket.SHUT_WR)
            except ConnectionError:
                pass  # the server may have closed it, after a reply
            try:
                while part := client.recv(65536):
                    reply += part
            except ConnectionError:
                pass
            return reply

    def test_a_first_line_that_does_not_come_is_refused(self):
        reply, _ = self.drip(b"POST /v1/clas", 15)
        self.assertIn(b" 408 ", reply)
        self.assertIn(b"too slowly", reply)

    def test_packed_bodies_are_not_unpacked(self):
        packed = gzip.compress(b"\0" * (20 << 20))
        for encoding in ("gzip", "deflate", "br", "identity, gzip"):
            status, _, body = self.server.ask("POST", "/v1/classify", packed, {"Content-Encoding": encoding})
            self.assertEqual(status, 415, body)
        self.ask_json("POST", "/v1/classify", PICTURE, {"Content-Encoding": "identity"})

    def test_ranges_are_ignored(self):
        status, headers, body = self.server.ask("GET", "/", headers={"Range": "bytes=" + ",".join(["0-"] * 1000)})
        self.assertEqual(status, 200)
        self.assertEqual(body, self.server.ask("GET", "/")[2])

    def test_heads_have_a_limit(self):
        for head in (b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"a:b\r\n" * 200000, b"GET /" + b"a" * 1000000):
            self.assertIn(b" 431 ", self.send(head)[:20])
        # Half of that is no mistake.
        many = b"".join(b"X-%d: %s\r\n" % (i, b"y" * 80) for i in range(160))
        reply = self.send(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + many + b"\r\n")
        self.assertIn(b" 200 ", reply[:20])

    def test_only_its_own_pages_may_ask_by_its_own_names(self):
        def status(*headers, server=None, version=b"1.1"):
            lines = b"".join(line.encode() + b"\r\n" for line in headers)
            head = b"GET /health HTTP/" + version + b"\r\nConnection: close\r\n" + lines + b"\r\n"
            return int(self.send(head, server=server).split()[1])

        port = self.server.port
        for host in ("localhost", f"LOCALHOST:{port}", "127.0.0.1", f"127.0.0.1:{port}", "[::1]:80"):
            self.assertEqual(status(f"Host: {host}"), 200)
        for host in ("example.org", f"rebound.example.org:{port}", "localhost.example.org"):
            self.assertEqual(status(f"Host: {host}"), 421)
        self.assertEqual(status(), 400)
        self.assertEqual(status("Host: localhost", "Host: localhost"), 400)
        self.assertEqual(status(version=b"1.0"), 200)
        for own in (f"Origin: http://localhost:{port}", f"Origin: https://localhost:{port}", "Sec-Fetch-Site: same-origin",
                    "Sec-Fetch-Site: none"):  # fmt: skip
            self.assertEqual(status(f"Host: localhost:{port}", own), 200, own)
        for other in ("Origin: https://example.org", "Origin: null", "Origin: http://localhost:1",
                      f"Origin: http://127.0.0.1:{port}", "Sec-Fetch-Site: cross-site"):  # fmt: skip
            self.assertEqual(status(f"Host: localhost:{port}", other), 403, other)
        found = self.server.ask("POST", "/v1/classify", PICTURE, {"Origin": "https://example.org"})
        self.assertEqual(found[0], 403)
        with Server(self.model, "--allow-host", "sact.example.org", "--allow-host", "other") as server:
            for host in ("sact.example.org", "Other:443", "localhost"):
                self.assertEqual(status(f"Host: {host}", server=server), 200, host)
            self.assertEqual(status("Host: sact.example.org", "Origin: https://sact.example.org", server=server), 200)
            self.assertEqual(status("Host: example.org", server=server), 421)
        with Server(self.model, "--host", "0.0.0.0") as server:
            self.assertEqual(status("Host: example.org", server=server), 200)
        with Server(self.model, "--host", "0.0.0.0", "--allow-host", "other") as server:
            self.assertEqual(status("Host: example.org", server=server), 421)

    def test_where_a_body_ends_must_be_clear(self):
        inner = b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for status, headers in (
            (411, b""),
            (400, b"Content-Length: x\r\n"),
            (400, b"Content-Length: 5x\r\n"),
            (400, b"Content-Length: -1\r\n"),
            (400, b"Content-Length: 5\r\nContent-Length: 6\r\n"),
            (400, b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
            (400, b"Content-Length : 5\r\n"),
            (501, b"Transfer-Encoding: gzip\r\n"),
            (501, b"Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n"),
        ):
            start = time.monotonic()
            reply = self.send(b"POST /v1/classify HTTP/1.1\r\nHost: localhost\r\n" + headers + b"\r\n" + inner)
            self.assertIn(b" %d " % status, reply[:20], headers)
            self.assertEqual(reply.count(b"HTTP/1.1 "), 1, headers)
            self.assertLess(time.monotonic() - start, 1.5)

    def test_who_never_stops_sending_is_not_heard_out_for_ever(self):
        start = time.monotonic()
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=20) as client:
            try:
                client.sendall(b"POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % (1 << 40))
                while time.monotonic() - start < 12:
                    client.sendall(b"x" * (1 << 20))
            except OSError:
                pass
        self.assertLess(time.monotonic() - start, 6)

    def test_replies_count_as_bodies_do(self):
        body, kind = form([("a.png", PICTURE), ("b.png", PICTURE)], [("maps", 1), ("size", 1024)])
        with Server(self.model, "--max-body", "1", "--max-bodies", "1") as server:
            reply = self.ask_json("POST", "/v1/classify", body, {"Content-Type": kind}, status=413, server=server)
            self.assertIn("maps", reply["error"])
            self.ask_json("POST", "/v1/classify?maps=1&size=640", PICTURE, server=server)
            head = b"POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000\r\n\r\n"
            for _ in range(10):
                with socket.create_connection(("127.0.0.1", server.port), timeout=20) as other:
                    other.sendall(head + b"x" * 600000)
                    time.sleep(0.2)  # in which it should have come
                    status, headers, reply = server.ask("POST", "/v1/classify?maps=1&size=640", PICTURE)
                if status == 503:
                    break
            self.assertEqual(status, 503, len(reply))
            self.assertIn(b"replies", reply)
            self.assertEqual(headers["Retry-After"], "1")
            self.assertIn(b'{endpoint="/v1/classify",status="503"} 1\n', server.ask("GET", "/metrics")[2])
            for _ in range(50):  # what was counted is given back
                self.ask_json("POST", "/v1/classify?maps=1", PICTURE, server=server)

    def test_a_body_that_is_said_to_be_too_long_is_refused_at_once(self):
        head = b"POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n"
        for length in (1 << 30, 1 << 62):
            with socket.create_connection(("127.0.0.1", self.server.port), timeout=20) as client:
                client.sendall(head % length)
                start = time.monotonic()
                self.assertIn(b" 413 ", client.recv(4096))
                self.assertLess(time.monotonic() - start, 2)

    def test_a_body_that_nobody_wants_is_no_request(self):
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=20) as client:
            inner = b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n"
            client.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(inner) + inner)
            client.shutdown(socket.SHUT_WR)
            reply = b""
            while part := client.recv(4096):
                reply += part
        self.assertEqual(reply.count(b"HTTP/1.1 "), 1)

    def test_other_methods_are_refused(self):
        for method in ("PUT", "DELETE", "PATCH", "OPTIONS"):
            status, headers, _ = self.server.ask(method, "/v1/classify", b"x" * 1000)
            self.assertEqual((status, headers["Allow"]), (405, "POST"))
            status, headers, _ = self.server.ask(method, "/health", b"x" * 1000)
            self.assertEqual((status, headers["Allow"]), (405, "GET, HEAD"))
            self.assertEqual(self.server.ask(method, "/none")[0], 404)

    def test_slow_clients_do_not_hold_its_end_up(self):
        server = Server(self.model, "--timeout", "60")
        heads = [b"POST /v1/cl", b"POST / HTTP/1.1\r\nHost: localhost\r\nX-", b"",
                 b"POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n"] * 3  # fmt: skip
        with concurrent.futures.ThreadPoolExecutor(len(heads)) as pool:
            slow = [pool.submit(self.drip, head, 20, server, b"X" if head else b"") for head in heads]
            time.sleep(0.5)
            started = time.monotonic()
            self.assertEqual(server.end(), 0)
            self.assertLess(time.monotonic() - started, 8)
            for one in slow:
                one.result()

    def test_connections_that_were_not_served_do_not_hold_its_end_up(self):
        server = Server(self.model, "--connections", "1", "--timeout", "60")
        waiting = []
        try:
            for _ in range(36):  # the last ones are not even accepted
                waiting.append(socket.create_connection(("127.0.0.1", server.port)))
                waiting[-1].sendall(b"POST /v1/cl")
            time.sleep(0.5)
            started = time.monotonic()
            self.assertEqual(server.end(), 0)
            self.assertLess(time.monotonic() - started, 8)
        finally:
            for connection in waiting:
                connection.close()

    @unittest.skipIf("ASAN_OPTIONS" in os.environ, "sanitizers need address space of their own")
    def test_threads_that_cannot_be_started_are_a_mistake_of_one_line(self):
        few = 8 << 30  # of address space, of which each thread takes some for its stack
        run = subprocess.run([PROGRAM, "serve", self.model, "--port", "0", "--connections", "10000"],
                             capture_output=True, text=True, timeout=60,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (few, few)))  # fmt: skip
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("--connections", run.stderr)
        self.assertEqual(run.stderr.count("\n"), 1)

    def test_a_client_that_takes_no_reply_is_given_up(self):
        body = PICTURE
        with Server(self.model, "--timeout", "2", "--connections", "1") as server:
            with socket.socket() as deaf:
                deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
                deaf.connect(("127.0.0.1", server.port))
                # The page again and again, until no more of it fits on the way.
                deaf.setblocking(False)
                try:
                    for _ in range(3000):
                        deaf.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                except BlockingIOError:
                    pass
                for _ in range(100):
                    status, _, _ = server.ask("POST", "/v1/classify", body)
                    if status == 200:
                        break
                    time.sleep(0.1)
                self.assertEqual(status, 200)

    def test_large_images_are_decoded_when_their_turn_has_come(self):
        def flat(side):
            """A PNG of one colour: small as a file, and three bytes a pixel when it is decoded."""
            row = b"\0" + b"\x40\x80\xc0" * side
            pack = zlib.compressobj(9)
            data = b"".join(pack.compress(row) for _ in range(side)) + pack.flush()

            def chunk(kind, content):
                return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

            return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
                    + chunk(b"IDAT", data) + chunk(b"IEND", b""))  # fmt: skip

        body, kind = form([(f"{i}.png", flat(2500)) for i in range(24)])  # 19 MB each
        with Server(self.model, "--max-decoded", "64", "--threads", "2") as server:
            before = server.most_memory()
            reply = self.ask_json("POST", "/v1/classify", body, {"Content-Type": kind}, server=server)
            self.assertEqual(len([one for one in reply["images"] if "top" in one]), 24)
            self.assertLess(server.most_memory() - before, 100 << 20)

    def test_bodies_have_a_limit_in_all(self):
        head = b"POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % (3 << 20)
        with Server(self.model, "--max-body", "4", "--max-bodies", "8") as server:
            clients = [socket.create_connection(("127.0.0.1", server.port), timeout=20) for _ in range(4)]
            replies = []
            try:
                for client in clients:  # of each body all but the end
                    try:
                        client.sendall(head + b"x" * ((3 << 20) - 10))
                    except OSError:
                        pass
                for client in clients:
                    client.settimeout(1)
                    try:
                        replies.append(client.recv(100))
                    except OSError:
                        continue
            finally:
                for client in clients:
                    client.close()
            self.assertIn(b" 503 ", b"".join(replies))
            self.ask_json("POST", "/v1/classify", PICTURE, server=server)

    def test_what_takes_too_long_is_cancelled_with_all_of_its_request(self):
        body, kind = form([(f"{i}.png", PICTURE) for i in range(60)], [("size", 512), ("whole", 1)])
        with Server(SOURCE / "models" / "imagenette-sact.safetensors", "--timeout", "1") as server:
            status, _, reply = server.ask("POST", "/v1/classify", body, {"Content-Type": kind})
            self.assertEqual(status, 504, reply)
            self.assertIn(b"sact_queue_images 0\n", server.ask("GET", "/metrics")[2])
            # All of it would take longer than these two together may.
            tries = [server.ask("POST", "/v1/classify", PICTURE)[0] for _ in range(2)]
            self.assertIn(200, tries)

    def test_fields_do_not_run_into_parameters_of_the_address(self):
        body, kind = form([("a.png", PICTURE)], [("top", 2)])
        reply = self.ask_json("POST", "/v1/classify?top=1", body, {"Content-Type": kind}, status=400)
        self.assertIn("twice", reply["error"])

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
            ([self.model, "--allow-host", "http://x"], "--allow-host"),
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
