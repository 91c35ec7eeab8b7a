"""Runs commands for a large process and says what each took: its exit code, its processor time and its largest memory.

The kernel counts the memory that a process had before exec as that of the program too, so a program that was started by
Python with torch loaded would seem to take hundreds of megabytes. This process stays small: it imports nothing large. It reads one
JSON list of words and limits a line, and writes one JSON object a line.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile


def run(words, folder, seconds, megabytes, environment):
    """What the command did, under limits on its processor time and on the memory that it allocates."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env={**os.environ, **environment})
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (seconds, seconds + 5))
        resource.prlimit(process.pid, resource.RLIMIT_DATA, (megabytes << 20, megabytes << 20))
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read(1 << 24).decode("utf-8", "backslashreplace"))
    return {"code": process.returncode, "stdout": texts[0], "stderr": texts[1], "cpu": used.ru_utime + used.ru_stime,
            "megabytes": used.ru_maxrss / 1024}


class Launcher:
    """The other end: starts this file as a program and asks it."""

    def __init__(self):
        self.process = subprocess.Popen([sys.executable, "-S", "-E", __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, words, folder, seconds=120, megabytes=4000, environment=None):
        request = [[os.fspath(w) for w in words], os.fspath(folder), seconds, megabytes, environment or {}]
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for line in sys.stdin:
        print(json.dumps(run(*json.loads(line))), flush=True)
