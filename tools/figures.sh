#!/usr/bin/env bash
# Measures the figures of docs/figures.md, all or those of the parts named, and those of docs/models.md
# that name this script, by their parts (encoders, recurrent, risk, calibrated):
#
#     tools/figures.sh [linear|flow|lorenz|members|smoothers|parameters|missing|outliers|little|forecast|
#                       encoders|recurrent|risk|calibrated]...
#
# Takes the program from $KALMIA (build/kalmia) and works in $FOLDER (a new one, removed at the
# end). No clean value is read but by `kalmia evaluate`, to score. About 11 minutes on 2 cores.
set -euo pipefail
kalmia=$(realpath "${KALMIA:-build/kalmia}")
folder=${FOLDER:-$(mktemp -d)}
[ -n "${FOLDER:-}" ] || trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder" && cd "$folder"
wanted=${*:-linear flow lorenz members smoothers parameters missing outliers little forecast}

data() {  # NAME SYSTEM STEPS SEED [options]
  local name=$1 system=$2 steps=$3 seed=$4
  shift 4
  [ -f "$name.npz" ] || "$kalmia" simulate "$system" --steps "$steps" --seed "$seed" "$@" -o "$name.npz"
}
fit() {  # MODEL DATA options
  local model=$1 from=$2
  shift 2
  local start=$SECONDS
  "$kalmia" fit "$from.npz" --effort quick "$@" -o "$model.kalmia" > "$model.log" 2>&1
  echo "$model: fit $from $* ($((SECONDS - start)) s)"
}
score() {  # MODEL DATA [options of evaluate]
  local model=$1 on=$2
  shift 2
  echo "  evaluate $on${*:+ $*}"
  "$kalmia" evaluate "$model.kalmia" "$on.npz" "$@" |
    grep -E "where measured|^  states|NEES|NIS|within|leak" | sed 's/^ */    /; s/   (.*//'
}

