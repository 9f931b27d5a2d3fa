/// \file
/// Learning a model from noisy measurements alone.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "kalmia/data.hpp"
#include "kalmia/model.hpp"
#include "kalmia/system.hpp"

namespace kalmia {

/// What the model knows before it sees data.
struct ModelOptions {
  /// The expert map: for each measured channel `constant-position`, `constant-velocity` or
  /// `constant-acceleration`, with learned damping `mean-reverting` or `damped-velocity`,
  /// `oscillator` or `ar`; `coordinated-turn`, `lorenz`, `linear-motion`; `none`; `system`: the
  /// equations of `system`. `auto` tries position and velocity, damped or not, and takes the one
  /// whose static filter predicts held-out measurements best.
  std::string prior = "auto";
  /// Lags of `ar` (0: 2); order of the Taylor series of `lorenz` and `linear-motion` (0: as in the
  /// paper, 2 and 1).
  int order = 0;
  /// From the equations of `lorenz` and `linear-motion` to the map of a step: `frozen`, `taylor` or
  /// `rk4`, as System::flow says. Empty: frozen, as in the paper.
  std::string flow;
  /// Runge-Kutta steps in one time step.
  int substeps = 1;
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
  /// A user's own equations; used if `prior` is `system`, or `auto` and there are any.
  System system;
  /// Measurement noise: a standard deviation (`0.5`), one for each channel (`0.5,0.3`), a
  /// covariance by rows (`0.25,0.1;0.1,0.3`), `learn` (one variance for each channel) or
  /// `learn-full` (a covariance). Where the data say how noisy each value is
  /// (DataOptions::noise_columns), `learn` and `learn-full` learn a factor of that for each
  /// channel. `auto`: as the data say, else `learn`.
  std::string noise = "auto";
  /// Tails of the measurement noise: `gaussian`, the degrees of freedom of Student's t (`4`;
  /// outliers then count less), or `learn`. The noise's standard deviation is then that of its
  /// core: the scale of Student's t.
  std::string tails = "gaussian";
  /// What reads the measurements: `gru` (the paper's), `lstm`; or, over the last `taps` steps,
  /// `conv`, a causal convolution, `transformer`, self-attention, or `tcn`, convolutions with depth.
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
  /// Scales reported covariances by factors found on held-out measurements, so that they are
  /// honest; means stay as they are.
  bool calibrate = false;
  /// Hidden units of the encoder. 0: no networks, the static model alone.
  int hidden = 64;
  /// Widths of the decoder's hidden layers.
  std::vector<int> decoder = {64};
};

template <typename Options, typename Visitor>
requires std::same_as<std::remove_const_t<Options>, ModelOptions>
constexpr void visit_fields(Options& o, Visitor&& visit) {
  visit("prior", o.prior,
        "auto, constant-position, mean-reverting, constant-velocity, damped-velocity, "
        "constant-acceleration, oscillator, ar, coordinated-turn, lorenz, linear-motion, none, "
        "system");
  visit("order", o.order,
        "lags of ar; order of the Taylor series of lorenz and linear-motion (0: 2 and 1, as in "
        "the paper)");
  visit("flow", o.flow, "of lorenz and linear-motion: frozen (the paper's), taylor or rk4");
  visit("substeps", o.substeps, "Runge-Kutta steps in one time step");
  visit("departure", o.departure,
        "how far the expert's map may be off; 0: not at all; negative: as the prior suggests");
  visit("departure_degree", o.departure_degree,
        "1: the departure is a matrix; more: polynomials of the states of this degree");
  visit("latent", o.latent, "of none: states beside the measured channels, to be learned");
  visit("noise", o.noise,
        "0.5 | 0.5,0.3 | 0.25,0.1;0.1,0.3 (covariance) | learn | learn-full | auto: as "
        "--noise-columns say, else learn");
  visit("tails", o.tails,
        "tails of the noise: gaussian, degrees of freedom of Student's t, or learn");
  visit("encoder", o.encoder, "what reads the measurements: gru, lstm, conv, transformer or tcn");
  visit("taps", o.taps, "steps that conv, transformer and tcn look back on");
  visit("filter", o.filter,
        "recursive (how a state follows from the one before), recurrent (directly from what was "
        "measured) or diagonal (recurrent, without correlations)");
  visit("smoother", o.smoother,
        "linearized (no training), or networks that read the future: fused, recurrent, recursive, "
        "recursive-alternative");
  visit("keep_smoother", o.keep_smoother,
        "keep the trained smoother even where the linearized one seems as good");
  visit("members", o.members, "networks from so many seeds, combined to one posterior");
  visit("calibrate", o.calibrate, "scale reported covariances as held-out measurements suggest");
  visit("hidden", o.hidden, "hidden units of the encoder; 0: no networks");
  visit("decoder", o.decoder, "widths of the decoder's hidden layers");
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
  /// Gradients of a larger norm are scaled down to it.
  double clip_norm = 1;
  /// Decoupled weight decay.
  double weight_decay = 1e-2;
  /// Seed of every random stream. Same seed, same build: same bits.
  std::uint64_t seed = 1;
  /// Threads; 0: all the machine has. The result does not depend on it.
  int threads = 0;
};

template <typename Options, typename Visitor>
requires std::same_as<std::remove_const_t<Options>, TrainOptions>
constexpr void visit_fields(Options& o, Visitor&& visit) {
  visit("learning_rate", o.learning_rate, "Adam's step size at its highest");
  visit("updates", o.updates, "updates at most; 0: as the amount of data suggests");
  visit("window", o.window, "time steps of a training window");
  visit("batch", o.batch, "series, or pieces of series, advanced together");
  visit("patience", o.patience, "checks without a better held-out likelihood before stopping");
  visit("holdout", o.holdout, "share of the data held out for choosing the model");
  visit("gaps", o.gaps, "share of the measurements hidden in training, in runs");
  visit("clip_norm", o.clip_norm, "gradients of a larger norm are scaled down to it");
  visit("weight_decay", o.weight_decay, "decoupled weight decay");
  visit("seed", o.seed, "seed of every random stream");
  visit("threads", o.threads, "threads; 0: all the machine has");
}

struct FitOptions {
  ModelOptions model;
  TrainOptions train;

