"""The studies' figures, as SVG of text and lines (no dates or random ids inside: the same numbers, the same file)."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import studies  # noqa: E402

STYLE = {"svg.hashsalt": "slimbayes", "svg.fonttype": "none", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False,
         "axes.grid": True, "grid.alpha": 0.3}


def save(figure, path):
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def line(axes, xs, scores, name, **style):
    found = [(x, score) for x, score in zip(xs, scores) if score]
    if found:
        spread = [0 if score.sd != score.sd else score.sd for _, score in found]
        axes.errorbar([x for x, _ in found], [score.mean for _, score in found], spread, marker="o", ms=3, capsize=2, label=name, **style)


def draw(folders, now):
    """Of the studies that say how: figures(now) of a study.py gives {file name: function of the figure's path}."""
    with plt.rc_context(STYLE):
        for folder in folders:
            for name, draws in getattr(studies.load(folder), "figures", lambda now: {})(now).items():
                draws(folder / name)
