#!/usr/bin/python3
"""Checks the order of the layers and the mirroring of tests.

usage: tools/check_layers.py [ROOT]

The order is the first table in src/README.md, lowest layer first; the second table gives each public
header (include/kalmia) its layer. A failure is printed for
  - a folder in src/ that the table does not list, or whose state in the table is not true;
  - a public header that has no row in the second table, or a row that is not true;
  - a file that src/README.md names (`infer/run.cpp`) and that does not exist;
  - a file in src/<layer> or a public header that includes a header of a later layer, public or not
    (as every single include is checked, none reaches a later layer by way of others);
  - a public header that includes anything but public headers and the standard library;
  - a file of the program (cli/) that includes a header of the library that is neither public nor of
    the lowest layer;
  - a source without its test tests/<layer>/<name>_test.cpp;
  - a test that mirrors no source.

No test of its own is asked for
  - code on lanes, x-inl.h, that a test of its layer compiles, or a source that has a test;
  - sources in a folder of a layer, src/<layer>/<folder>, where tests/<layer>/<folder>_test.cpp or
    tests/<layer>/<folder>_<aspect>_test.cpp tests the folder as a whole;
  - headers without code: plain data, enumerations and interfaces, whose functions at most return a
    member or a constant.
"""

import re
import sys
from pathlib import Path

# Sources tested by the test of another unit: {unit: (that unit, why)}.
COVERED = {
    "infer/series_run": ("infer/estimate", "what filter, smoother, forecasts and samples share"),
    "train/smoother_trainee": ("train/two_sided_trainer", "what the smoothers' stages share"),
    "train/prior_choice": ("train/fit", "its choice shows in whole fits"),
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
PUBLIC_ROW = re.compile(r"^\|\s*`(kalmia/\w+\.hpp)`\s*\|\s*`(\w+)`\s*\|")
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


def read_public_layers(root):
    """The rows of src/README.md on public headers, as (header, layer)."""
    rows = map(PUBLIC_ROW.match, (root / "src/README.md").read_text().splitlines())
    return [(row[1], row[2]) for row in rows if row]


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
    public = dict(read_public_layers(root))

    def layer_of(name):
        """The layer of an included header; None: it is none of the library's."""
        first = name.split("/")[0] if "/" in name else ""
        return first if first in order else public.get(name)

    files = [(layer, path) for layer in order for path in sources(root / "src" / layer)]
    files += [(public[name], root / "include" / name) for name in public
              if public[name] in order and (root / "include" / name).is_file()]
    for layer, path in files:
        where = path.relative_to(root)
        for number, quoted, name in includes(path):
            other = layer_of(name)
            if other in order:
                if order.index(other) > order.index(layer):
                    whose = f"{other} is a later layer" if name not in public else (
                        f"it belongs to {other}, a later layer")
                    yield f"{where}:{number}: {layer} includes {name}, but {whose}"
            elif quoted and name.split("/")[0] not in ("kalmia", "hwy"):
                yield (f"{where}:{number}: includes \"{name}\", but a header of the library is "
                       "named from src/ (\"layer/name\") or as \"kalmia/name\"")


def check_public_layers(root, layers):
    """Every public header has one row, and every row is of a header and a layer."""
    rows = read_public_layers(root)
    listed = [name for name, _ in rows]
    for name, layer in rows:
        if layer not in layers:
            yield f"src/README.md: {name} is of the layer {layer}, which the table of layers does not list"
        if not (root / "include" / name).is_file():
            yield f"src/README.md: {name} is listed as a public header, but does not exist"
    for name in sorted({each for each in listed if listed.count(each) > 1}):
        yield f"src/README.md: {name} has {listed.count(name)} rows, but one is right"
    for path in sources(root / "include"):
        name = str(path.relative_to(root / "include"))
        if name not in listed:
            yield f"include/{name}: no layer; give it a row in the table of public headers in src/README.md"


def check_named_files(root, layers):
    """The files that src/README.md names, from src/ or include/: `infer/run.cpp`, `kalmia/fit.hpp`."""
    text = (root / "src/README.md").read_text()
    for name in sorted(set(re.findall(r"[\w/]+/[\w-]+\.(?:cpp|hpp|h)\b", text))):
        if name.split("/")[0] in layers and not (root / "src" / name).is_file():
            yield f"src/README.md: names {name}, which does not exist"


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


def check_program(root, layers):
    for path in sources(root / "cli") if (root / "cli").is_dir() else ():
        for number, _, name in includes(path):
            if name.split("/")[0] in list(layers)[1:] and "/" in name:
                yield (f"{path.relative_to(root)}:{number}: the program includes {name}, but it stands on "
                       f"the public headers and {next(iter(layers))} alone")


def compiled_with(root, layers, header):
    """What includes `header`, code on lanes, directly or by other code on lanes: the units of sources,
    and whether a test of its own layer does."""
    own_tests = sources(root / "tests" / header.split("/")[0])
    found, by_test, seen, waiting = set(), False, set(), [header]
    while waiting:
        name = waiting.pop()
        by_test = by_test or any(name in (each for _, _, each in includes(path)) for path in own_tests)
        for layer in layers:
            for path in sources(root / "src" / layer):
                if path in seen or name not in (each for _, _, each in includes(path)):
                    continue
                seen.add(path)
                if path.suffix == ".cpp":
                    found.add(f"{layer}/{stem(path)}")
                elif path.name.endswith("-inl.h"):
                    waiting.append(str(path.relative_to(root / "src")))
    return found, by_test


COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.S)
BODY = re.compile(r"\)[^;{}()]*(?:\([^{}]*\)[^;{}()]*)*\{([^{}]*)[{}]")
NO_CODE = re.compile(r"(?:return [\w.]+;)?")


