# SPDX-License-Identifier: BSL-1.0
"""What is kept of a run in docs/figures: medians and quartiles, of which plots are drawn, and the measures."""

import json
import platform

import measures

COUNTERS = ["ns", "use_ns", "bytes_kept"]


def short(value):
    return float(f"{value:.4g}")


def of(document, figures, results, rounds):
    context = document.get("context", {})
    spreads = {}
    for name in figures.rounds:
        counters = {counter: figures.spread(name, counter) for counter in COUNTERS}
        spreads[name] = {counter: [short(value) for value in spread] for counter, spread in counters.items() if spread}
    return {
        "about": {"date": context.get("date", "")[:10], "rounds": rounds,
                  "machine": f"{context.get('num_cpus', '?')} cores, {platform.machine()}"},
        "measures": [{"title": result.title, "unit": result.unit, "median": short(result.median),
                      "quartiles": [short(result.low), short(result.high)], "bound": result.bound,
                      "disturbed": result.disturbed} for result in results],
        "spreads": {name: spread for name, spread in spreads.items() if spread},
    }


def save(path, summary):
    """A line for each measure and each benchmark, so that changes can be read."""
    lines = [f'{{\n"about": {json.dumps(summary["about"])},\n"measures": [']
    lines.append(",\n".join(json.dumps(measure) for measure in summary["measures"]))
    lines.append('],\n"spreads": {')
    lines.append(",\n".join(f"{json.dumps(name)}: {json.dumps(spread)}" for name, spread in summary["spreads"].items()))
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([*lines, "}\n}\n"]))


class Summary:
    """For plot.py, what measures.Figures is of a whole run."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            summary = json.load(file)
        self.about, self.measures, self._spreads = summary["about"], summary["measures"], summary["spreads"]

    def spread(self, name, counter="ns"):
        return self._spreads.get(name, {}).get(counter)

    def best(self, names, counter):
        return measures.least(names, lambda name: self.spread(name, counter))
