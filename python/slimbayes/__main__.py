"""The command line: `python -m slimbayes fit data.csv --target y`, the same commands as the tool `slimbayes`.

Under torchrun several processes make one fit together:

    torchrun --nproc-per-node 2 -m slimbayes fit data.csv --target y --method dbk
"""

import os
import sys


def _group(timeout):
    """The process group of a fit under torchrun, as its name, this process's rank and their number; of one process no group.

    torchrun's agent keeps the store of addresses, also over restarts: the prefix keeps those of ended processes away from the
    restarted ones.
    """
    size, rank = int(os.environ.get("WORLD_SIZE", "1")), int(os.environ.get("RANK", "0"))
    if size == 1:
        return "", 0, 1
    import datetime

    import torch.distributed as dist

    wait = datetime.timedelta(seconds=timeout)
    store = dist.TCPStore(os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]), size,
                          is_master=rank == 0 and os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True", timeout=wait)
    attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    dist.init_process_group("gloo", store=dist.PrefixStore(f"attempt{attempt}", store), rank=rank, world_size=size, timeout=wait)
    return dist.group.WORLD.group_name, rank, size


def _timeout(words):
    """Takes `--timeout SECONDS` out of the words: how long a process waits for another one, by default 5 minutes."""
    if "--timeout" not in words:
        return words, 300.0
    at = words.index("--timeout")
    try:
        seconds = float(words[at + 1])
    except (IndexError, ValueError):
        seconds = 0
    if not seconds > 0:
        received = repr(words[at + 1]) if at + 1 < len(words) else "nothing"
        sys.exit(f"error: expected a number of seconds above 0 after --timeout; received {received}")
    return words[:at] + words[at + 2:], seconds


def main():
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # threads that wait for work sleep, as in the tool
    words, timeout = _timeout(sys.argv[1:])
    from slimbayes._library import core

    group, rank, size = _group(timeout)
    code = core.run_command_line(words, os.environ.get("SLIMBAYES_SHARE", ""), group, rank, size)
    sys.stdout.flush()
    if group and code == 0:
        import torch.distributed as dist

        dist.destroy_process_group()
    os._exit(code)  # threads of an ended group would wait at exit


if __name__ == "__main__":
    main()
