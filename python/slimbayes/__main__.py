"""The command line: `python -m slimbayes fit data.csv --target y`, the same commands as the tool `slimbayes`.

Under torchrun several processes make one fit together, or share the fits of a comparison:

    torchrun --nproc-per-node 2 -m slimbayes fit data.csv --target y --method dbk
    torchrun --nproc-per-node 2 -m slimbayes compare data.csv --target y
"""

import os
import signal
import sys


def _end(sentence):
    """Ends the process as the tool does for a mistake of the user, with one line, of rank 0 alone."""
    if os.environ.get("RANK", "0") == "0":
        print(f"error: {sentence}", file=sys.stderr)
    sys.exit(2)


def _interrupted(number, frame):
    """Ends the process at Ctrl-C before the command has begun: nothing is to be saved, and torch may be half imported."""
    if os.environ.get("RANK", "0") == "0":
        os.write(2, b"error: interrupted before the command began\n")
    os._exit(130)


def _group(timeout):
    """The process group of a command under torchrun, as its name, this process's rank and their number; of one process no group.

    torchrun's agent keeps the store of addresses, also over restarts: the prefix keeps those of ended processes away from the
    restarted ones. Other launchers that keep a store (examples/machines/ray_train.py) say so by the agent's variable.
    """
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        return "", 0, 1
    missing = [name for name in ("RANK", "MASTER_ADDR", "MASTER_PORT") if name not in os.environ]
    if missing:
        _end(f"expected the variables that a launcher such as torchrun sets for {size} processes; received none named {', '.join(missing)}; "
             "start the command with torchrun -m slimbayes")
    import datetime

    import torch.distributed as dist

    wait, rank = datetime.timedelta(seconds=timeout), int(os.environ["RANK"])
    try:
        store = dist.TCPStore(os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]), size,
                              is_master=rank == 0 and os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True", timeout=wait)
        attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
        dist.init_process_group("gloo", store=dist.PrefixStore(f"attempt{attempt}", store), rank=rank, world_size=size, timeout=wait)
    except (dist.DistError, RuntimeError, OSError) as error:  # the others have not come, or there is no way to them
        _end(f"expected {size} processes at {os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']} within {timeout:g} s; received "
             f"fewer ({str(error).splitlines()[0]}); --timeout SECONDS waits longer")
    return dist.group.WORLD.group_name, rank, size


def _timeout(words):
    """Takes `--timeout SECONDS` out of the words: how long a process waits for another one, by default 5 minutes."""
    at = next((i for i, word in enumerate(words) if word.partition("=")[0] == "--timeout"), None)
    if at is None:
        return words, 300.0
    joined = "=" in words[at]
    given = words[at].partition("=")[2] if joined else words[at + 1] if at + 1 < len(words) else "nothing"
    try:
        seconds = float(given)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 1e6:
        _end(f"expected a number of seconds from above 0 to 1e6 after --timeout; received {given!r}")
    return words[:at] + words[at + (1 if joined else 2):], seconds


def main():
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN  # as by nohup
    if not ignored:
        signal.signal(signal.SIGINT, _interrupted)
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # threads that wait for work sleep, as in the tool
    words, timeout = _timeout(sys.argv[1:])
    from slimbayes._library import core

    group, rank, size = _group(timeout)
    if not ignored:  # Python runs no handler within the call; a command that saves its work has one of its own
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    code = core.run_command_line(words, os.environ.get("SLIMBAYES_SHARE", ""), group, rank, size)
    sys.stdout.flush()
    sys.stderr.flush()
    if group and code == 0:
        import torch.distributed as dist

        dist.destroy_process_group()
    os._exit(code)  # threads of an ended group would wait at exit


if __name__ == "__main__":
    main()