  /// Throws ConfigError that names every violated rule.
  void validate() const;

  /// A sentence for each option that has another value than its default and does nothing as the
  /// others are: "taps = 8 has no effect: ...". The program refuses these. `validation`: the data
  /// held out are given, in place of a share of the data.
  std::vector<std::string> without_effect(bool validation = false) const;
};

/// Where a fit stands.
struct FitProgress {
  std::string stage;    ///< "static constant-velocity", "networks", ...
  int update = 0;       ///< of this stage
  int updates = 0;      ///< at most
  double loss = 0;      ///< mean negative log-likelihood of a measured value, training data
  double held_out = 0;  ///< the same of held-out data, last check; NaN before the first
  double best_held_out = 0;
  double steps_per_second = 0;  ///< time steps
  double seconds = 0;           ///< since the fit began
  double seconds_left = 0;      ///< at most, in this stage; NaN while unknown
};

enum class StopReason {
  Finished,        ///< all updates were made
  Patience,        ///< no better held-out loss for TrainOptions::patience checks
  Interrupted,     ///< the progress function said so, after the static stage
  Failures,        ///< losses that were not finite, in spite of smaller rates
  NoNetworks,      ///< none were asked for
  LittleData,      ///< too few measured values for networks
  NoisePredicted,  ///< measurements are predicted better than their stated noise allows
};

/// What a summary says is the same in every run on the same data, or depends on the machine: times
/// and speeds. A model file holds nothing that varies.
enum class Figure { Repeats, Varies };

// Every part of a summary has visit_fields(part, visit), which calls visit(name, field) for each
// field, and visit(name, field, Figure::Varies) for each that varies. FitSummary::to_json and the
// summary in a model file are written from these alone.

/// One check of the held-out data.
struct FitCheck {
  int update = 0;
  double loss = 0;
  double held_out = 0;
  double learning_rate = 0;
};

template <typename Visitor>
constexpr void visit_fields(const FitCheck& check, Visitor&& visit) {
  visit("update", check.update);
  visit("loss", check.loss);
  visit("held_out", check.held_out);
  visit("learning_rate", check.learning_rate);
}

/// The data, and how they were divided.
struct FitDataSummary {
  std::size_t training_steps = 0;  ///< time steps used for training
  std::size_t held_out_steps = 0;
  /// Steps at the ends of series without any measurement, of the data as they were given: they say
  /// nothing, and are not used.
  std::size_t empty_end_steps = 0;
  /// Measured values of the training data beyond those that go into the states each series begins
  /// with, less the numbers that the static model learned. With none left the fit says nothing of
  /// how wrong it is.
  double degrees_of_freedom = 0;
  /// With a given noise: the loss that an honest prediction cannot fall below, for it cannot know
  /// the noise to come. Below it, the noise itself is being predicted: it is correlated in time, or
  /// smaller than stated. -infinity if the noise is learned.
  double noise_bound = -std::numeric_limits<double>::infinity();
};

template <typename Visitor>
constexpr void visit_fields(const FitDataSummary& data, Visitor&& visit) {
  visit("training_steps", data.training_steps);
  visit("held_out_steps", data.held_out_steps);
  visit("empty_end_steps", data.empty_end_steps);
  visit("degrees_of_freedom", data.degrees_of_freedom);
  visit("noise_bound", data.noise_bound);
}

template <typename Visitor>
constexpr void visit_fields(const Parameter& parameter, Visitor&& visit) {
  visit("name", parameter.name);
  visit("value", parameter.value);
  visit("learn", parameter.learn);
  visit("lower", parameter.lower);
  visit("upper", parameter.upper);
}

/// The static model: the expert map and constant noise, without networks.
struct FitStaticSummary {
  std::string prior;          ///< the expert map used
  bool prior_chosen = false;  ///< by comparing priors on held-out data
  double held_out = 0;        ///< mean negative log-likelihood of a held-out value
  /// What was learned of the expert map, with the fitted values; entries of a departure are left
  /// out. Rates of the named motion models are per time step.
  std::vector<Parameter> parameters;
  double seconds = 0;
};

template <typename Visitor>
constexpr void visit_fields(const FitStaticSummary& fixed, Visitor&& visit) {
  visit("prior", fixed.prior);
  visit("prior_chosen", fixed.prior_chosen);
  visit("held_out", fixed.held_out);
  visit("parameters", fixed.parameters);
  visit("seconds", fixed.seconds, Figure::Varies);
}

/// The networks. Of several members: the best one's; time, skipped updates and cuts of the rate are
/// those of all.
struct FitNetworksSummary {
  bool kept = false;  ///< they improved on the static model
  StopReason stop_reason = StopReason::Finished;
  double held_out = 0;  ///< loss of the best; the static model's if none was kept
  int updates = 0;
  int best_update = 0;
  int skipped_updates = 0;  ///< whose loss or gradient was not finite
  int rate_cuts = 0;        ///< times the rate was halved after repeated failures
  double seconds = 0;
  double steps_per_second = 0;
  std::vector<FitCheck> checks;
};

template <typename Visitor>
constexpr void visit_fields(const FitNetworksSummary& networks, Visitor&& visit) {
  visit("kept", networks.kept);
  visit("stop_reason", networks.stop_reason);
  visit("held_out", networks.held_out);
  visit("updates", networks.updates);
  visit("best_update", networks.best_update);
  visit("skipped_updates", networks.skipped_updates);
  visit("rate_cuts", networks.rate_cuts);
  visit("seconds", networks.seconds, Figure::Varies);
  visit("steps_per_second", networks.steps_per_second, Figure::Varies);
  visit("checks", networks.checks);
}

/// The networks of a smoother. Of several members: the best one's; the time is that of all.
struct FitSmootherSummary {
  std::string kind;  ///< as ModelOptions::smoother
  /// It is better than the filter, and than linearized smoothing as far as held-out data tell
  /// (risk).
  bool kept = false;
  StopReason stop_reason = StopReason::Finished;
  int updates = 0;
  int best_update = 0;
  /// Mean negative log-likelihood of a held-out value given all others; of a recursive smoother,
  /// while its networks are shown neither this value nor every fourth of the others.
  double held_out = 0;
  /// What its prediction of a held-out value has seen of it (Model::leak). NaN if no smoother was
  /// better than the filter.
  double leak = std::numeric_limits<double>::quiet_NaN();
  /// Estimated without the truth, on held-out data: the mean square error of the smoothed, measured
  /// quantities over the noise's variance; of the trained smoother, and of the linearized one. NaN
  /// where there is no estimate: no smoother was better than the filter, or one breaks down.
  double risk = std::numeric_limits<double>::quiet_NaN();
  double linearized_risk = std::numeric_limits<double>::quiet_NaN();
  double seconds = 0;
};

template <typename Visitor>
constexpr void visit_fields(const FitSmootherSummary& smoother, Visitor&& visit) {
  visit("kind", smoother.kind);
  visit("kept", smoother.kept);
  visit("stop_reason", smoother.stop_reason);
  visit("updates", smoother.updates);
  visit("best_update", smoother.best_update);
  visit("held_out", smoother.held_out);
  visit("leak", smoother.leak);
  visit("risk", smoother.risk);
  visit("linearized_risk", smoother.linearized_risk);
  visit("seconds", smoother.seconds, Figure::Varies);
}

/// The networks from one seed of several.
struct FitMember {
  StopReason stop_reason = StopReason::Finished;
  bool networks = false;  ///< better than the static model
  double held_out = 0;    ///< loss of its best model
  int updates = 0;
  int best_update = 0;
  bool smoother = false;  ///< has a trained smoother that was kept
};

template <typename Visitor>
constexpr void visit_fields(const FitMember& member, Visitor&& visit) {
  visit("stop_reason", member.stop_reason);
  visit("networks", member.networks);
  visit("held_out", member.held_out);
  visit("updates", member.updates);
  visit("best_update", member.best_update);
  visit("smoother", member.smoother);
}

/// Networks from several seeds.
struct FitEnsembleSummary {
  std::vector<FitMember> members;
  bool combined = false;  ///< they are better together than the best alone, and returned together
  /// Loss of their mixture; NaN if fewer than two were better than the static model.
  double held_out = std::numeric_limits<double>::quiet_NaN();
};

template <typename Visitor>
constexpr void visit_fields(const FitEnsembleSummary& ensemble, Visitor&& visit) {
  visit("combined", ensemble.combined);
  visit("held_out", ensemble.held_out);
  visit("members", ensemble.members);
}

/// A factor of reported covariances, found on held-out measurements.
struct FitFactor {
  std::string what;         ///< `filter`, `linearized`, or the trained smoother's method
  double factor = 1;        ///< of the covariance of a state before its own measurement is added
  double log_error = 0;     ///< standard error of the factor's logarithm
  bool determined = false;  ///< false: the data say too little, and 1 is used
};

template <typename Visitor>
constexpr void visit_fields(const FitFactor& factor, Visitor&& visit) {
  visit("what", factor.what);
  visit("factor", factor.factor);
  visit("log_error", factor.log_error);
  visit("determined", factor.determined);
}

/// Why training stopped, what it cost and how it went.
struct FitSummary {
  std::string message;             ///< why training stopped and what was kept, in a sentence
  std::vector<std::string> notes;  ///< what the user should know about the data
  double best_held_out = 0;        ///< loss of the model returned
  FitDataSummary data;
  FitStaticSummary static_model;
  FitNetworksSummary networks;
  std::optional<FitSmootherSummary> smoother;  ///< where one was trained
  std::optional<FitEnsembleSummary> ensemble;  ///< where several members were asked for
  std::vector<FitFactor> calibration;          ///< where it was asked for

