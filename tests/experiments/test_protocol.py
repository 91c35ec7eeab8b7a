"""A claim gets a verdict only where the paper's protocol was followed."""

import protocol
import pytest
import studies
from judge import CUT, FAILS, HOLDS, OPEN, UNTESTED, Claim
from measured import row
from protocol import MORE, SAME, Line, Shown

EPOCHS = Line("epochs", "50 (I.1)", "5")
ROWS = [row("main", "d", "dnn", ""), row("curve, 50 epochs", "d", "dnn", "")]


@pytest.mark.parametrize("verdict", [HOLDS, FAILS, OPEN])
def test_a_cut_fit_neither_refutes_nor_proves(verdict):
    found = protocol.ruled(Claim("S I.1, 5 of 50 epochs", "low-rank is best", verdict, "0 of 3."), [SAME_NETWORK, EPOCHS])
    assert found.verdict == CUT == "not tested"
    assert found.numbers == f"epochs: 5 (the paper: 50 (I.1)). These fits: {verdict}. 0 of 3."


SAME_NETWORK = Line("network", "an LSTM", "the same", SAME)


def test_what_is_the_same_or_more_or_shown_leaves_the_verdict():
    lines = [SAME_NETWORK, Line("draws", "50", "100", MORE), Line("epochs", "50", "5", Shown("curve, 50 epochs", "+.001 ± .002 (3)"))]
    claim = Claim("S I.1", "low-rank is best", FAILS, "0 of 3.")
    protocol.check("s", lines, ROWS)
    assert protocol.ruled(claim, lines) == claim


def test_our_own_claims_and_those_without_a_row_stay():
    for claim in Claim("ours, after S", "x", FAILS, "1 of 1."), Claim("S 4", "x", UNTESTED, "no data"):
        assert protocol.ruled(claim, [EPOCHS]) == claim


def test_a_line_may_be_about_some_claims_alone():
    line = EPOCHS._replace(of="held out")
    claims = [Claim(f"R 4.2, {part}", "x", HOLDS, "") for part in ("held out", "paper")]
    assert [protocol.ruled(claim, [line]).verdict for claim in claims] == [CUT, HOLDS]


def test_an_effect_that_no_row_shows_is_refused():
    with pytest.raises(ValueError, match="expected rows of the part 'curve, 60 epochs'"):
        protocol.check("s", [EPOCHS._replace(effect=Shown("curve, 60 epochs", "none"))], ROWS)
    failed = [row("curve, 50 epochs", "d", "dnn", "", error="no luck")]
    with pytest.raises(ValueError, match="expected rows"):
        protocol.check("s", [EPOCHS._replace(effect=Shown("curve, 50 epochs", "none"))], failed)
    with pytest.raises(ValueError, match="without a bar"):
        protocol.check("s", [EPOCHS._replace(ours="|5|")], ROWS)
    with pytest.raises(ValueError, match="expected an effect"):
        protocol.check("s", [EPOCHS._replace(effect="harmless")], ROWS)


@pytest.mark.parametrize("folder", [folder for folder in studies.folders() if studies.load(folder).PAPER != "ours"], ids=lambda folder: folder.name)
def test_every_study_of_a_paper_states_its_protocol(folder):
    study = studies.load(folder)
    assert hasattr(study, "PROTOCOL"), folder.name
    protocol.check(folder.name, study.PROTOCOL, studies.rows(folder))
    judged = (folder / "README.md").read_text().partition("## Claims\n")[2]
    claims = [line.split(" | ") for line in judged.splitlines() if line.count(" | ") >= 3 and "**" in line]
    for claim in claims:
        source, verdict = claim[1], claim[2].strip("*")
        cut = protocol.differing(source, study.PROTOCOL)
        ours = source.split()[0].rstrip(",") == "ours"
        assert (verdict == CUT) == bool(cut and not ours and verdict != UNTESTED), claim
