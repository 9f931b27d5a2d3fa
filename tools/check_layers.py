#!/usr/bin/python3
"""Checks the order of the layers and the mirroring of tests.

usage: tools/check_layers.py [ROOT]

The order is the table in src/README.md, lowest layer first. A failure is printed for
  - a folder in src/ that the table does not list, or whose state in the table is not true;
  - a file in src/<layer> that includes a header of a later layer;
  - a public header (include/kalmia) that includes anything but public headers and the standard
    library;
  - a source without its test tests/<layer>/<name>_test.cpp (code on lanes, x-inl.h, is tested with
    the sources that compile it);
  - a test that mirrors no source.
"""

import re
import sys
from pathlib import Path

# Sources tested by the test of another unit: {unit: (that unit, why)}.
COVERED = {
    "lanes/cholesky_adjoint": ("lanes/cholesky", "each adjoint is tested beside its function"),
    "lanes/triangle": ("lanes/small_matrix", "triangles are tested with the matrices they give"),
    "nn/adam_rule": ("nn/adam", "the numbers of one update, without code"),
    "kalman/predict": ("kalman/step", "a part of one Kalman step"),
    "kalman/update": ("kalman/step", "a part of one Kalman step"),
    "kalman/rts": ("kalman/step", "the smoother's step"),
    "kalman/scratch": ("kalman/step", "sizes that the step's tests allocate by"),
    "kalman/array": ("kalman/classical_linear", "the memory of the results"),
    "kalman/classical_batch": ("kalman/classical_linear", "the loop of all classical filters"),
    "kalman/classical_smoother": ("kalman/classical_linear", "reached by the smoothers alone"),
    "kalman/classical_state": ("kalman/classical_linear", "the state of that loop"),
    "kalman/classical_step": ("kalman/classical_linear", "one step of that loop"),
    "kalman/matrix_checks": ("kalman/emission", "the checks an emission makes of its matrices"),
    "infer/model_impl": ("infer/model", "what the public Model holds, without code"),
    "infer/stream_impl": ("infer/stream", "what the public Stream holds"),
    "infer/member_stream": ("infer/stream", "one member's part of it"),
    "infer/estimate": ("infer/model", "Model's filter and smoother"),
    "infer/sample": ("infer/model", "Model's samples"),
    "infer/forecast": ("infer/model", "Model's forecasts"),
    "infer/series_run": ("infer/model", "what these three share"),
    "train/smoother_trainee": ("train/two_sided_trainer", "what the smoothers' stages share"),
    "train/smoother_trainer": ("train/two_sided_trainer", "the stage around them"),
    "train/fit_data": ("train/holdout", "the data that are held out of"),
    "train/first_description": ("train/fit", "what the static stage of a fit begins with"),
    "train/best_static": ("train/fit_validation", "its choices show in whole fits"),
    "train/prior_choice": ("train/fit", "its choice shows in whole fits"),
    "train/calibration_stage": ("train/members", "what it finds is a part of a whole fit"),
    "train/name_list": ("train/fit_notes", "a list of names in these"),
    "infer/student_weights": ("infer/refine", "the weights of refined passes"),
    "infer/scaled_data": ("train/training_data", "data as training reads them"),
    "reproduce/classical_task": ("reproduce/lorenz_methods", "the raw measurements, and the errors that are tuned by"),
    "reproduce/provenance": ("reproduce/result_json", "the part of the result that it makes"),
    "audio/denoise_report": ("audio/denoise", "the report that it returns, as text and JSON"),
    "model/calibration": ("model/model_file", "three factors, without code"),
    "model/ensemble": ("model/model_file", "what that file holds"),
    "model/tensor_file": ("model/model_file", "the layout of that file"),
}

# Sources that need no test at all, and why.
UNTESTED = {
    "kalman/emission_map": "an interface without code; prior/program_map implements it",
    "kalman/transition_map": "an interface without code; its implementations are tested",
    "lanes/put": "an enumeration",
    "reproduce/audio_method": "an interface without code; reproduce/audio_runner_test.cpp implements it",
    "reproduce/method": "an interface without code; reproduce/runner_test.cpp implements it",
    "simulate/simulated_system": "an interface without code; its implementations are tested",
}

