/// \file
/// Learning a model from noisy measurements alone.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "kalmia/data.hpp"
#include "kalmia/fit_options.hpp"
#include "kalmia/model.hpp"
#include "kalmia/system.hpp"

namespace kalmia {

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
  MapLearned,      ///< the map learned its own departure, which leaves nothing for networks
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

/// What the data say of a learned parameter.
enum class ParameterState {
  Unknown,          ///< not examined: of priors with a name and sums, or the fit was stopped
  Determined,       ///< the data determine it, to its standard error
  NotIdentifiable,  ///< the likelihood hardly depends on it while the others follow
  DidNotMove,       ///< that, or not examined, and it stands where it began
  AtBound,          ///< it sits at a bound, which the data may want it beyond
};

/// A parameter that was learned.
struct LearnedParameter {
  std::string name;
  double value = 0;
  double start = 0;  ///< what was given
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  ParameterState state = ParameterState::Unknown;
  /// From the curvature of the likelihood at its maximum, in the unit of the value; NaN unless it
  /// is determined.
  double standard_error = std::numeric_limits<double>::quiet_NaN();
  /// Where it is not identifiable: other parameters that the data tell only together with it.
  std::vector<std::string> together;
};

template <typename Visitor>
constexpr void visit_fields(const LearnedParameter& parameter, Visitor&& visit) {
  visit("name", parameter.name);
  visit("value", parameter.value);
  visit("start", parameter.start);
  visit("lower", parameter.lower);
  visit("upper", parameter.upper);
  visit("state", parameter.state);
  visit("standard_error", parameter.standard_error);
  visit("together", parameter.together);
}

/// One model that a search tried. Losses are those of what the model is for: a value predicted from
/// all before it, from all others, from all outside a hidden run, and from all before that run;
/// `loss` is their mean. They are logarithms of errors in the data's unit, so that differences
/// count: 0.1 less is an error that is a tenth smaller.
struct FitCandidate {
  std::string what;
  double loss = 0;
  double filter = 0;
  double smooth = 0;
  double gaps = 0;
  double forecast = 0;
  bool kept = false;  ///< it was the best when it was tried
};

template <typename Visitor>
constexpr void visit_fields(const FitCandidate& candidate, Visitor&& visit) {
  visit("what", candidate.what);
  visit("loss", candidate.loss);
  visit("filter", candidate.filter);
  visit("smooth", candidate.smooth);
  visit("gaps", candidate.gaps);
  visit("forecast", candidate.forecast);
  visit("kept", candidate.kept);
}

/// The static model: the expert map and constant noise, without networks.
struct FitStaticSummary {
  std::string prior;          ///< the expert map used
  bool prior_chosen = false;  ///< by comparing priors on held-out data
  double training = 0;        ///< mean negative log-likelihood of a value it was fitted to
  double held_out = 0;        ///< the same of a held-out value
  /// What was learned of the expert map, with the fitted values; entries of a departure are left
  /// out. Rates of the named motion models are per time step.
  std::vector<LearnedParameter> parameters;
  std::vector<FitCandidate> search;  ///< what was tried, where the prior was searched for
  /// Of a sum of parts, what was found of them: "a trend, a daily cycle whose shape changes within
  /// 19 d, and noise of 0.4". Beside equations these come first, by their name. Empty for other
  /// priors.
  std::string found;
  double seconds = 0;
};

template <typename Visitor>
constexpr void visit_fields(const FitStaticSummary& fixed, Visitor&& visit) {
  visit("prior", fixed.prior);
  visit("prior_chosen", fixed.prior_chosen);
  visit("training", fixed.training);
  visit("held_out", fixed.held_out);
  visit("parameters", fixed.parameters);
  visit("search", fixed.search);
  visit("found", fixed.found);
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

/// A factor of reported covariances, found on measurements that were hidden. It depends on how far
/// away the values of its channel are that a state is predicted from; between the distances that
/// are listed, its logarithm is linear in log(1 + steps).
struct FitFactor {
  std::string what;     ///< `filter`, `linearized`, or the trained smoother's method
  std::string channel;  ///< whose states it scales; empty: all alike
  /// Of a filter, the steps since the last value of the channel; of a smoother, 1 / (1 / a + 1 / b)
  /// with a steps since the last one and b to the next one.
  double steps = 0;
  double factor = 1;        ///< of the covariance of a state before its own measurement is added
  double log_error = 0;     ///< standard error of the factor's logarithm
  bool determined = false;  ///< false: the data say too little, and the factor is near its neighbour
};

template <typename Visitor>
constexpr void visit_fields(const FitFactor& factor, Visitor&& visit) {
  visit("what", factor.what);
  visit("channel", factor.channel);
  visit("steps", factor.steps);
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
  std::vector<FitFactor> calibration;          ///< empty: covariances are as computed

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
