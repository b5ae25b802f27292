# SPDX-License-Identifier: BSL-1.0
"""Summaries of a run: medians and quartiles over the rounds, of all measures and of all benchmarks. Plots show the
figures of the benchmarks. docs/figures contains a summary."""

import json
import platform
import statistics

from measures import MEASURES


def quartiles(values):
    """The lower quartile, the median and the upper quartile, rounded to four digits."""
    low, median, high = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
    return [float(f"{value:.4g}") for value in (low, median, high)]


class Rounds:
    """The counters of each benchmark by round, from Google Benchmark's documents."""

    def __init__(self, documents):
        self.runs = {}
        for index, document in enumerate(documents):
            for run in document["benchmarks"]:
                if not run.get("error_occurred"):
                    self.runs.setdefault("/".join(run["name"].split("/")[:4]), {})[index] = run

    def values(self, name, counter):
        """The counter's values by round. Omits rounds in which every burst was disturbed, unless all rounds were
        disturbed."""
        runs = {index: run for index, run in self.runs.get(name, {}).items() if counter in run}
        kept = {index: run for index, run in runs.items() if not run.get("is_disturbed")}
        return {index: run[counter] for index, run in (kept or runs).items()}

    def is_disturbed(self, name):
        return name in self.runs and all(run.get("is_disturbed") for run in self.runs[name].values())

    def spreads(self):
        kinds = {name: [counter for counter in ("ns", "bytes") if counter in runs[min(runs)]]
                 for name, runs in self.runs.items()}
        return {name: {counter: quartiles([*self.values(name, counter).values()]) for counter in counters}
                for name, counters in kinds.items()}

    def evaluate(self, measure):
        """The entry of the measure in a summary, or None if it was not measured. Ratios are computed by round."""
        over = self.values(measure.over, measure.counter)
        unders = {name: self.values(name, measure.counter) for name in measure.under}
        unders = {name: values for name, values in unders.items() if values}
        values, best = list(over.values()), None
        if measure.under:
            best = min(unders, key=lambda name: statistics.median(unders[name].values()), default=None)
            under = unders.get(best, {})
            values = [over[index] / under[index] for index in over if under.get(index)]
            if not values and over and under:  # in every round, one of the two benchmarks was disturbed
                values = [statistics.median(over.values()) / statistics.median(under.values())]
        if not values:
            return None
        low, median, high = quartiles(values)
        return {"title": measure.title, "unit": measure.unit, "median": median, "quartiles": [low, high],
                "bound": measure.bound, "disturbed": self.is_disturbed(measure.over) or self.is_disturbed(best)}


def save(path, documents):
    """Writes a summary as JSON, with a line for each measure and each benchmark, so that diffs are readable."""
    context, rounds = documents[0]["context"], Rounds(documents)
    about = {"date": context["date"][:10], "rounds": len(documents),
             "machine": f"{context['num_cpus']} cores, {platform.machine()}"}
    measures = [json.dumps(found) for found in map(rounds.evaluate, MEASURES) if found]
    spreads = [f"{json.dumps(name)}: {json.dumps(spread)}" for name, spread in rounds.spreads().items()]
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'{{\n"about": {json.dumps(about)},\n"measures": [\n' + ",\n".join(measures)
                   + '\n],\n"spreads": {\n' + ",\n".join(spreads) + "\n}\n}\n")


class Summary:
    """A summary, read from a file that save() wrote."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            kept = json.load(file)
        self.about, self.measures, self.spreads = kept["about"], kept["measures"], kept["spreads"]

    def best(self, names, counter="ns"):
        """The quartiles and median of the benchmark with the smallest median, or None if none was measured."""
        found = [self.spreads[name][counter] for name in names if counter in self.spreads.get(name, {})]
        return min(found, key=lambda spread: spread[1], default=None)
