# SPDX-License-Identifier: BSL-1.0
"""Draws a summary with gnuplot, both axes logarithmic: medians over the rounds, with their quartiles. Each function
writes a picture, and returns why it did not, or None."""

import math
import shutil
import subprocess

from measures import RAW_COPIES, SIZES

NBYTES = dict(zip(SIZES, [64, 4 << 10, 256 << 10, 16 << 20, 256 << 20]))

# Contender: title in the legend, colour, point.
LOOKS = {
    "byre": ("byre", "#0072b2", 7),
    "shared_ptr": ("std::shared\\\\_ptr", "#d55e00", 5),
    "eager": ("eager copy", "#e69f00", 9),
    "copy_first": ("copy-first", "#cc79a7", 11),
    "floor": ("floor: two atomic steps", "#000000", 1),
    "memcpy_warm": ("floor: memcpy, warm", "#000000", 1),
    "raw_best": ("floor: best raw copy", "#000000", 1),
}

# Title, operation, memory, contenders.
PANELS = [
    ("Lazy clone + drop", "clone_drop", "recycled", ["floor", "byre", "shared_ptr", "eager"]),
    ("Write when shared, recycled memory", "write_shared", "recycled", ["memcpy_warm", "byre", "shared_ptr"]),
    ("Write when shared, fresh memory", "write_shared", "fresh", ["raw_best", "byre", "shared_ptr"]),
    ("Two writers at once, recycled memory", "writers_2", "recycled", ["byre", "copy_first", "shared_ptr"]),
]

COUNTED_LOOKS = {
    "queue": ("a queue of all updates", "#d55e00", 5),
    "plain": ("without the pass", "#000000", 1),
    "chains": ("the pass, by chains", "#0072b2", 7),
    "strides": ("the pass, by strides", "#56b4e9", 6),
}

# Title, axes, the benchmarks' names before the count, their counter, contenders.
COUNTED_PANELS = [
    ("Memory kept of updates that nobody uses", "updates", "bytes", "functional_updates_", "bytes",
     ["queue", "plain", "chains", "strides"]),
    ("Write to the base, then use of a view", "depth of the view", "ns", "functional_use_", "ns",
     ["chains", "strides"]),
    ("Write to the base, then use of all views of a chain", "views", "ns per view", "functional_use_all_", "ns",
     ["chains", "strides"]),
    ("Write of one of the parts of an unbind", "parts", "ns per part", "functional_unbind_", "ns",
     ["plain", "chains", "strides"]),
]
COUNTS = [1, 64, 100, 1000, 1024, 4096, 10000, 100000]

PAGES = 65536
PAGES_LOOKS = {"paged": ("in pages", "#0072b2", 7), "tiles": ("in tiles of 64 KiB", "#009e73", 9),
               "byre": ("in ordinary memory", "#d55e00", 5)}

SIZE_AXES = """set xrange [32:1e9]
set xtics ("64 B" 64, "4 KiB" 4096, "256 KiB" 262144, "16 MiB" 16777216, "256 MiB" 268435456)
set ytics ("1 ns" 1, "10 ns" 10, "100 ns" 100, "1 µs" 1e3, "10 µs" 1e4, "100 µs" 1e5, \\
           "1 ms" 1e6, "10 ms" 1e7, "100 ms" 1e8, "1 s" 1e9)
set xlabel "size of the buffer"
set ylabel "time per operation"
"""
PAGES_AXES = """set xrange [1e-3:130]
set xlabel "part of all pages that is written, %"
set ylabel "clone, write and drop, ms"
"""