  /// Whether a smoother was trained and kept.
  bool has_smoother() const { return smoother && smoother->kept; }

  std::string brief() const;  ///< a few lines
  /// All of it; numbers that are not finite are null, and parts that are not there are left out.
  std::string to_json() const;
};

template <typename Visitor>
constexpr void visit_fields(const FitSummary& summary, Visitor&& visit) {
  visit("message", summary.message);
  visit("notes", summary.notes);
  visit("best_held_out", summary.best_held_out);
  visit("data", summary.data);
  visit("static", summary.static_model);
  visit("networks", summary.networks);
  visit("smoother", summary.smoother);
  visit("ensemble", summary.ensemble);
  visit("calibration", summary.calibration);
}

struct FitResult {
  Model model;
  FitSummary summary;
};

/// Learns a model from `data`; its truth, if it has any, is never read. `progress` is called now
/// and then, from this thread; when it returns false, training stops and the best model so far is
/// returned. Throws ConfigError, DataError, and NumericalError if not even the static model could
/// be computed.
FitResult fit(const Dataset& data, const FitOptions& options = {},
              const DataOptions& data_options = {},
              const std::function<bool(const FitProgress&)>& progress = {});

/// The same with other series, `validation`, to choose the model by: they are what is held out, and
/// all of `data` is trained on (TrainOptions::holdout counts for nothing). Of `validation`, too,
/// the truth is never read. Throws DataError unless both have the same columns, and `validation` at
/// least 20 measured values.
FitResult fit(const Dataset& data, const Dataset& validation, const FitOptions& options = {},
              const DataOptions& data_options = {},
              const std::function<bool(const FitProgress&)>& progress = {});

}  // namespace kalmia
