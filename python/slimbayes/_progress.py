"""Progress of a fit, in a terminal and in a notebook."""

import contextlib
import json
import sys

# Standard error may be closed, full or a broken pipe: the fit goes on without a bar.
_unwritten = contextlib.suppress(OSError, ValueError)


def _wanted(asked):
    if sys.stderr is None or getattr(sys.stderr, "closed", False):  # pythonw has none
        return False
    return bool(asked) if asked is not None else sys.stderr.isatty() or "ipykernel" in sys.modules


@contextlib.contextmanager
def shown(asked, title):
    """Gives the function that the library calls with the progress of a fit, or None where nothing is shown."""
    bar = None
    if _wanted(asked):
        from tqdm.auto import tqdm

        with _unwritten:
            bar = tqdm(desc=title, unit="step", leave=False)
    if bar is None:
        yield None
        return

    def show(text):
        facts = json.loads(text)
        if "note" in facts:
            return
        with _unwritten:
            if facts.get("stage"):
                bar.set_description(f"{title} {facts['stage']}", refresh=False)
            if "step" in facts:
                bar.total = facts["steps"]
                bar.update(facts["step"] - bar.n)
                if facts["best"] is not None:
                    bar.set_postfix_str(f"best {facts['best']:.4g}", refresh=False)

    try:
        yield show
    finally:
        with _unwritten:
            bar.close()
