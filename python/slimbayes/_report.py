"""The report on a model as a page and as facts."""

import json
from html import escape

from slimbayes import _texts


class Report:
    """What `report` of a model returns: `facts`, a dict with every number of the page, and `html`, the page. A notebook shows it."""

    def __init__(self, facts, html):
        self.facts = json.loads(facts)
        self.html = html

    def save(self, path):
        """Writes the page as one HTML file, which needs no network."""
        with open(_texts.path(path), "w", encoding="utf-8") as file:
            file.write(self.html)

    def _repr_html_(self):
        return f'<iframe style="width:100%;height:80vh;border:0" srcdoc="{escape(self.html)}"></iframe>'

    def __repr__(self):
        return f"<slimbayes.Report: {self.facts['headline']}>"
