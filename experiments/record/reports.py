"""What a row of results.csv takes from the reports of fit and evaluate."""

from results import METRICS, as_text


def of_summary(summary):
    score = summary["best_score"]
    return {"rows": summary["rows"], "steps": summary["steps"], "stopped": summary["stopped"],
            "seconds": round(summary["seconds"], 1), "valid_score": "" if score is None else round(score, 5)}


def of_valid(answer):
    nll = answer.get("valid", {}).get("nll_standardized")
    return {} if nll is None else {"valid_nll_standardized": round(nll, 5)}


def flat(report, prefix=""):
    """Every number of a report by its path, such as ood.auroc.entropy; a list's by their places."""
    items = report.items() if isinstance(report, dict) else enumerate(report)
    found = {}
    for name, value in items:
        if isinstance(value, (dict, list)):
            found |= flat(value, f"{prefix}{name}.")
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            found[f"{prefix}{name}"] = float(f"{value:.6g}")
    return found


def of_report(report):
    by_input = {name: report[name] for name in ("coverage_of_inputs", "different_inputs") if name in report}
    return {"test_rows": report["n"], **{m: round(report[m], 5) for m in METRICS + ["nll"] if report.get(m) is not None},
            **({"scores": as_text(flat(by_input))} if by_input else {})}
