# SPDX-License-Identifier: BSL-1.0
"""Plots and tables of the measurements in docs/figures/bench.json. They replace these comments in a document:
`<!-- site: plot NAME ALT -->`, `<!-- site: measures -->` and `<!-- site: measured -->`."""
import html
import re
import sys

from tools import Failure

# gnuplot draws on white. These colors are for the dark scheme.
DARK = """<style>@media (prefers-color-scheme: dark) {
  rect[fill="#ffffff"] { fill: #14171c }
  [color="#FFFFFF"] { color: #14171c }
  [fill="black"] { fill: #d8dde5 }
  [stroke="black"], [stroke="rgb(  0,   0,   0)"] { stroke: #d8dde5 }
  [color="black"], [color="rgb(  0,   0,   0)"] { color: #d8dde5 }
  [stroke="rgb(221, 221, 221)"] { stroke: #323945 }
  [stroke="rgb(  0, 114, 178)"] { stroke: #3f9bd8 }
  [color="rgb(  0, 114, 178)"] { color: #3f9bd8 }
}</style>
"""


class Generator:
    def __init__(self, root, output):
        sys.path.insert(0, str(root / "bench"))
        import plot
        import summary
        self.output = output
        self.figures, self.draw = summary.Summary(root / "docs/figures/bench.json"), plot.draw

    def generate(self, what):
        kind, _, rest = what.partition(" ")
        if kind == "plot":
            return self.plot(*rest.split(" ", 1))
        if kind == "measures":
            return self.measures()
        if kind == "measured":
            return self.measured()
        raise Failure(f"unknown kind of figure in a document: '{kind}'. Use plot, measures or measured.")

    def measured(self):
        about = self.figures.about
        return (f"<p>Measured on {html.escape(about['date'])} on {html.escape(about['machine'])}, in "
                f"{about['rounds']} rounds.</p>")

    def plot(self, name, meaning):
        picture = self.output / f"{name}.svg"
        obstacle = self.draw(name, self.figures, str(picture))
        if obstacle:
            raise Failure(f"cannot draw the plot '{name}': {obstacle}")
        drawn = picture.read_text()
        picture.write_text(drawn.replace("<title>", DARK + "<title>", 1))
        width = re.search(r'width="(\d+)"', drawn)[1]
        return (f'<div class="scroll" tabindex="0"><img src="{name}.svg" style="max-width: {width}px" '
                f'alt="{html.escape(meaning)}"></div>')

    def measures(self):
        rows = []
        for measure in self.figures.measures:
            low, high = measure["quartiles"]
            unit, bound = measure["unit"], measure["bound"]
            cells = [html.escape(measure["title"]), amount(measure["median"], unit),
                     f"{amount(low, unit)} to {amount(high, unit)}", "" if bound is None else amount(bound, unit)]
            rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
        head = "<tr><th>measure</th><th>median</th><th>quartiles</th><th>at most</th></tr>"
        return ('<div class="scroll table" tabindex="0"><table>\n<thead>' + head + "</thead>\n<tbody>\n"
                + "\n".join(rows) + "\n</tbody></table></div>")


def amount(value, unit):
    """Formats a ratio, a number of bytes or a time for a table."""
    if unit == "ns":
        for name, size in [("s", 1e9), ("ms", 1e6), ("us", 1e3)]:
            if abs(value) >= size:
                value, unit = value / size, name
                break
    if abs(value) >= 100:
        shown = f"{value:,.0f}"
    else:
        shown = f"{value:.3g}" if abs(value) < 0.001 else f"{value:.3f}".rstrip("0").rstrip(".")
    return shown if unit == "ratio" else f"{shown} {unit}"