# Tests that span several sources and so mirror none, and why.
SPANNING = {
    "reproduce/honesty": "no self-supervised method of any experiment touches clean data",
    "infer/definite": "covariances are covariances, whatever the model, the gap and the noise",
    "train/scaling": "units do not matter, to the bit",
    "study/calibration": "bars of 95 % hold 95 %, over data drawn from each linear prior",
    "study/figures": "docs/figures.md on a small scale: fit and evaluate together",
    "study/network_figures": "a figure of every network model: fit and evaluate together",
    "heads/allocation": "no hot loop of the model allocates",
    "heads/carry": "a series cut into windows equals the whole",
    "heads/invariants": "the same properties for all models, precisions and instruction sets",
    "torch/parity": "everything against LibTorch",
}

# Folders of tests/ that are not layers: shared helpers, the installed package, the tools. Tests of
# public headers stand in tests/kalmia and mirror include/kalmia.
OTHER_TEST_FOLDERS = {"support", "install", "tools"}

STANDARD_HEADERS = set("""
algorithm any array atomic barrier bit bitset charconv chrono codecvt compare complex concepts
condition_variable coroutine deque exception execution expected filesystem format forward_list
fstream functional future initializer_list iomanip ios iosfwd iostream istream iterator latch limits
list locale map memory memory_resource mutex new numbers numeric optional ostream queue random ranges
ratio regex scoped_allocator semaphore set shared_mutex source_location span sstream stack stdexcept
stop_token streambuf string string_view syncstream system_error thread tuple type_traits typeindex
typeinfo unordered_map unordered_set utility valarray variant vector version
cassert cctype cerrno cfenv cfloat cinttypes climits clocale cmath csetjmp csignal cstdarg cstddef
cstdint cstdio cstdlib cstring ctime cuchar cwchar cwctype
""".split())

ROW = re.compile(r"^\|\s*`(\w+)`\s*\|\s*(\w+)\s*\|")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')
SOURCE_SUFFIXES = ("-inl.h", ".hpp", ".cpp", ".h")


def stem(path):
    """The unit a file belongs to: src/lanes/dense-inl.h -> "dense"."""
    for suffix in SOURCE_SUFFIXES:
        if path.name.endswith(suffix):
            return path.name[: -len(suffix)]
    return None


def sources(folder):
    return sorted(p for p in folder.rglob("*") if p.is_file() and stem(p) is not None)


