# SPDX-License-Identifier: BSL-1.0
"""What pages show of the measured figures, docs/figures/bench.json: where a document has the comment
`<!-- site: plot operations ALT -->`, `<!-- site: measures -->` or `<!-- site: measured -->`."""
import html
import sys

from pandoc import Failure


class Generator:
    def __init__(self, root, output):
        sys.path.insert(0, str(root / "bench"))
        import plot
        import summary
        self.output = output
        self.figures = summary.Summary(root / "docs/figures/bench.json")
        self.plots = {"operations": plot.draw, "functionalize": plot.draw_counts, "pages": plot.draw_pages}

    def generate(self, what):
        kind, _, rest = what.partition(" ")
        if kind == "plot":
            return self.plot(*rest.split(" ", 1))
        if kind == "measures":
            return self.measures()
        if kind == "measured":
            return self.measured()
        raise Failure(f"a comment of a document asks for '{kind}', which the site has not")

    def measured(self):
        about = self.figures.about
        return (f"<p>Measured on {html.escape(about['date'])} on {html.escape(about['machine'])}, in "
                f"{about['rounds']} rounds.</p>")

    def plot(self, name, meaning):
        obstacle = self.plots[name](self.figures, str(self.output / f"{name}.svg"), self.figures.about["rounds"])
        if obstacle:
            raise Failure(f"the plot '{name}' is not drawn: {obstacle}")
        return (f'<div class="scroll plot" tabindex="0"><img src="{name}.svg" width="1200" '
                f'alt="{html.escape(meaning)}"></div>')

    def measures(self):
        rows = []
        for measure in self.figures.measures:
            low, high = measure["quartiles"]
            unit = "" if measure["unit"] == "ratio" else " " + measure["unit"]
            bound = "" if measure["bound"] is None else f"{measure['bound']:,g}{unit}"
            cells = [html.escape(measure["title"]), number(measure["median"]) + unit,
                     f"{number(low)} to {number(high)}", bound]
            rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
        head = "<tr><th>measure</th><th>median</th><th>quartiles</th><th>at most</th></tr>"
        return ('<div class="scroll table" tabindex="0"><table>\n<thead>' + head + "</thead>\n<tbody>\n"
                + "\n".join(rows) + "\n</tbody></table></div>")


def number(value):
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
