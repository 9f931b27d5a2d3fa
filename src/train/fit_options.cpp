// The rules that the options of a fit obey.
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "base/threads.hpp"
#include "kalmia/error.hpp"
#include "kalmia/fit.hpp"
#include "model/filters.hpp"
#include "model/smoothers.hpp"
#include "nn/encoder.hpp"
#include "train/tails.hpp"

namespace kalmia {
namespace {

void require(bool holds, const std::string& name, const std::string& found, const std::string& rule,
             std::string& wrong) {
  if (!holds) wrong += "\n  " + name + " = " + found + ", but it must be " + rule;
}

}  // namespace

void FitOptions::validate() const {
  std::string wrong;
  const auto check = [&](bool holds, const std::string& name, auto found, const std::string& rule) {
    require(holds, name, fmt::format("{}", found), rule, wrong);
  };
  check(model.order >= 0 && model.order <= 20, "model.order", model.order, "in 0..20");
  check(model.departure_degree >= 1 && model.departure_degree <= 8, "model.departure_degree",
        model.departure_degree, "in 1..8");
  check(model.latent >= 0 && model.latent <= 64, "model.latent", model.latent, "in 0..64");
  check(model.latent == 0 || model.prior == "none", "model.prior", model.prior,
        "none where there are latent states");
  check(model.hidden >= 0 && model.hidden <= 4096, "model.hidden", model.hidden, "in 0..4096");
  check(nn::is_encoder(model.encoder), "model.encoder", model.encoder, nn::encoder_alternatives());
  check(model.taps >= 1 && model.taps <= 4096, "model.taps", model.taps, "in 1..4096");
  if (model.tails != "gaussian" && model.tails != "learn") train::parse_tails(model.tails);
  check(model.members >= 1 && model.members <= 64, "model.members", model.members, "in 1..64");
  if (model.calibrate && model.tails != "gaussian")
    wrong += "\n  model.calibrate with model.tails = " + model.tails +
             ", but innovations tell covariances only where noise is gaussian; leave one out";
  const model::SmootherEntry* smoother = model::find_smoother(model.smoother);
  if (model.calibrate && smoother != nullptr && smoother->leaks)
    wrong += "\n  model.calibrate with model.smoother = " + model.smoother +
             ", but what that says of a measurement has seen it; leave one out";
  check(model::find_filter(model.filter) != nullptr, "model.filter", model.filter,
        model::filter_alternatives());
  check(model.smoother == "linearized" || smoother != nullptr, "model.smoother", model.smoother,
        "linearized, " + model::smoother_alternatives());
  check(smoother == nullptr || !smoother->linear_gaussian || model.tails == "gaussian",
        "model.smoother", model.smoother,
        "another where tails are not gaussian: its posterior is that of Gaussian "
        "noise");
  for (const int width : model.decoder)
    check(width >= 1 && width <= 4096, "model.decoder", width, "in 1..4096");
  check(train.learning_rate > 0 && train.learning_rate <= 1, "train.learning_rate",
        train.learning_rate, "above 0 and at most 1");
  check(train.updates >= 0, "train.updates", train.updates, ">= 0");
  check(train.window >= 2 && train.window <= 4096, "train.window", train.window,
        "in 2..4096 (one step has no transition to learn)");
  check(train.batch >= 1 && train.batch <= 65536, "train.batch", train.batch, "in 1..65536");
  check(train.patience >= 1, "train.patience", train.patience, ">= 1");
  check(train.holdout > 0 && train.holdout <= 0.5, "train.holdout", train.holdout,
        "above 0 and at most 0.5");
  check(train.gaps >= 0 && train.gaps <= 0.5, "train.gaps", train.gaps, "in 0..0.5");
  check(train.clip_norm >= 0 && std::isfinite(train.clip_norm), "train.clip_norm", train.clip_norm,
        "finite and >= 0 (0 turns clipping off)");
  check(train.weight_decay >= 0 && std::isfinite(train.weight_decay), "train.weight_decay",
        train.weight_decay, "finite and >= 0");
  check(threads_allowed(train.threads), "train.threads", train.threads, kThreadsRule);
  if (!wrong.empty()) throw ConfigError("invalid options:" + wrong);
}

}  // namespace kalmia