for figure in $wanted; do
  echo "== $figure"
  case $figure in
    linear)
      data linear linear 131072 1 && data linear_test linear 32768 2
      fit linear_first linear --prior linear-motion --noise 0.5 --hidden 0 && score linear_first linear_test
      fit linear_flow linear --prior linear-motion --order 12 --departure 0 --noise 0.5 --hidden 0
      score linear_flow linear_test
      ;;
    flow)
      data lorenz lorenz 131072 1 && data lorenz_test lorenz 32768 2
      fit rk4 lorenz --prior lorenz --flow rk4 --substeps 2 --noise 0.5 --hidden 0
      score rk4 lorenz_test && score rk4 lorenz_test --iterations 20
      fit taylor lorenz --prior lorenz --flow taylor --departure-degree 4 --noise 0.5 --hidden 0
      score taylor lorenz_test
      ;;
    lorenz)
      data lorenz lorenz 131072 1 && data lorenz_test lorenz 32768 2
      fit frozen lorenz --prior lorenz --noise 0.5 && score frozen lorenz_test
      fit learned lorenz --prior lorenz --noise 0.5 --departure-degree 4 --hidden 0
      score learned lorenz_test
      ;;
    members)
      data lorenz lorenz 131072 1 && data lorenz_test lorenz 32768 2
      fit members lorenz --prior lorenz --noise 0.5 --members 5 && score members lorenz_test
      ;;
    calibrated)
      data lorenz lorenz 131072 1 && data lorenz_test lorenz 32768 2
      for members in 1 2 4; do
        fit "members_$members" lorenz --prior lorenz --noise 0.5 --members $members --no-calibrate
        score "members_$members" lorenz_test
        fit "calibrated_$members" lorenz --prior lorenz --noise 0.5 --members $members
        grep "^variances" "calibrated_$members.log"
        score "calibrated_$members" lorenz_test
      done
      ;;
    encoders)
      data ten_thousand lorenz 10000 1 && data ten_thousand_test lorenz 10000 2
      for encoder in gru lstm conv transformer tcn; do
        fit "$encoder" ten_thousand --prior constant-velocity --noise 0.5 --updates 600 --threads 1 --encoder $encoder
        grep "^networks" "$encoder.log"
        score "$encoder" ten_thousand_test
      done
      ;;
    recurrent)
      data lorenz lorenz 131072 1 && data lorenz_test lorenz 32768 2
      fit recurrent_filter lorenz --prior lorenz --noise 0.5 --filter recurrent
      grep "^networks" recurrent_filter.log
      score recurrent_filter lorenz_test
      ;;
    smoothers)
      data lorenz lorenz 131072 1 && data lorenz_test lorenz 32768 2
      for smoother in fused recurrent recursive recursive-alternative; do
        fit "$smoother" lorenz --prior lorenz --noise 0.5 --smoother $smoother --keep-smoother
        grep "^smoother" "$smoother.log" | tail -1
        score "$smoother" lorenz_test
      done
      fit fused_learned lorenz --prior lorenz --noise 0.5 --departure-degree 4 --learning-rate 6e-3 --smoother fused --keep-smoother
      score fused_learned lorenz_test
      ;;
    risk)
      data held_out lorenz 16384 3
      for steps in 8192 32768; do
        data "lorenz_$steps" lorenz $steps 1
        fit "risk_$steps" "lorenz_$steps" --prior lorenz --noise 0.5 --smoother fused --keep-smoother --validation held_out.npz
        grep "^smoother" "risk_$steps.log" | tail -1
        score "risk_$steps" held_out --method fused && score "risk_$steps" held_out --method linearized
      done
      ;;
    parameters)
      data lorenz lorenz 131072 1 && data lorenz_test lorenz 32768 2
      fit parameters lorenz --noise 0.5 --hidden 0 --substeps 2 --states x,y,z \
        --ode "x = sigma*(y - x)" --ode "y = x*(rho - z) - y" --ode "z = x*y - beta*z" \
        --measure-as "y1 = x" --measure-as "y2 = y" --measure-as "y3 = z" \
        --parameter "sigma = 8 learn" --parameter "rho = 33.6 learn" --parameter "beta = 2.1333 learn"
      grep "^learned" parameters.log
      score parameters lorenz_test
      ;;
    missing)
      data sparse lorenz 131072 1 --missing 0.3 && data sparse_test lorenz 32768 2 --missing 0.3
      fit missing sparse --prior lorenz --flow rk4 --substeps 2 --noise 0.5 --hidden 0
      score missing sparse_test
      ;;
    outliers)
      data plain lorenz 20000 1 && data plain_test lorenz 10000 2
      data outliers lorenz 20000 1 --outliers 0.05 --outlier-size 1.2 && data outliers_test lorenz 10000 2 --outliers 0.05 --outlier-size 1.2
      for from in plain outliers; do
        fit "tails_$from" $from --prior lorenz --flow rk4 --substeps 2 --noise 0.5 --hidden 0 --tails 4
        score "tails_$from" "${from}_test"
      done
      ;;
    little)
      data thousand lorenz 1000 1 && data lorenz_test lorenz 32768 2
      fit little thousand --prior lorenz --noise 0.5 --departure-degree 3 && score little lorenz_test
      ;;
    forecast)
      data linear linear 131072 1 && data lorenz lorenz 131072 1
      [ -f linear_flow.kalmia ] || fit linear_flow linear --prior linear-motion --order 12 --departure 0 --noise 0.5 --hidden 0
      [ -f rk4.kalmia ] || fit rk4 lorenz --prior lorenz --flow rk4 --substeps 2 --noise 0.5 --hidden 0
      data linear_test linear 32768 2 && data lorenz_test lorenz 32768 2
      for model in linear_flow rk4; do
        on=$([ $model = rk4 ] && echo lorenz_test || echo linear_test)
        score $model $on --horizon 10
      done
      ;;
    *)
      echo "figures.sh: no figure is called $figure" >&2
      exit 2
      ;;
  esac
done
