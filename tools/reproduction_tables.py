#!/usr/bin/python3
"""Puts the results of `kalmia reproduce` into the tables of docs/reproduction.md and docs/audio.md.

Each file is the rows.json of a run. A table of the page stands between the lines

    <!-- table: EXPERIMENT KIND -->  and  <!-- end -->

and is replaced if a file of that experiment was given. Kinds: state_mse and position_mse (methods by
sizes, the median over seeds with the least and the largest behind it; of audio: ratio, mse,
median_mse and others by noises), spread (largest less least position error over seeds, each relative
to that of the optimal filter on the same trajectory), largest (calibration and the parts of the
error at the largest size) and run (what was run).

With --busy the machine did other things beside the run: its times say nothing, and the page keeps
those that it has.
"""

import argparse
import json
import re
import statistics
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
TABLE = re.compile(r"(<!-- table: (\w+) (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def figure(value, digits=4):
    """A number of some significant digits, without an exponent unless it is tiny."""
    if value is None:
        return "-"
    if value != 0 and abs(value) < 1e-4:
        return f"{value:.2g}"
    text = f"{value:.{digits}g}"
    return f"{value:.0f}" if "e" in text else text


def row(cells):
    return "| " + " | ".join(cells) + " |\n"


def header(cells):
    return row(cells) + row(["---"] * len(cells))


def name_of(method):
    return method["name"] if method["self_supervised"] else method["name"] + " *"


def over_seeds(spread_of):
    """The median over seeds, and behind it the least and the largest where there are several."""
    if spread_of is None or spread_of["median"] is None:
        return "-"
    text = figure(spread_of["median"])
    low, high = figure(spread_of["low"]), figure(spread_of["high"])
    return text if low == high else f"{text} ({low} .. {high})"


def by_sizes(result, kind):
    """Methods by sizes, and the paper's number where it has one."""
    sizes = result["provenance"]["options"]["sizes"]
    found = {(each["method"], each["n"]): each[kind] for each in result["summary"]}
    paper = kind == "state_mse" and any(m["paper_state_mse"] for m in result["methods"])
    text = header(["steps", *(f"{n:,}" for n in sizes), *(["paper"] if paper else [])])
    for method in result["methods"]:
        cells = [name_of(method), *(over_seeds(found.get((method["name"], n))) for n in sizes)]
        text += row(cells + ([figure(method["paper_state_mse"], 3)] if paper else []))
    return text


def spread(result):
    """How far apart seeds are, with the test trajectory's share taken out."""
    sizes = result["provenance"]["options"]["sizes"]
    errors = {(each["method"], each["n"], each["seed"]): each["position_mse"]
              for each in result["rows"]}
    text = header(["steps", *(f"{n:,}" for n in sizes)])
    for method in result["methods"]:
        if method["name"] in ("raw", "kalman-optimal"):
            continue
        cells = [name_of(method)]
        for n in sizes:
            ratios = [error / errors["kalman-optimal", n, seed]
                      for (name, size, seed), error in errors.items()
                      if name == method["name"] and size == n and error is not None]
            cells.append(f"{100 * (max(ratios) - min(ratios)):.1f} %" if ratios else "-")
        text += row(cells)
    return text


def largest(result):
    """What there is beside the errors of all sizes, at the largest one."""
    n = result["provenance"]["options"]["sizes"][-1]
    text = header(["method", "least and largest state error", "NEES", "coverage",
                   "prediction error, estimated", "true", "seconds"])
    for method in result["methods"]:
        rows = [each for each in result["rows"]
                if each["method"] == method["name"] and each["n"] == n]

        def median(key):
            values = [each[key] for each in rows if each.get(key) is not None]
            return statistics.median(values) if values else None

        errors = [each["state_mse"] for each in rows if each["state_mse"] is not None]
        between = f"{figure(min(errors))} .. {figure(max(errors))}" if errors else "-"
        estimated = figure(median("reducible_error"))
        if median("reducible_error_std") is not None:
            estimated += f" +- {figure(median('reducible_error_std'), 2)}"
        text += row([name_of(method), between, figure(median("nees"), 3),
                     figure(median("coverage95"), 3), estimated,
                     figure(median("prediction_error")), figure(median("seconds"), 2)])
    return text


def noises(result, kind):
    """Methods by noises; of audio. (=): networks were not kept, and the row is that of the filter below."""
    names = result["provenance"]["options"]["noises"]
    found = {(each["method"], each["noise"]): each for each in result["rows"]}
    text = header(["method", *names])
    for method in result["methods"]:
        cells = [name_of(method)]
        for noise in names:
            each = found.get((method["name"], noise), {})
            value = each.get(kind)
            text_of = f"{value:.{1 if kind.endswith('_db') else 3}f}" if value is not None else "-"
            cells.append(text_of + (" (=)" if each.get("networks_kept") is False else ""))
        text += row(cells)
    return text


def with_old_seconds(text, old):
    """The table with the last column of the old one, by the methods' names."""
    def cells_of(line):
        return [cell.strip() for cell in line.strip().strip("|").split("|")]

    seconds = {cells_of(line)[0]: cells_of(line)[-1] for line in old.splitlines()}
    rows = [cells_of(line) for line in text.splitlines()]
    return "".join(row([*cells[:-1], seconds.get(cells[0], "-")]) for cells in rows)


def audio_run(result, busy):
    """One line about a run of audio."""
    p = result["provenance"]
    times = "beside other work" if busy else f"{p['seconds'] / 60:.0f} minutes"
    return (f"{p['utterances']['test']} test utterances, {p['utterances']['training']:,} for training; "
            f"{p['started'][:10]}, version {p['version']}, {p['compiler']}, {p['instruction_set']}, "
            f"{p['threads']} cells side by side: {times}.\n")


def run(result, busy):
    """One line about the run."""
    p = result["provenance"]
    seeds = p["options"]["seeds"]
    times = ("beside other work" if busy else f"{sum_of_cells(result) / 60:.0f} minutes of cells, "
             f"done in {p['seconds'] / 60:.0f}")
    return (f"{seeds} seed{'s' if seeds != 1 else ''}, {p['options']['test']:,} test steps; "
            f"{p['started'][:10]}, version {p['version']}, {p['compiler']}, {p['instruction_set']}, "
            f"{p['threads']} cells side by side, one thread each: {times}."
            f"{' Errors: median over seeds (least .. largest).' if seeds != 1 else ''}\n")


def sum_of_cells(result):
    """Seconds of all cells; rows that share one count once."""
    return sum(seconds for _, seconds in
               {(each["seed"], each["seconds"]) for each in result["rows"]})


def table(result, kind, old="", busy=False):
    if kind == "run":
        return (audio_run if result["experiment"] == "audio" else run)(result, busy)
    if result["experiment"] == "audio":
        return noises(result, kind)
    if kind in ("state_mse", "position_mse"):
        return by_sizes(result, kind)
    text = {"spread": spread, "largest": largest}[kind](result)
    return with_old_seconds(text, old) if busy and kind == "largest" else text


def filled(page, results, busy=False):
    """The page with the tables of the experiments in `results` ({name: result}) replaced."""
    def replacement(match):
        result = results.get(match[2])
        return match[1] + table(result, match[3], match[4], busy) + match[5] if result else match[0]
    return TABLE.sub(replacement, page)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="+", type=Path, metavar="ROWS.json")
    parser.add_argument("--page", type=Path, help="default: the pages of docs")
    parser.add_argument("--busy", action="store_true", help="keep the times that the page has")
    arguments = parser.parse_args()
    results = {}
    for path in arguments.rows:
        result = json.loads(path.read_text(encoding="ascii"))
        results[result["experiment"]] = result
    for page in [arguments.page] if arguments.page else [DOCS / "reproduction.md", DOCS / "audio.md"]:
        page.write_text(filled(page.read_text(encoding="ascii"), results, arguments.busy),
                        encoding="ascii")


if __name__ == "__main__":
    main()
