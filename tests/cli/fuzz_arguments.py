"""The command line that the fuzz tests share."""

import argparse
import os
from pathlib import Path


def parse(description, count):
    """What was asked for: program, seed, keep, jobs, only, and the numbers of the cases to run."""
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("--count", type=int, default=count, help="cases to run [%(default)s]")
    parser.add_argument("--first", type=int, default=1, help="number of the first one [%(default)s]")
    parser.add_argument("--seed", type=int, default=1, help="what the cases are drawn from [%(default)s]")
    parser.add_argument("--only", type=int, help="run this case alone")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="cases at a time [%(default)s]")
    parser.add_argument("--keep", help="folder for the files and command lines of the cases")
    options = parser.parse_args()
    options.program = options.program.resolve()
    options.numbers = ([options.only] if options.only is not None
                       else range(options.first, options.first + options.count))
    return options
