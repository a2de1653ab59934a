#!/usr/bin/env python3
"""Trainings that are killed again and again, and that meet full disks, end as those left in peace.

    tests/endurance/interrupted_training.py build/sact

Tiny classifiers and detectors are trained on the CPU, in one and in two processes, with a checkpoint at
every step. Processes get SIGKILL at random moments, some of them while a checkpoint is being written;
then the same command is started again, until it has been killed often enough, and is left to finish. Disks
that are full are small tmpfs mounts (for root; others get a limit of file sizes). Every final model must
have the same bytes as that of the run nobody disturbed. Prints one JSON object; status 1 where anything
differed. The moments come from --seed, but a machine's speed decides what they meet.
"""
import argparse
import ctypes
import hashlib
import json
import os
import pathlib
import random
import resource
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

SMALL = ["stem=small", "unit=basic", "width=4", "halting=sact", "samples=0", "workers=1"]
TASKS = {
    "classifier": ["train", "--data", "synthetic:size=36,count=40,val=9", "units=2,2", "size=32", "epochs=4",
                   "batch=4", *SMALL],
    "detector": ["train-detector", "--data", "synthetic:size=64,count=8,val=3", "train=train", "val=val",
                 "shorter_side=64", "units=1,2,1", "anchor_sizes=16,32", "proposal_channels=8", "proposals=10",
                 "box_batch=8", "batch=1", "epochs=3", *SMALL],
}
EVERY_STEP = "checkpoint_minutes=1e-6"
PATIENCE = 300  # seconds for anything to end


