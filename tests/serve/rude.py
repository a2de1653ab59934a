"""Clients that do not behave: damaged forms, cut bodies, huge headers, bodies that never end.

    SACT_PROGRAM=build/sact SACT_SOURCE_DIR=. python3 tests/serve/rude.py [COUNT [SEED]]

starts a server and sends COUNT (10000) such requests, while another client asks properly all the time.
"""

import pathlib
import random
import signal
import socket
import sys
import tempfile
import threading
import time

from server import PICTURE, Server, form, small_model


def rude_request(chance, number):
    """The bytes of one request, and whether its client is slow."""
    body, kind = form([("a.png", PICTURE[:3000])], [("top", 2)])
    if number % 3 == 0:
        body, kind = PICTURE[:3000], "image/png"
    head = (f"POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n")  # fmt: skip
    sent = bytearray(head.encode() + body)
    for _ in range(chance.randrange(1, 30)):
        harm, at = chance.randrange(3), chance.randrange(min(len(sent), 700) or 1)
        if harm == 0 and sent:
            sent[at] = chance.randrange(256)
        elif harm == 1:
            del sent[at : at + chance.randrange(40)]
        else:
            sent[at:at] = bytes(chance.randrange(256) for _ in range(chance.randrange(40)))
    if number % 5 == 0:
        sent = sent[: chance.randrange(len(sent) + 1)]
    if number % 50 == 1:
        sent = b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 100000 + b"\r\n\r\n"
    if number % 50 == 2:
        sent = b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"".join(b"X%d: y\r\n" % i for i in range(2000)) + b"\r\n"
    if number % 50 == 3:
        sent = b"POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\n" + b"x" * 1000
    return bytes(sent), number % 500 == 7


def send(port, request, slow):
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        try:
            if slow:
                for byte in request[:20]:
                    client.sendall(bytes([byte]))
                    time.sleep(0.05)
            else:
                client.sendall(request)
            client.shutdown(socket.SHUT_WR)
            while client.recv(65536):
                pass
        except OSError:
            pass  # the server may have closed it


def be_rude(server, count, seed):
    chance = random.Random(seed)
    for number in range(count):
        send(server.port, *rude_request(chance, number))
        if server.process.poll() is not None:
            raise AssertionError(f"the server ended: seed {seed}, request {number}")


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 30)
    print(f"seed {seed}")
    with tempfile.TemporaryDirectory() as scratch:
        model = pathlib.Path(scratch) / "m"
        small_model(model)
        with Server(model) as server:
            times, wrong, stop = [], [], threading.Event()

            def behave():
                while not stop.is_set():
                    start = time.perf_counter()
                    status = server.ask("POST", "/v1/classify", PICTURE)[0]
                    times.append(time.perf_counter() - start)
                    if status != 200:
                        wrong.append(status)

            other = threading.Thread(target=behave)
            other.start()
            start = time.perf_counter()
            memory = []
            try:
                for part in range(10):
                    be_rude(server, count // 10, seed + part)
                    memory.append(f"{server.memory() / 2**20:.0f}")
            finally:
                stop.set()
                other.join()
            times.sort()
            print(f"{count} rude requests in {time.perf_counter() - start:.0f} s; meanwhile {len(times)} others, "
                  f"median {1000 * times[len(times) // 2]:.1f} ms, worst {1000 * times[-1]:.1f} ms, refused: {wrong or 'none'}")  # fmt: skip
            print(f"MiB of memory after each tenth: {', '.join(memory)}")
            server.process.send_signal(signal.SIGTERM)
            said = server.process.communicate(timeout=60)[1]  # what sanitizers find is said at the end
        if server.process.returncode != 0 or wrong:
            sys.exit(f"it ended with status {server.process.returncode}\n{said}")
        print("it ended as asked")


if __name__ == "__main__":
    main()