class Script:
    """What gnuplot is given: data, and panels that draw it."""

    def __init__(self, size, title, rounds, layout=""):
        self.size, self.blocks, self.panels = size, [], []
        self.title = f'{layout} title "byre: {title}\\n{{/*0.8 median and quartiles of {rounds} rounds}}"'

    def add(self, settings, lines):
        """A panel of lines, each a look and rows of x and a spread; none if no line has rows."""
        plots = []
        for (legend, colour, point), rows in lines:
            rows = [f"{x} {median} {low} {high}" for x, (low, median, high) in rows if median > 0]
            if rows:
                data = f"$data{len(self.blocks)}"
                self.blocks.append("\n".join([f"{data} << EOD", *rows, "EOD"]))
                dash = "dt 2" if "floor" in legend else "dt 1"
                plots.append(f'{data} using 1:2 with lines {dash} lw 1.5 lc rgb "{colour}" notitle')
                plots.append(f'{data} using 1:2:3:4 with yerrorbars lw 1.2 lc rgb "{colour}" pt {point} ps 0.8 '
                             f'title "{legend}"')
        if plots:
            self.panels.append(settings + "plot " + ", \\\n     ".join(plots))

    def draw(self, output):
        if not self.panels:
            return "there is nothing to draw"
        gnuplot = shutil.which("gnuplot")
        if gnuplot is None:
            return "gnuplot is missing (Debian: apt-get install gnuplot-nox)"
        head = (f'set terminal svg size {self.size} font "sans,13" background "#ffffff"\nset output "{output}"\n'
                'set logscale xy\nset grid xtics ytics lc rgb "#dddddd"\n'
                f'set key top left reverse Left samplen 2 font ",11"\nset {self.title}')
        run = subprocess.run([gnuplot], input="\n".join([*self.blocks, head, *self.panels, ""]), text=True,
                             capture_output=True, check=False)
        return None if run.returncode == 0 else f"gnuplot failed: {run.stderr.strip()}"


def spreads(figures, names, counter="ns"):
    """Of the benchmarks by x, those that were measured."""
    return [(x, figures.spread(name, counter)) for x, name in names.items() if figures.spread(name, counter)]


def draw(figures, output, rounds):
    """Times of operations over sizes."""
    script = Script("1200,900", "copy-on-write against what else one would write", rounds, "multiplot layout 2,2")
    for title, operation, memory, contenders in PANELS:
        lines = []
        for contender in contenders:
            ways = RAW_COPIES if contender == "raw_best" else [contender]
            names = {NBYTES[size]: figures.best([f"{operation}/{way}/{size}/{memory}" for way in ways])
                     for size in SIZES}
            lines.append((LOOKS[contender], spreads(figures, names)))
        script.add(f'{SIZE_AXES}set title "{title}"\n', lines)
    return script.draw(output)


def draw_counts(figures, output, rounds):
    """Costs of the functionalize pass over counts."""
    script = Script("1200,900", "what the functionalize pass costs", rounds, "multiplot layout 2,2")
    for title, counted, axis, stem, counter, contenders in COUNTED_PANELS:
        lines = [(COUNTED_LOOKS[contender],
                  spreads(figures, {count: f"{stem}{count}/{contender}/64B/recycled" for count in COUNTS}, counter))
                 for contender in contenders]
        script.add(f'set title "{title}"\nset xlabel "{counted}"\nset ylabel "{axis}"\n', lines)
    return script.draw(output)


def break_even(medians, contender):
    """The part of all pages from which on a copy of all costs less; medians by contender and part. None if it is not
    between two parts that were measured."""
    over = [(part, medians[contender][part] / medians["byre"][part])
            for part in sorted(set(medians[contender]) & set(medians["byre"]))]
    for (less, low), (more, high) in zip(over, over[1:]):
        if low < 1 <= high:  # on the line between them, both axes logarithmic
            return less * (more / less) ** (math.log(1 / low) / math.log(high / low))
    return None


def draw_pages(figures, output, rounds):
    """Costs of a write to a part of large shared data, with the break-even."""
    lines, medians = [], {}
    for contender, look in PAGES_LOOKS.items():
        names = {count / PAGES * 100: f"pages_{count}/{contender}/256MiB/recycled"
                 for count in [1, 16, 256, 4096, 16384, PAGES]}
        rows = [(part, [value / 1e6 for value in spread]) for part, spread in spreads(figures, names)]
        medians[contender] = {part: spread[1] for part, spread in rows}
        lines.append((look, rows))
    marks = ""
    for height, contender in [(0.1, "paged"), (0.2, "tiles")]:
        if (part := break_even(medians, contender)) is not None:
            marks += (f"set arrow from {part}, graph 0 to {part}, graph 1 nohead dt 2\n"
                      f'set label "break-even {PAGES_LOOKS[contender][0]}: {part:.2g} %" right at {part}, '
                      f"graph {height} offset -1,0\n")
    script = Script("800,560", "256 MiB, shared, of which a part is written", rounds)
    script.add(PAGES_AXES + marks, lines)
    return script.draw(output)


PICTURES = {"benchmark": draw, "functionalize": draw_counts, "pages": draw_pages}