class Failure(Exception):
    pass


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Run:
    """A training in one or more processes."""

    running = None  # the last one: nothing of it stays when the script is ended

    def __init__(self, arguments, processes, file_limit=None):
        Run.running = self
        port = str(free_port())
        self.errors = []
        self.processes = []
        for rank in range(processes):
            environment = dict(os.environ)
            if processes > 1:
                environment |= {"RANK": str(rank), "WORLD_SIZE": str(processes), "MASTER_ADDR": "127.0.0.1",
                                "MASTER_PORT": port, "SACT_TIMEOUT": "60"}
            limit = file_limit and (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit)))
            errors = tempfile.TemporaryFile()
            self.errors.append(errors)
            self.processes.append(subprocess.Popen(
                [*arguments, "--threads", "1"], env=environment, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=errors, preexec_fn=limit or None, restore_signals=True))

    def ended(self):
        return all(process.poll() is not None for process in self.processes)

    def kill(self, ranks):
        for rank in ranks:
            self.processes[rank].send_signal(signal.SIGKILL)

    def end(self):
        self.kill(range(len(self.processes)))
        for process in self.processes:
            process.wait()

    def wait(self):
        """Statuses and what was said of errors, of all processes."""
        end = time.monotonic() + PATIENCE
        for process in self.processes:
            try:
                process.wait(max(end - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                self.end()
                raise Failure(f"a process did not end within {PATIENCE} s")
        said = []
        for errors in self.errors:
            errors.seek(0)
            said.append(errors.read().decode(errors="replace"))
        return [process.returncode for process in self.processes], said


class Watch:
    """Names that appear in a folder, as the kernel tells them."""

    def __init__(self, folder):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.descriptor = self.libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        in_moved_to, in_create = 0x80, 0x100
        if self.descriptor < 0 or self.libc.inotify_add_watch(
                self.descriptor, os.fsencode(folder), in_moved_to | in_create) < 0:
            raise Failure("inotify is not there")

    def names(self, seconds):
        """Those of the next moment; none when nothing happens for so long."""
        if not select.select([self.descriptor], [], [], seconds)[0]:
            return []
        data, found, at = os.read(self.descriptor, 65536), [], 0
        while at < len(data):
            length = struct.unpack_from("iIII", data, at)[3]
            found.append(data[at + 16:at + 16 + length].rstrip(b"\0").decode())
            at += 16 + length
        return found

    def close(self):
        os.close(self.descriptor)


def digest(folder):
    return hashlib.sha256((folder / "last.safetensors").read_bytes()).hexdigest()


def left_checkpoint(folder):
    """Whether a checkpoint that was being written is left there."""
    for path in folder.glob(".sact-*.tmp"):
        start = path.read_bytes()[:1 << 20]
        if b"sact_checkpoint" in start:
            return True
    return False


class Endurance:
    def __init__(self, options):
        self.options = options
        self.random = random.Random(options.seed)
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="sact-endurance-"))
        self.references = {}
        self.counts = {"kills": 0, "kills_in_checkpoint": 0, "disk_full": 0, "finished_runs": 0, "different": 0,
                       "problems": []}

    def command(self, task, folder, *more):
        return [self.options.sact, *TASKS[task], "--out", str(folder), *more]

    def reference(self, task, processes):
        key = (task, processes)
        if key not in self.references:
            folder = self.work / f"whole-{task}-{processes}"
            began = time.monotonic()
            statuses, said = Run(self.command(task, folder), processes).wait()
            if any(statuses):
                raise Failure(f"{task} in {processes}: {statuses}: {said}")
            size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
            self.references[key] = digest(folder), time.monotonic() - began, size
        return self.references[key]

    def compare(self, task, processes, folder, statuses):
        """The model of a run that ended with these; one that failed has none to compare."""
        if any(statuses):
            return
        self.counts["finished_runs"] += 1
        if digest(folder) != self.reference(task, processes)[0]:
            self.counts["different"] += 1
            self.problem(f"{task} in {processes}: other weights")

    def problem(self, text):
        self.counts["problems"].append(text)
        print(text, file=sys.stderr, flush=True)

    def wait_for_moment(self, run, watch, inside, seconds):
        """Until the moment at which to kill; false when the run was over before."""
        end = time.monotonic() + PATIENCE
        if not inside and self.random.random() < 0.3:  # at any time, while it starts too
            time.sleep(self.random.uniform(0, seconds))
            return not run.ended()
        wanted = self.random.randrange(1, 12)  # checkpoints from now
        while time.monotonic() < end:
            names = watch.names(0.2)
            wanted -= names.count("checkpoint.safetensors")
            if inside and wanted <= 1 and any(name.endswith(".tmp") for name in names):
                time.sleep(self.random.uniform(0, 0.003))
                return True
            if not inside and wanted <= 0:
                time.sleep(self.random.uniform(0, 0.05))
                return True
            if run.ended():
                return False
        raise Failure("nothing happens")

    def kill_often(self, task, processes, kills, inside):
        """`kills` times; `inside` of them must meet a checkpoint that is being written."""
        folder, seconds = self.work / "killed", self.reference(task, processes)[1]
        done, done_inside = 0, 0
        while done < kills:
            folder.mkdir(exist_ok=True)
            watch = Watch(folder)
            run = Run(self.command(task, folder, EVERY_STEP), processes)
            aimed = done_inside < inside
            if self.wait_for_moment(run, watch, aimed, seconds):
                ranks = [0] if aimed else self.random.choice([[0], [processes - 1], list(range(processes))])
                run.kill(ranks)
                statuses, said = run.wait()
                killed = statuses[ranks[0]] == -signal.SIGKILL
                if killed and (not aimed or left_checkpoint(folder)):
                    done += 1
                    done_inside += left_checkpoint(folder)
                for rank, status in enumerate(statuses):
                    # 0: it had come to its end before it could miss the other.
                    if killed and rank not in ranks and status not in (0, 1):
                        self.problem(f"{task}: worker {rank} ended with {status}: {said[rank]}")
            else:
                statuses, said = run.wait()
                if any(statuses):
                    self.problem(f"{task} in {processes}: {statuses}: {said}")
                self.compare(task, processes, folder, statuses)
                shutil.rmtree(folder)
            watch.close()
        statuses, said = Run(self.command(task, folder, EVERY_STEP), processes).wait()
        if any(statuses):
            self.problem(f"{task} in {processes}, at last: {statuses}: {said}")
        self.compare(task, processes, folder, statuses)
        shutil.rmtree(folder)
        self.counts["kills"] += done
        self.counts["kills_in_checkpoint"] += done_inside

    def full_disk(self, task):
        """One training on a disk that fills up, and on with it when there is space again."""
        size = self.reference(task, 1)[2]
        mount = self.work / "disk"
        mount.mkdir(exist_ok=True)
        folder = mount / "run"
        limit = int(size * self.random.uniform(0.2, 0.95))
        mounted = os.geteuid() == 0 and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={limit}", "none", mount], capture_output=True).returncode == 0
        self.counts["disk_full_by"] = "tmpfs" if mounted else "limit of file sizes"
        try:
            file_limit = None if mounted else max(size // 4, 4096)
            statuses, said = Run(self.command(task, folder, EVERY_STEP), 1, file_limit).wait()
            if statuses[0] == 0:
                return  # there was space enough after all
            last = said[0].strip().splitlines()[-1]
            if statuses[0] != 1 or not last.startswith("sact: error: "):
                self.problem(f"{task}, disk full: {statuses}: {said}")
            if list(mount.rglob("*.tmp")):
                self.problem(f"{task}, disk full: something half written is left")
            if mounted:
                subprocess.run(["mount", "-o", f"remount,size={8 * size}", mount], check=True)
            statuses, said = Run(self.command(task, folder, EVERY_STEP), 1).wait()
            if any(statuses):
                self.problem(f"{task}, after a full disk: {statuses}: {said}")
            self.compare(task, 1, folder, statuses)
            self.counts["disk_full"] += 1
        finally:
            Run.running.end()
            if mounted:
                subprocess.run(["umount", mount], check=True)
            elif folder.exists():
                shutil.rmtree(folder)

    def run(self):
        options = self.options
        kinds = [(task, processes) for processes in (1, 2) for task in TASKS]
        for i, (task, processes) in enumerate(kinds):
            share = lambda count: count * (i + 1) // len(kinds) - count * i // len(kinds)
            self.kill_often(task, processes, share(options.kills), share(options.in_checkpoint))
            print(f"{task} in {processes}: {self.counts}", file=sys.stderr, flush=True)
        tries = 0
        while self.counts["disk_full"] < options.disk_full and tries < 3 * options.disk_full:
            self.full_disk(list(TASKS)[tries % len(TASKS)])
            tries += 1
        if self.counts["disk_full"] < options.disk_full:
            self.problem("too few disks were full")

    def clean(self):
        if Run.running:
            Run.running.end()
        shutil.rmtree(self.work)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sact", help="the program")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--in-checkpoint", type=int, default=30, help="of these, while a checkpoint is written")
    parser.add_argument("--disk-full", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.sact = str(pathlib.Path(options.sact).resolve())
    endurance = Endurance(options)
    began = time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        endurance.run()
    except Failure as failure:
        endurance.problem(str(failure))
    finally:
        endurance.clean()
    endurance.counts["seconds"] = round(time.monotonic() - began)
    print(json.dumps(endurance.counts, indent=2))
    return 1 if endurance.counts["problems"] or endurance.counts["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
