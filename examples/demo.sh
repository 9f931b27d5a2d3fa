#!/bin/bash
# What `make demo` runs: simulates a noisy Lorenz trajectory, learns a model from the noisy
# measurements alone, cleans a second trajectory with it and compares with the truth.
#
#   examples/demo.sh BUILD_DIR [OUTPUT_DIR]
set -euo pipefail
build=$(realpath "$1")
output=${2:-demo}
mkdir -p "$output"
cd "$output"
PATH=$build:$PATH

run() {
  echo "\$ $*"
  "$@"
  echo
}

echo "Working in $output/."
echo
run kalmia simulate lorenz --steps 131072 --seed 1 --quiet -o with_truth.csv
echo "# Time and measurements only: the model never gets to see the truth."
echo "\$ cut -d, -f1-4 with_truth.csv > noisy.csv"
cut -d, -f1-4 with_truth.csv >noisy.csv
echo
run head -n 3 noisy.csv
run kalmia fit noisy.csv --prior lorenz --noise 0.5 -o lorenz.kalmia
echo "# A trajectory that it has not seen, this time with its truth, to compare."
run kalmia simulate lorenz --steps 20000 --seed 2 --quiet -o test.csv
run kalmia filter lorenz.kalmia test.csv --quiet -o filtered.csv
run kalmia smooth lorenz.kalmia test.csv --quiet -o smoothed.csv
run head -n 3 smoothed.csv
"$build/examples/lorenz_limits" with_truth.csv test.csv filtered.csv smoothed.csv
echo
echo "The smoothed states with their standard deviations are in $output/smoothed.csv."
