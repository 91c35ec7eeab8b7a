"""Progress of a fit, in a terminal and in a notebook."""

import contextlib
import json
import sys


def _wanted(asked):
    if asked is not None:
        return bool(asked)
    return sys.stderr is not None and sys.stderr.isatty() or "ipykernel" in sys.modules


@contextlib.contextmanager
def shown(asked, title):
    """Gives the function that the library calls with the progress of a fit, or None where nothing is shown."""
    if not _wanted(asked):
        yield None
        return
    from tqdm.auto import tqdm

    with tqdm(desc=title, unit="step", leave=False) as bar:
        def show(text):
            facts = json.loads(text)
            if "note" in facts:
                return
            if facts.get("stage"):
                bar.set_description(f"{title} {facts['stage']}", refresh=False)
            if "step" in facts:
                bar.total = facts["steps"]
                bar.update(facts["step"] - bar.n)
                if facts["best"] is not None:
                    bar.set_postfix_str(f"best {facts['best']:.4g}", refresh=False)

        yield show
