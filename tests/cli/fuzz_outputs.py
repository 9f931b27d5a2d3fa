"""What a model writes, read back by the option fuzz: that it is whole and finite, and what follows from
it."""

import csv
import math


class Failure(Exception):
    """What should not have happened; `kind` is one word for it."""

    def __init__(self, kind, text):
        super().__init__(text)
        self.kind = kind


class Refused(Exception):
    """The program declined, as it may."""


def finite(text, place):
    try:
        value = float(text)
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise Failure("output", f"{place} is \"{text}\"")
    return value


def check_table(path, rows, what):
    """The rows of a CSV file without empty cells."""
    with open(path, newline="") as file:
        table = list(csv.DictReader(file))
    if len(table) != rows:
        raise Failure("output", f"{what}: {len(table)} rows, but there are {rows} steps")
    for k, row in enumerate(table):
        for name, cell in row.items():
            if name not in ("key", "t", "sample"):
                finite(cell, f"{what}, row {k + 1}, column {name}")
    return table


class Written:
    """What a model writes, and what follows from it. All that is known of columns is here."""

    def __init__(self, info, case):
        self.case = case
        self.states = info["states"]
        columns = [name for name, _, _ in case.world.columns]
        self.listed = columns + [name for name in self.states if name not in columns]
        self.networks = info["networks"]["hidden"] > 1 or bool(info["networks"]["decoder"])
        self.smoother = info["smoother"]["hidden"] > 0
        self.calibrated = info["calibration"] is not None
        self.theta = {each["name"]: each["value"] for each in info["theta"]}

    def row(self, cells, place):
        """Mean and standard deviation of what is measured and of each state."""
        mean = {name: finite(cells.get(name), f"{place}, column {name}") for name in self.listed}
        std = {name: finite(cells.get(f"{name}_std"), f"{place}, column {name}_std")
               for name in self.listed}
        for name, value in std.items():
            if not value > 0:
                raise Failure("output", f"{place}, column {name}_std is {value}")
        return {"mean": mean, "std": std}

    def read(self, path, lengths, what):
        """The rows of each series."""
        table = check_table(path, sum(lengths), what)
        series, at = [], 0
        for s, steps in enumerate(lengths):
            rows = table[at:at + steps]
            if self.case.keyed and any(row["key"] != f"s{s + 1}" for row in rows):
                raise Failure("output", f"{what}: rows of series s{s + 1} are not together")
            series.append([self.row(row, f"{what}, row {at + k + 1}") for k, row in enumerate(rows)])
            at += steps
        return series

    def channel(self, m, row):
        """Mean and standard deviation of a measured quantity. The mean must be that of the states."""
        name, _, function = self.case.world.columns[m]
        if name not in self.states:
            values = {**self.case.world.parameters, **self.theta, **row["mean"]}
            expected = function(values)
            if self.case.prior == "system + level":
                expected += row["mean"][f"{name}_level"]
            if abs(row["mean"][name] - expected) > 1e-6 * (1 + abs(expected)):
                raise Failure("output", f"column {name} is {row['mean'][name]}, but its states say "
                                        f"{expected}")
        return row["mean"][name], row["std"][name]

    def scores(self, filtered, smoothed):
        """evaluate's figures, from the estimates that were written."""
        case = self.case
        columns = [name for name, _, _ in case.world.columns]
        of_states = case.truth == "states" and set(case.truth_names) == set(self.states)
        of_channels = case.truth == "channels" and not of_states or (
            case.truth == "states" and not of_states and case.truth_names == columns)
        if not of_states and not of_channels:
            return {}
        sums = {}

        def add(name, value):
            total, count = sums.get(name, (0.0, 0))
            sums[name] = (total + value, count + 1)

        def within(error, std):
            return 1.0 if abs(error) <= 1.959963984540054 * std else 0.0

        known = True
        for s, rows in enumerate(case.series):
            for k, row in enumerate(rows):
                for m, column in enumerate(columns):
                    truth = (row["truth"][column] if of_channels else
                             case.world.columns[m][2]({**case.world.parameters, **self.theta,
                                                       **row["truth"]}))
                    measured = row["y"][m] is not None
                    if measured:
                        add("mse.raw", (row["y"][m] - truth) ** 2)
                    for what, found, coverage in (("filtered", filtered, "coverage95_filtered"),
                                                  ("smoothed", smoothed, "coverage95")):
                        value, std = self.channel(m, found[s][k])
                        add(f"{'mse' if measured else 'gaps'}.{what}", (value - truth) ** 2)
                        known = known and std is not None
                        if of_channels and known:
                            add(coverage, within(value - truth, std))
                if not of_states:
                    continue
                for state in self.states:
                    for what, found, coverage in (("filtered", filtered, "coverage95_filtered"),
                                                  ("smoothed", smoothed, "coverage95")):
                        error = found[s][k]["mean"][state] - row["truth"][state]
                        add(f"state_mse.{what}", error ** 2)
                        add(coverage, within(error, found[s][k]["std"][state]))
        if of_channels and not known:
            sums = {name: value for name, value in sums.items() if not name.startswith("coverage")}
        return {name: total / count for name, (total, count) in sums.items()}
