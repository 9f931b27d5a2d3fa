/// \file
/// The options of a fit: what the model is, and how it is trained.
///
/// Each option is one row of its struct's visit_fields: visit(name, field, description, rule). The
/// rule is a Range of numbers, the function that lists the Choices, or missing. The command line,
/// its help, configurations, messages, model files and FitOptions::violations follow from the rows.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "kalmia/option_rules.hpp"
#include "kalmia/system.hpp"

namespace kalmia {

// What the options that are text may be, with what it means.
std::vector<Choice> prior_choices();
std::vector<Choice> flow_choices();
std::vector<Choice> noise_choices();
std::vector<Choice> tails_choices();
std::vector<Choice> encoder_choices();
std::vector<Choice> filter_choices();
std::vector<Choice> smoother_choices();
std::vector<Choice> effort_choices();
std::vector<Choice> purpose_choices();

/// Whether a prior's text stands for a user's own equations: `system`, or a sum with it, as
/// `system + season(24 h)`.
bool takes_equations(const std::string& prior);

/// What the model knows before it sees data.
struct ModelOptions {
  /// The expert map. Some are for each measured channel, as `constant-velocity`, and some for data
  /// of a certain kind, as `lorenz`; `none` learns a map; `system` has the equations of `system`.
  /// Or parts that add up to the value of each channel, as in `trend + season(24 h) + memory`;
  /// channels may have their own, as in `north: trend; level`. To what equations say that a channel
  /// measures parts may be added, as in `lorenz + memory(3 s)` or `system; north: level`. `auto`
  /// searches for parts, as `effort` says.
  std::string prior = "auto";
  /// Of `lorenz` and `linear-motion`: from the equations to the map of a step. Empty and 0: as in
  /// the paper, frozen and of order 2 and 1. Of `ar`, the order is the number of lags (0: 2).
  IntegrationOptions integration{.flow = "", .order = 0, .substeps = 1};
  /// Standard deviation of a departure from the map, entry by entry, that is learned with the
  /// noise: how far the expert may be off. 0: not at all; negative: 0.01 for `linear-motion`, 1 for
  /// `none` or if `departure_degree` is above 1, and 0 for the others.
  double departure = -1;
  /// 1: the departure is a constant matrix. More: polynomials of the states of this degree, whose
  /// coefficients have no unit: states count in standard deviations, what is added to them in the
  /// usual changes of a step.
  int departure_degree = 1;
  /// Of `none`: states beside the measured channels, without a meaning of their own. They start as
  /// earlier values of the channels; what they become is learned.
  int latent = 0;
  /// A user's own equations; used if `prior` is `system` or a sum that begins with it, or `auto`
  /// and there are any.
  System system;
  /// Measurement noise: numbers in the data's units, or what is to be learned. Where the data say
  /// how noisy each value is (DataOptions::noise_columns), `learn` and `learn-full` learn a factor
  /// of that for each channel.
  std::string noise = "auto";
  /// Tails of the measurement noise. Under Student's t outliers count less, and the noise's
  /// standard deviation is that of its core: the scale of Student's t.
  /// `auto` takes those of Student where the data have outliers and estimates become better.
  std::string tails = "auto";
  /// What reads the measurements.
  std::string encoder = "gru";
  /// Steps that conv, transformer and tcn look back on.
  int taps = 16;
  /// What the networks of the filter put out: `recursive`, how x[k] follows from x[k-1], by the
  /// expert map and a learned residual; `recurrent`, x[k] itself, relative to the last measured
  /// values, without an expert map; `diagonal`, the same without correlations of the states (known
  /// as DANSE). States that no channel measures need the recursive one.
  std::string filter = "recursive";
  /// How states are smoothed: `linearized`, the backward pass over the filter, which needs no
  /// training; or by networks that read the future, trained after the filter's: `fused`, the
  /// leak-free recursive smoother; `recurrent`, x[k] directly from both sides; `recursive`, the
  /// paper's (which can leak), or `recursive-alternative`, the same with the posterior of the
  /// paper's last appendix.
  std::string smoother = "linearized";
  /// Keeps a trained smoother that is better than the filter even where the linearized one seems at
  /// least as good (FitSmootherSummary::risk).
  bool keep_smoother = false;
  /// Networks trained from so many seeds on the same static model, and combined to one posterior:
  /// an ensemble.
  int members = 1;
  /// Scales reported covariances by factors found on measurements that were hidden, so that they
  /// are honest; means stay as they are. With too few data to hold any out, nothing is scaled.
  bool calibrate = true;
  /// Hidden units of the encoder. 0: no networks, the static model alone.
  int hidden = 64;
  /// Widths of the decoder's hidden layers.
  std::vector<int> decoder = {64};
  /// What is tried beyond what the options say. `quick`: nothing but the four usual priors where
  /// none is named; held-out likelihood alone decides. `normal`: a search for parts, polynomial
  /// departures from equations, heavy tails; what is kept has to be better over all uses of a
  /// model: filtering, smoothing, gaps, forecasts. `thorough`: the same on more of the data.
  std::string effort = "normal";
  /// What a search judges models by. `all`: every use counts alike, and none may become clearly
  /// worse; else one of them alone.
  std::string purpose = "all";
};

template <typename Options, typename Visitor>
requires std::same_as<std::remove_const_t<Options>, ModelOptions>
constexpr void visit_fields(Options& o, Visitor&& visit) {
  visit("prior", o.prior,
        "the expert map: a name, or a sum as in trend + season(24 h) or lorenz + level",
        &prior_choices);
  visit("order", o.integration.order,
        "lags of ar; order of the Taylor series of lorenz and linear-motion (0: 2 and 1, as in "
        "the paper)",
        Range{.least = 0, .largest = 20});
  visit("flow", o.integration.flow,
        "from the equations of lorenz and linear-motion to the map of a step", &flow_choices);
  visit("substeps", o.integration.substeps,
        "Runge-Kutta steps in one time step; of your own equations, 0 or none given: as many as "
        "they need",
        Range{.least = 0, .largest = 100});
  visit("departure", o.departure,
        "how far the expert's map may be off; 0: not at all; negative: as the prior suggests",
        Range{});
  visit("departure_degree", o.departure_degree,
        "1: the departure is a matrix; more: polynomials of the states of this degree",
        Range{.least = 1, .largest = 8});
  visit("latent", o.latent, "of none: states beside the measured channels, to be learned",
        Range{.least = 0, .largest = 64});
  visit("noise", o.noise, "measurement noise", &noise_choices);
  visit("tails", o.tails, "tails of the noise", &tails_choices);
  visit("encoder", o.encoder, "what reads the measurements", &encoder_choices);
  visit("taps", o.taps, "steps that conv, transformer and tcn look back on",
        Range{.least = 1, .largest = 4096});
  visit("filter", o.filter, "what the filter's networks put out", &filter_choices);
  visit("smoother", o.smoother, "how states are smoothed", &smoother_choices);
  visit("keep_smoother", o.keep_smoother,
        "keep the trained smoother even where the linearized one seems as good");
  visit("members", o.members, "networks from so many seeds, combined to one posterior",
        Range{.least = 1, .largest = 64});
  visit("calibrate", o.calibrate, "scale reported covariances as hidden measurements suggest");
  visit("hidden", o.hidden, "hidden units of the encoder; 0: no networks",
        Range{.least = 0, .largest = 4096});
  visit("decoder", o.decoder, "widths of the decoder's hidden layers",
        Range{.least = 1, .largest = 4096});
  visit("effort", o.effort, "what is tried beyond what the options say", &effort_choices);
  visit("purpose", o.purpose, "what the estimates are for, which a search judges models by",
        &purpose_choices);
}

/// How the model is trained.
struct TrainOptions {
  /// Adam's step size at its highest; it falls along a cosine.
  double learning_rate = 3e-3;
  /// Updates at most; 0 takes a number that suits the amount of data.
  int updates = 0;
  /// Time steps of a training window, over which the recursion is differentiated. The filter's
  /// state is carried from window to window.
  int window = 32;
  /// Series, or pieces of series, advanced together.
  int batch = 128;
  /// Checks of the held-out likelihood without a better one before training stops.
  int patience = 12;
  /// Share of the data held out for choosing the model: whole series where there are many, else the
  /// end of each.
  double holdout = 0.15;
  /// Share of the measurements hidden in training, in runs, so that the networks know gaps.
  double gaps = 0.03;
  /// Gradients of a larger norm are scaled down to it; 0: none is.
  double clip_norm = 1;
  /// Decoupled weight decay, of the last layer of the filter's networks alone: each update
  /// multiplies its weights by 1 - step size * weight_decay, which pulls the networks towards the
  /// static model. No other weights decay, nor do the networks of smoothers.
  double weight_decay = 1e-2;
  /// Seed of every random stream. Same seed, same build: same bits.
  std::uint64_t seed = 1;
  /// Threads; 0: all the machine has. The result does not depend on it.
  int threads = 0;
};

template <typename Options, typename Visitor>
requires std::same_as<std::remove_const_t<Options>, TrainOptions>
constexpr void visit_fields(Options& o, Visitor&& visit) {
  constexpr auto kExcluded = Range::Least::Excluded;
  visit("learning_rate", o.learning_rate, "Adam's step size at its highest",
        Range{.least = 0, .largest = 1, .end = kExcluded});
  visit("updates", o.updates, "updates at most; 0: as the amount of data suggests",
        Range{.least = 0});
  visit("window", o.window, "time steps of a training window",
        Range{.least = 2, .largest = 4096, .remark = "one step has no transition to learn"});
  visit("batch", o.batch, "series, or pieces of series, advanced together",
        Range{.least = 1, .largest = 65536});
  visit("patience", o.patience, "checks without a better held-out likelihood before stopping",
        Range{.least = 1});
  visit("holdout", o.holdout, "share of the data held out for choosing the model",
        Range{.least = 0, .largest = 0.5, .end = kExcluded});
  visit("gaps", o.gaps, "share of the measurements hidden in training, in runs",
        Range{.least = 0, .largest = 0.5});
  visit("clip_norm", o.clip_norm, "gradients of a larger norm are scaled down to it; 0: none is",
        Range{.least = 0, .remark = "0 turns clipping off"});
  visit("weight_decay", o.weight_decay,
        "decoupled weight decay of the last layer of the filter's networks", Range{.least = 0});
  visit("seed", o.seed, "seed of every random stream");
  visit("threads", o.threads, "threads; 0: all the machine has", kThreadsRange);
}

struct FitOptions {
  ModelOptions model;
  TrainOptions train;

  /// A sentence for every rule that the options violate, with the value and what to do: "model.taps
  /// = 0, but it must be in 1..4096; left out, it is 16". What only the data can tell (columns of
  /// noise, how many channels there are) and what is wrong with equations is said by `fit`.
  std::vector<std::string> violations() const;

  /// Throws ConfigError that names every violated rule.
  void validate() const;

  /// A sentence for each option that has another value than its default and does nothing as the
  /// others are: "taps = 8 has no effect: ...". The program refuses these. `validation`: the data
  /// held out are given, in place of a share of the data.
  std::vector<std::string> without_effect(bool validation = false) const;
};

}  // namespace kalmia