def has_code(path):
    """Whether a header does anything: some function of it does more than to return a member or a
    constant."""
    text = COMMENT_OR_TEXT.sub('""', path.read_text(encoding="ascii"))
    return any(not NO_CODE.fullmatch(body.strip()) for body in BODY.findall(text))


def is_folder_tested(path, layer_folder, tested):
    """Whether the source stands in a folder of its layer that has a test as a whole."""
    inside = path.relative_to(layer_folder).parts
    if len(inside) < 2:
        return False
    folder = f"{layer_folder.name}/{inside[0]}"
    return any(name == folder or name.startswith(folder + "_") for name in tested)


def needs_test(root, layers, unit, paths, tested):
    if unit in tested or unit.startswith("kalmia/"):
        return False
    if is_folder_tested(paths[0], root / "src" / unit.split("/")[0], tested):
        return False
    if all(path.suffix == ".hpp" and not has_code(path) for path in paths):
        return False
    if all(path.name.endswith("-inl.h") for path in paths):
        units, by_test = compiled_with(root, layers, str(paths[0].relative_to(root / "src")))
        return not by_test and not units & (tested | COVERED.keys())
    return True


def units_of(root, layers):
    """{unit: its files}; a unit is what one test is named after, "lanes/dense"."""
    units = {}
    for name, folder in [*((layer, root / "src" / layer) for layer in layers),
                         ("kalmia", root / "include/kalmia")]:
        for path in sources(folder) if folder.is_dir() else ():
            units.setdefault(f"{name}/{stem(path)}", []).append(path)
    return units


def tests_of(root):
    """The names of all tests of sources, without _test: "lanes/dense", "lanes/dense_speed"."""
    names = (str(path.relative_to(root / "tests").with_suffix(""))
             for path in (root / "tests").rglob("*_test.cpp"))
    return {name[: -len("_test")] for name in names if name.split("/")[0] not in OTHER_TEST_FOLDERS}


def check_tests(root, layers):
    units, tested = units_of(root, layers), tests_of(root)
    # A test may also be named after a folder of a layer.
    named = [*units, *(f"{layer}/{each.name}" for layer in layers if (root / "src" / layer).is_dir()
                       for each in (root / "src" / layer).iterdir() if each.is_dir())]
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
        owners = [unit for unit in named if name == unit or name.startswith(unit + "_")]
        if not owners and name not in SPANNING:
            yield (f"tests/{where}: mirrors no source; name it after one, or list it in SPANNING in "
                   "tools/check_layers.py with a reason")
    for unit, paths in units.items():
        if unit not in COVERED and needs_test(root, layers, unit, paths, tested):
            yield (f"{paths[0].relative_to(root)}: no tests/{unit}_test.cpp; write it, or list the file "
                   "in COVERED in tools/check_layers.py with a reason")


def check_exceptions(root):
    """The lists of exceptions above must be true as well."""
    layers = read_layers(root)
    units, tested = units_of(root, layers), tests_of(root)
    for unit, (other, _) in COVERED.items():
        place = f"tools/check_layers.py: COVERED lists {unit}, which"
        if unit not in units:
            yield f"{place} does not exist"
        elif unit in tested:
            yield f"{place} has a test of its own"
        elif not needs_test(root, layers, unit, units[unit], tested):
            yield f"{place} needs no test of its own by the rules"
        elif other not in tested:
            yield f"tools/check_layers.py: {unit} is said to be covered by {other}, which has no test"
    for name in SPANNING:
        if name not in tested:
            yield f"tools/check_layers.py: SPANNING lists {name}, which does not exist"


def check(root):
    """All failures of the tree at `root`, as text."""
    layers = read_layers(root)
    failures = []
    for part in (check_states(root, layers), check_public_layers(root, layers),
                 check_named_files(root, layers),
                 check_order(root, layers), check_public(root), check_program(root, layers),
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