def includes(path):
    """Yields (line number, is quoted, name) for each include of a file."""
    for number, line in enumerate(path.read_text(encoding="ascii").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match[1] == '"', match[2]


def read_layers(root):
    """The table of src/README.md as {layer: state}, in order."""
    rows = map(ROW.match, (root / "src/README.md").read_text().splitlines())
    return {row[1]: row[2] for row in rows if row}


def check_states(root, layers):
    if not layers:
        yield "src/README.md: no table of layers, but one is required"
    for layer, state in layers.items():
        has_code = (root / "src" / layer).is_dir() and bool(sources(root / "src" / layer))
        if state not in ("exists", "planned"):
            yield f"src/README.md: state of {layer} is \"{state}\", but it must be exists or planned"
        elif has_code != (state == "exists"):
            found = "has code" if has_code else "has no code"
            yield f"src/README.md: {layer} is marked \"{state}\", but src/{layer} {found}"
    for folder in sorted((root / "src").iterdir()):
        if folder.is_dir() and sources(folder) and folder.name not in layers:
            yield f"src/{folder.name}: not in the table of src/README.md"


def check_order(root, layers):
    order = list(layers)
    for place, layer in enumerate(order):
        for path in sources(root / "src" / layer):
            where = path.relative_to(root)
            for number, quoted, name in includes(path):
                first = name.split("/")[0] if "/" in name else ""
                if first in order:
                    if order.index(first) > place:
                        yield (f"{where}:{number}: {layer} includes {name}, but {first} is a later "
                               "layer")
                elif quoted and first not in ("kalmia", "hwy"):
                    yield (f"{where}:{number}: includes \"{name}\", but a header of the library is "
                           "named from src/ (\"layer/name\") or as \"kalmia/name\"")


def check_public(root):
    for path in sources(root / "include"):
        where = path.relative_to(root)
        for number, _, name in includes(path):
            if name in STANDARD_HEADERS:
                continue
            if name.startswith("kalmia/") and (root / "include" / name).is_file():
                continue
            yield (f"{where}:{number}: a public header includes {name}, but only the standard "
                   "library and other public headers are allowed")


def compiled_with(root, layers, header):
    """The units of the .cpp files that include `header`, directly or by other code on lanes."""
    found, waiting = set(), [header]
    seen = set()
    while waiting:
        name = waiting.pop()
        for layer in layers:
            for path in sources(root / "src" / layer):
                if path in seen or name not in (each for _, _, each in includes(path)):
                    continue
                seen.add(path)
                if path.suffix == ".cpp":
                    found.add(f"{layer}/{stem(path)}")
                elif path.name.endswith("-inl.h"):
                    waiting.append(str(path.relative_to(root / "src")))
    return found


def check_tests(root, layers):
    folders = {layer: root / "src" / layer for layer in layers}
    folders["kalmia"] = root / "include/kalmia"
    units = {f"{name}/{stem(path)}": path
             for name, folder in folders.items() if folder.is_dir() for path in sources(folder)}
    tested = set()
    for path in sorted((root / "tests").rglob("*.cpp")):
        where = path.relative_to(root / "tests")
        if where.parts[0] in OTHER_TEST_FOLDERS:
            continue
        name = str(where.with_suffix(""))
        if not name.endswith("_test"):
            # x_anything.cpp may belong to x_test.cpp, for example code compiled once per
            # instruction set.
            parts = path.stem.split("_")
            if not any(path.with_name("_".join(parts[:i]) + "_test.cpp").is_file()
                       for i in range(1, len(parts))):
                yield f"tests/{where}: neither a test nor named after one (x_test.cpp, x_helper.cpp)"
            continue
        name = name[: -len("_test")]
        # x_test.cpp tests x; x_aspect_test.cpp tests x as well.
        owners = [unit for unit in units if name == unit or name.startswith(unit + "_")]
        if not owners and name not in SPANNING:
            yield (f"tests/{where}: mirrors no source; name it after one, or list it in SPANNING in "
                   "tools/check_layers.py with a reason")
        tested.add(name)
    for unit, path in units.items():
        if path.name.endswith("-inl.h"):
            header = str(path.relative_to(root / "src"))
            if compiled_with(root, layers, header) & (tested | COVERED.keys()):
                continue
        if (unit not in tested and unit not in UNTESTED and unit not in COVERED
                and not unit.startswith("kalmia/")):
            yield (f"{path.relative_to(root)}: no tests/{unit}_test.cpp; write it, or list the file "
                   "in COVERED or UNTESTED in tools/check_layers.py with a reason")


def check_exceptions(root):
    """The lists of exceptions above must be true as well."""
    def has_source(unit):
        layer, name = unit.split("/")
        return any(stem(p) == name for p in sources(root / "src" / layer))

    def has_test(unit):
        return (root / "tests" / f"{unit}_test.cpp").is_file()

    for name, listed in (("COVERED", COVERED), ("UNTESTED", UNTESTED)):
        for unit in listed:
            if not has_source(unit):
                yield f"tools/check_layers.py: {name} lists {unit}, which does not exist"
            elif has_test(unit):
                yield f"tools/check_layers.py: {name} lists {unit}, which has a test of its own"
    for unit, (other, _) in COVERED.items():
        if not has_test(other):
            yield f"tools/check_layers.py: {unit} is said to be covered by {other}, which has no test"
    for name in SPANNING:
        if not has_test(name):
            yield f"tools/check_layers.py: SPANNING lists {name}, which does not exist"


def check(root):
    """All failures of the tree at `root`, as text."""
    layers = read_layers(root)
    failures = []
    for part in (check_states(root, layers), check_order(root, layers), check_public(root),
                 check_tests(root, layers)):
        failures.extend(part)
    return failures


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    failures = check(root) + list(check_exceptions(root))
    for failure in failures:
        print(failure)
    print(f"check_layers: {len(failures)} failures" if failures else "check_layers: the tree is in order")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
