"""The judge of E's claims."""

from judge import FAILS, HOLDS, OPEN
from measured import as_measured, published, row, study
from scores import Scores


def test_the_earlier_paper_keeps_its_claims_but_the_fifth():
    """On pol and protein, by the means that it prints, the larger rank wins 3 of 8 times."""
    found = list(study("e_table1").claims(Scores(as_measured("e", [{**row, "spread": "0"} for row in published("e_table1")]))))
    assert [claim.source for claim in found if claim.verdict == FAILS] == ["E 4.2 (5)"]
    assert [claim.source for claim in found if claim.verdict == OPEN] == ["E 4.2 (6)"] * 2  # by rows and steps, which it does not print
    assert next(claim for claim in found if claim.source == "E 4.2 (5)").numbers.startswith("3 of 8. ")


def test_times_are_by_pass_and_by_step():
    def rows(dbk, dkl):
        def timed(part, method, flags, seconds, steps):
            return [row(part, t, method, flags, seed, rows="1000", seconds=str(seconds), steps=str(steps), nll_standardized="0") for seed in (0, 1)
                    for t in (study("e_table1").TABLES if part == "e" else ["pol"])]
        full = "--basis linear --alpha 1 --correction true"
        return [*timed("e", "dbk-exact", full, dbk, 10), *timed("e", "sv-dkl", "", 1, 1000),
                *timed("step", "dbk-exact", full, dbk, 10), *timed("step", "dkl-exact", "", dkl, 2)]

    def six(found):
        return [(c.verdict, c.numbers) for c in found if c.source == "E 4.2 (6)"]

    held = six(study("e_table1").claims(Scores(rows(0.3, 0.2))))  # a pass .03 s against .0039 s; a step .03 s against .1 s
    assert [verdict for verdict, _ in held] == [HOLDS, HOLDS] and "DBK, s, 0.030 ± 0.000 against 10 passes of SV-DKL 0.039 ± 0.000" in held[0][1]
    assert [verdict for verdict, _ in six(study("e_table1").claims(Scores(rows(0.5, 0.05))))] == [FAILS, FAILS]


def test_ten_passes_have_ten_times_the_spread():
    rows = [row("e", t, method, flags, seed, rows="1000", seconds=str(seconds), steps=str(steps), nll_standardized="0")
            for t in study("e_table1").TABLES for seed in range(3) for method, flags, seconds, steps in
            [("dbk-exact", "--basis linear --alpha 1 --correction true", 12, 1), ("sv-dkl", "", 256 * (1.1 + 0.4 * (seed - 1)), 1000)]]
    found = next(c for c in study("e_table1").claims(Scores(rows)) if "ten times" in c.text)
    assert found.verdict == OPEN and "(undecided)" in found.numbers
