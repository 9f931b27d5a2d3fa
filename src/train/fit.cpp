// kalmia::fit: from data to a model, stage by stage.
#include "kalmia/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include "base/threads.hpp"
#include "data/value_checks.hpp"
#include "infer/model_impl.hpp"
#include "kalman/matrix_checks.hpp"
#include "kalmia/text.hpp"
#include "model/even_steps.hpp"
#include "model/outliers.hpp"
#include "model/state_size.hpp"
#include "train/calibration.hpp"
#include "train/gap_trust.hpp"
#include "train/iterated_noise.hpp"
#include "train/members.hpp"
#include "train/noise_columns.hpp"
#include "train/state_climate.hpp"
#include "train/static_stage.hpp"
#include "train/summary.hpp"
#include "train/tails.hpp"

namespace kalmia {
namespace {

using Clock = std::chrono::steady_clock;
using kalman::number_text;

// With fewer measured values there is nothing to hold out: the static model is fitted to all of
// them, priors are compared by Akaike's criterion, and networks are not tried.
constexpr double kFewestValues = 500;
// The same where the held-out part, or what is left for training, has fewer than this.
constexpr double kFewestHeldOut = 20;
// With fewer degrees of freedom left, the size of noise is known to less than a quarter of it.
constexpr double kFewestFree = 8;
// With fewer, static models are tried too that are wary of small process noise: they take any that
// is below these shares of the usual step for suspiciously small.
constexpr double kFewValues = 5000;
constexpr double kWary[] = {1, 10};
// They have to be better on held-out data by this much, for what is most likely is the better
// guess.
constexpr double kClearlyBetter = 0.01;
// Standard deviation of the departure from a rough map, and from none.
constexpr double kUsualDeparture = 0.01;
constexpr double kFreeDeparture = 1;
// The same of the coefficients of a polynomial one, which have no unit.
constexpr double kUsualCoefficient = 1;
// Degrees of freedom to begin with where they are learned.
constexpr double kStartTails = 4;

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + printable(name);
  return text.empty() ? "none" : text;
}

// Under heavy tails scales, starts and limits are those of the measurements without their outliers.
// The statistics of all are computed in any case: they refuse data that cannot be used.
std::vector<model::ChannelStatistics> statistics_of(const Dataset& data,
                                                    const ModelOptions& options) {
  std::vector<model::ChannelStatistics> all = model::channel_statistics(data);
  if (options.tails == "gaussian") return all;
  return model::channel_statistics(model::without_outliers(data));
}

// The steps of a whole fit; each leaves what the next needs. `all` is `data`, or `data` and after
// it the series of a validation set; their long steps have been cut up. `drive` is that of the data
// as they were.
class Fitter {
 public:
  Fitter(const Dataset& data, const Dataset& all, const model::DriveStatistics& drive,
         std::size_t empty_ends, const FitOptions& options, const DataOptions& data_options,
         const std::function<bool(const FitProgress&)>& progress)
      : data_(data),
        all_(all),
        options_(options),
        data_options_(data_options),
        progress_(progress),
        team_(options.train.threads),
        channels_(statistics_of(data, options.model)),
        drive_(drive),
        noise_(train::noise_of(data, options.model)),
        start_(Clock::now()) {
    summary_.empty_end_steps = empty_ends;
  }

  FitResult run() {
    split();
    choose_prior();
    if (stopped_) throw Interrupted("the fit was stopped before its static model was done");
    std::vector<train::Member> members;
    const auto progress = [this](FitProgress& now) { return report(now); };
    if (options_.model.hidden == 0) {
      summary_.stop_reason = StopReason::NoNetworks;
    } else if (little_data_) {
      summary_.stop_reason = StopReason::LittleData;
    } else if (train::predicts_noise(summary_.static_held_out, summary_)) {
      summary_.stop_reason = StopReason::NoisePredicted;
    } else {
      members = train::train_members(*static_, noise_, *scaled_, split_, options_, team_, progress,
                                     summary_);
    }
    if (members.empty()) members.push_back({0, static_->alone<float>(), summary_.best_held_out});
    if (options_.model.smoother != "linearized" && options_.model.hidden > 0 && !little_data_ &&
        !stopped_)
      train::train_smoothers(members, *scaled_, split_, options_, team_, progress, summary_);
    return result(members);
  }

 private:
  FitResult result(std::vector<train::Member>& members) {
    for (train::Member& member : members) {
      if (stopped_) break;
      train::choose_gap_trust(*member.model, *scaled_, split_, team_);
      member.model->set_iterated_noise(
          train::find_iterated_noise(*member.model, *scaled_, split_.training, team_));
    }
    // What is found out about the whole goes into the first member.
    model::LearnedModel<float>& first = *members[0].model;
    auto impl = std::make_shared<Model::Impl>();
    impl->learned = std::move(members[0].model);
    for (std::size_t j = 1; j < members.size(); ++j)
      impl->others.push_back(std::move(members[j].model));
    note_unused();
    const Model whole(impl);
    if (options_.model.calibrate) calibrate(whole, first);
    train::describe(options_, summary_);
    first.set_summary(train::stored_summary_json(options_, summary_));
    return {whole, summary_};
  }

  void calibrate(const Model& whole, model::LearnedModel<float>& first) {
    if (little_data_) {
      summary_.notes.push_back(
          "too little data to hold out any: covariances are not calibrated, but as computed");
      return;
    }
    try {
      summary_.calibration =
          train::find_factors(whole, all_, split_.held_out, options_.train.threads);
    } catch (const NumericalError& error) {
      summary_.notes.push_back(std::string("covariances are not calibrated, but as computed: ") +
                               error.what());
      return;
    }
    model::Calibration found;
    for (const FitFactor& each : summary_.calibration) {
      (each.what == "filter"       ? found.filter
       : each.what == "linearized" ? found.linearized
                                   : found.trained) = each.factor;
      if (!each.determined)
        summary_.notes.push_back(
            "the held-out measurements say too little about the covariances (" + each.what +
            "): they are not calibrated, but as computed");
    }
    first.set_calibration(found);
  }

  void split() {
    std::vector<int> lengths;
    for (const Series& series : all_.series) lengths.push_back(measured_length(series));
    for (const auto& channel : channels_) values_ += static_cast<double>(channel.measured);
    if (&all_ != &data_) {
      split_ = train::split_series(lengths, static_cast<int>(data_.series.size()));
      little_data_ = values_ < kFewestHeldOut;
    } else {
      split_by_share(lengths);
    }
    for (const train::Stretch& each : split_.training)
      summary_.training_steps += static_cast<std::size_t>(each.steps());
    for (const train::HeldOut& each : split_.held_out)
      summary_.held_out_steps += static_cast<std::size_t>(each.stretch.end - each.score_from);
    note_empty_ends();
    note_time();
  }

  void note_empty_ends() {
    const std::size_t rows = summary_.empty_end_steps;
    if (rows > 0)
      summary_.notes.push_back(
          rows == 1
              ? std::string("1 row without measurements at the end of a series was not used")
              : fmt::format("{} rows without measurements at the ends of series were not used",
                            rows));
  }

  void split_by_share(const std::vector<int>& lengths) {
    little_data_ = values_ < kFewestValues;
    if (!little_data_) {
      split_ = train::split_data(lengths, options_.train.holdout, options_.train.seed);
      double held_out = 0;
      for (const train::HeldOut& each : split_.held_out)
        held_out += measured_values({each.stretch.series, each.score_from, each.stretch.end});
      little_data_ = held_out < kFewestHeldOut || values_ - held_out < kFewestHeldOut;
    }
    if (little_data_) split_ = train::split_data(lengths, 0, options_.train.seed);
  }

  // Steps up to the last that has a value: arrays of series are often padded.
  int measured_length(const Series& series) const {
    const auto M = static_cast<std::size_t>(data_.meas_dim());
    std::size_t size = series.y.size();
    while (size > 0 && std::isnan(series.y[size - 1])) --size;
    return static_cast<int>((size + M - 1) / M);
  }

  double measured_values(const train::Stretch& stretch) const {
    const auto M = static_cast<std::ptrdiff_t>(data_.meas_dim());
    const auto y = all_.series[static_cast<std::size_t>(stretch.series)].y.begin();
    return static_cast<double>(std::count_if(y + stretch.begin * M, y + stretch.end * M,
                                             [](double value) { return !std::isnan(value); }));
  }

  void note_time() {
    if (drive_.irregular)
      summary_.notes.push_back(fmt::format(
          "time steps differ (median {:.4g}, one differs by {:.4g})", drive_.dt, drive_.furthest));
  }

  // Of a recurrent model the likelihood sees what is measured, and nothing else ties states down.
  void note_unmeasured() {
    const bool filter = options_.model.filter == "recurrent";
    if ((!filter && options_.model.smoother != "recurrent") || options_.model.hidden == 0) return;
    const prior::Expert expert = model::expert_of(static_->description);
    if (expert.emission != nullptr) return;
    const auto N = static_cast<std::size_t>(expert.state_dim());
    std::string unseen;
    for (std::size_t n = 0; n < N; ++n) {
      bool seen = false;
      for (std::size_t i = n; i < expert.H.size(); i += N) seen = seen || expert.H[i] != 0;
      if (!seen) unseen += (unseen.empty() ? "" : ", ") + printable(expert.state_names[n]);
    }
    if (!unseen.empty())
      summary_.notes.push_back(std::string("a recurrent ") + (filter ? "filter" : "smoother") +
                               " estimates what is measured alone, not " + unseen);
  }

  // The first values of a series go into where its states begin.
  void count_freedom() {
    const auto N = static_cast<double>(model::expert_of(static_->description).state_dim());
    double beyond = 0;
    for (const Series& series : data_.series)
      beyond += std::max(0.0, static_cast<double>(std::ranges::count_if(
                                  series.y, [](double y) { return !std::isnan(y); })) -
                                  N);
    const int learned = static_->free_parameters;
    summary_.degrees_of_freedom = beyond - learned;
    if (summary_.degrees_of_freedom >= kFewestFree) return;
    const std::string how_many = fmt::format(
        "too few data: {} measured values, less {} for the states that series begin with, less {} "
        "for what is learned",
        values_, values_ - beyond, learned);
    summary_.notes.push_back(
        summary_.degrees_of_freedom < 1
            ? how_many + "; nothing is left to tell how wrong it is, and error bars mean nothing"
            : how_many +
                  fmt::format("; the {} that are left tell the size of error bars to {:.0f} % only",
                              summary_.degrees_of_freedom,
                              100 / std::sqrt(2 * summary_.degrees_of_freedom)));
  }

  // What the user gave and the model does not use.
  void note_unused() {
    const prior::Expert expert = model::expert_of(static_->description);
    const double departure = options_.model.departure;
    if (departure > 0 && std::ranges::none_of(expert.parameters, [](const auto& each) {
          return std::isfinite(each.prior_std);
        }))
      summary_.notes.push_back("departure = " + number_text(departure) +
                               " has no effect: the map of " + summary_.prior +
                               " has no entry to depart from");
    if (!expert.unused.empty())
      summary_.notes.push_back(joined(expert.unused) + ": no equation uses what has this name");
    if (summary_.networks || summary_.smoother) return;
    std::vector<std::string> unread;
    for (std::size_t i = 0; i < data_.u_names.size(); ++i)
      if (std::ranges::find(expert.inputs_read, static_cast<int>(i)) == expert.inputs_read.end())
        unread.push_back(data_.u_names[i]);
    if (!unread.empty())
      summary_.notes.push_back("inputs " + joined(unread) + " have no effect: the map of " +
                               summary_.prior + " does not read them, and there are no networks");
  }

  train::StaticResult fit_static(model::ModelDescription description,
                                 const train::ScaledData& scaled, train::StaticOptions options) {
    const auto fitted = [&] {
      return train::fit_static(description, channels_, noise_, scaled, split_.training, team_,
                               options);
    };
    kept_.clear();
    train::StaticResult result = fitted();
    if (options_.model.tails == "learn" && !stopped_) {
      description.tails = train::fit_tails(*result.alone<float>(), scaled, split_.training, team_);
      result = fitted();
    }
    if (little_data_ || stopped_) return result;
    double best = score_of(result, scaled);
    // The noise of few data may be larger than what makes them most likely.
    for (const double share : kWary) {
      if (stopped_ || values_ > kFewValues) break;
      options.small_noise = share;
      try {
        train::StaticResult wary = fitted();
        const double score = score_of(wary, scaled);
        if (!(score < best - kClearlyBetter)) continue;
        best = score;
        result = std::move(wary);
      } catch (const NumericalError&) {
        continue;  // there is a good one
      }
    }
    options.small_noise = train::StaticOptions().small_noise;
    if (!stopped_ && description.prior.name == "system")
      keep_better_start(description, scaled, options, best, result);
    return result;
  }

  // What makes the training data most likely may predict worse than what the search began with: a
  // search can be lost among constants of equations that make a filter lose its way. (With a named
  // prior it means that the held-out part is unlike the rest.) `score`: of the result. The best of
  // three stays: the result; noise that is fitted with the constants as they began; all as it
  // began.
  void keep_better_start(const model::ModelDescription& description,
                         const train::ScaledData& scaled, train::StaticOptions options,
                         double score, train::StaticResult& result) {
    train::StaticResult start =
        train::begin_static(description, channels_, noise_, scaled, split_.training);
    const double began = score_of(start, scaled);
    if (!(began < score)) return;
    double best = score;
    const auto offer = [&](train::StaticResult& other, double loss, const char* what) {
      if (!(loss < best)) return;
      best = loss;
      kept_ = std::string(what) + ": held-out loss " + rounded(loss) + ", with what was learned " +
              rounded(score);
      result = std::move(other);
    };
    offer(start, began, "the static model stays as it began");
    if (learned_parameters(description).empty() || stopped_) return;
    options.constants = train::Constants::Held;
    try {
      train::StaticResult held = train::fit_static(description, channels_, noise_, scaled,
                                                   split_.training, team_, options);
      offer(held, score_of(held, scaled), "the constants stay where they began");
    } catch (const NumericalError&) {
      return;
    }
  }

  // What the user should know of learned constants of equations.
  void note_constants(const std::string& kept) {
    if (!kept.empty()) {
      summary_.notes.push_back(kept);
      return;
    }
    if (summary_.prior != "system") return;
    model::ModelDescription began = static_->description;
    began.theta.clear();
    for (std::string& note : train::constant_notes(learned_parameters(began), summary_.parameters))
      summary_.notes.push_back(std::move(note));
  }

  // Fits the static model of every candidate and keeps the best.
  void choose_prior() {
    const bool any = options_.model.prior == "auto";
    const bool automatic = any && options_.model.system.empty();
    const std::vector<std::string> candidates =
        automatic ? prior::automatic_experts(data_.y_names.size())
                  : std::vector<std::string>{any ? "system" : options_.model.prior};
    double best = std::numeric_limits<double>::infinity();
    std::string comparison, kept;
    for (const std::string& name : candidates) {
      if (stopped_) break;
      model::ModelDescription description = describe(name);
      auto scaled = std::make_unique<train::ScaledData>(all_, description.units, description.dt);
      scaled->set_weights(all_, description.noise_std);
      train::StaticOptions options;
      options.go_on = [&](int iteration, int most, double loss) {
        FitProgress now;
        now.stage = "static " + name;
        now.update = iteration;
        now.updates = most;
        now.loss = loss;
        now.held_out = now.best_held_out = std::numeric_limits<double>::quiet_NaN();
        now.seconds_left = std::numeric_limits<double>::quiet_NaN();
        return report(now);
      };
      if (!comparison.empty()) comparison += ", ";
      train::StaticResult fitted;
      try {
        fitted = fit_static(description, *scaled, options);
      } catch (const NumericalError&) {
        if (!static_ && (stopped_ || name == candidates.back())) throw;
        comparison += name + " broke down";
        continue;
      }
      const double score = score_of(fitted, *scaled);
      comparison += name + " " + rounded(score);
      if (!(score < best) && static_) continue;
      best = score;
      static_ = std::move(fitted);
      scaled_ = std::move(scaled);
      kept = kept_;
    }
    static_->description.climate =
        train::find_climate(*static_->alone<float>(), *scaled_, split_.training, team_);
    summary_.prior = static_->description.prior.name;
    summary_.prior_chosen = automatic;
    note_unmeasured();
    count_freedom();
    summary_.parameters = learned_parameters(static_->description);
    note_constants(kept);
    summary_.static_held_out = summary_.best_held_out = best;
    summary_.noise_bound =
        train::noise_bound(noise_, static_->description.tails, all_, split_.held_out);
    summary_.static_seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    if (automatic)
      summary_.notes.push_back("prior " + summary_.prior + " chosen by the " +
                               (little_data_ ? "penalised" : "held-out") + " loss (" + comparison +
                               ")");
  }

  // Those with a meaning of their own; a departure's entries have none.
  static std::vector<Parameter> learned_parameters(const model::ModelDescription& description) {
    std::vector<Parameter> learned;
    const prior::Expert expert = model::expert_of(description);
    for (std::size_t i = 0; i < expert.parameters.size(); ++i) {
      if (!expert.parameters[i].learn || std::isfinite(expert.parameters[i].prior_std)) continue;
      learned.push_back(expert.parameters[i]);
      if (!description.theta.empty()) learned.back().value = description.theta[i];
    }
    return learned;
  }

  static std::string rounded(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4f", value);
    return text;
  }

  // Held-out loss; with little data, Akaike's criterion per value.
  double score_of(const train::StaticResult& fitted, const train::ScaledData& scaled) {
    if (!little_data_)
      return train::held_out_loss(*fitted.alone<float>(), scaled, split_.held_out, team_);
    return fitted.training_loss + fitted.free_parameters / values_;
  }

  model::ModelDescription describe(const std::string& prior) const {
    model::ModelDescription d;
    d.measured_names = data_.y_names;
    d.input_names = data_.u_names;
    d.prior = expert_spec(prior);
    d.time = data_.time_kind;
    d.dt = drive_.dt;
    d.noise = options_.model.noise;
    d.noise_std = train::typical_stds(data_);
    d.tails = options_.model.tails == "gaussian" ? 0
              : options_.model.tails == "learn"  ? kStartTails
                                                 : train::parse_tails(options_.model.tails);
    d.encoder = nn::encoder_of_name(options_.model.encoder);
    d.taps = options_.model.taps;
    d.data = data_options_;
    d.data.measure = data_.y_names;
    if (d.prior.degree > 1) {
      model::ModelDescription plain = d;
      plain.prior.departure = 0;
      const prior::Expert expert = model::expert_of(plain);
      plain.units = model::make_units(expert, channels_, d.dt);
      d.prior.frame = model::state_frame(expert, plain, channels_,
                                         model::channel_correlation(data_, channels_));
    }
    d.data.noise_columns = data_.std_names;
    // One column may hold the deviations of all.
    if (d.data.noise_columns.size() > 1 && d.data.noise_columns[0] == d.data.noise_columns[1])
      d.data.noise_columns.resize(1);
    const prior::Expert expert = model::expert_of(d);
    if (options_.model.smoother == "recursive-alternative" && expert.emission != nullptr)
      throw ConfigError(
          "model.smoother = recursive-alternative, but the measurements are no linear functions of "
          "the states; use recursive");
    d.units = model::make_units(expert, channels_, d.dt);
    d.features = model::make_features(expert, channels_, drive_, d.units);
    return d;
  }

  prior::ExpertSpec expert_spec(const std::string& name) const {
    const ModelOptions& model = options_.model;
    prior::ExpertSpec spec;
    spec.name = name;
    const bool lagged = name == "ar";
    spec.integration = {model.flow, lagged ? 0 : model.order, model.substeps};
    spec.lags = lagged ? model.order : 0;
    spec.latent = model.latent;
    if (name == "system") spec.system = model.system;
    spec.degree = model.departure_degree;
    spec.departure = model.departure >= 0      ? model.departure
                     : spec.degree > 1         ? kUsualCoefficient
                     : name == "linear-motion" ? kUsualDeparture
                     : name == "none"          ? kFreeDeparture
                                               : 0;
    return spec;
  }

  bool report(FitProgress& now) {
    now.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    if (progress_ && !progress_(now)) stopped_ = true;
    return !stopped_;
  }

  const Dataset& data_;  // trained on, except for what is held out of it
  const Dataset& all_;
  const FitOptions& options_;
  const DataOptions& data_options_;
  const std::function<bool(const FitProgress&)>& progress_;
  ThreadTeam team_;
  std::vector<model::ChannelStatistics> channels_;
  model::DriveStatistics drive_;
  model::NoiseSpec noise_;
  Clock::time_point start_;
  FitSummary summary_;
  train::Split split_;
  double values_ = 0;  // measured
  bool little_data_ = false;
  bool stopped_ = false;
  std::string kept_;  // what is kept of where the last static model began, and why; empty: nothing
  std::optional<train::StaticResult> static_;
  std::unique_ptr<train::ScaledData> scaled_;
};

void check_data(const Dataset& data) {
  if (data.y_names.empty()) throw DataError("fit: the data have no measured columns");
  if (data.y_names.size() > prior::kMostStates)
    throw ConfigError((data.source.empty() ? std::string("the data") : data.source) + ": " +
                      std::to_string(data.y_names.size()) +
                      " measured columns, but a model has at most " +
                      std::to_string(prior::kMostStates) + "; name fewer of them with --measure");
  for (const Series& series : data.series)
    if (series.y.size() != static_cast<std::size_t>(series.steps) * data.y_names.size())
      throw DataError("fit: series \"" + printable(series.key) + "\" has " +
                      std::to_string(series.y.size()) + " values, but " +
                      std::to_string(series.steps) + " steps of " +
                      std::to_string(data.y_names.size()) + " channels");
  data::check_stds(data);
}

void check_validation(const Dataset& data, const Dataset& validation) {
  const std::string place =
      "validation data" + (validation.source.empty() ? "" : " " + validation.source);
  const auto same = [&](const char* what, const std::vector<std::string>& found,
                        const std::vector<std::string>& rule) {
    if (found != rule)
      throw DataError(place + ": " + what + " are " + joined(found) +
                      ", but they must be those of the data, " + joined(rule));
  };
  same("measured columns", validation.y_names, data.y_names);
  same("inputs", validation.u_names, data.u_names);
  same("noise columns", validation.std_names, data.std_names);
  const auto time_axis = [](const Dataset& of) {
    return of.time_kind == TimeKind::None     ? "no time axis"
           : of.time_kind == TimeKind::Number ? "times that are numbers"
                                              : "times that are dates";
  };
  if (validation.time_kind != data.time_kind)
    throw DataError(place + ": has " + time_axis(validation) + ", but it must have, as the data, " +
                    time_axis(data));
  model::check_time(validation, data.time_kind, data.step_size(), place);
  check_data(validation);
  std::ptrdiff_t values = 0;
  for (const Series& series : validation.series)
    values += std::count_if(series.y.begin(), series.y.end(), [](double y) { return y == y; });
  if (static_cast<double>(values) < kFewestHeldOut)
    throw DataError(place + ": " + std::to_string(values) + " measured values, but at least " +
                    number_text(kFewestHeldOut) + " are needed to choose a model by");
}

// Steps after the last that has a value.
std::size_t empty_end_steps(const Dataset& data) {
  const std::size_t M = data.y_names.size();
  std::size_t steps = 0;
  for (const Series& series : data.series) {
    const auto last = std::find_if(series.y.rbegin(), series.y.rend(),
                                   [](double value) { return !std::isnan(value); });
    steps += static_cast<std::size_t>(last - series.y.rbegin()) / M;
  }
  return steps;
}

// How many empty steps a long one becomes.
int most_empty_steps(const ModelOptions& options) {
  const bool named =
      options.prior == "auto" ? options.system.empty() : prior::is_linear_flow(options.prior);
  const bool exact = !(options.departure > 0) && options.departure_degree <= 1;
  return model::most_empty_steps(named && exact && options.filter != "recurrent",
                                 options.hidden > 0);
}

}  // namespace

FitResult fit(const Dataset& data, const FitOptions& options, const DataOptions& data_options,
              const std::function<bool(const FitProgress&)>& progress) {
  options.validate();
  check_data(data);
  const model::DriveStatistics drive = model::drive_statistics(data);
  const model::EvenSteps even(data, drive.dt, most_empty_steps(options.model));
  return Fitter(even.data(), even.data(), drive, empty_end_steps(data), options, data_options,
                progress)
      .run();
}

FitResult fit(const Dataset& data, const Dataset& validation, const FitOptions& options,
              const DataOptions& data_options,
              const std::function<bool(const FitProgress&)>& progress) {
  options.validate();
  check_data(data);
  check_validation(data, validation);
  const model::DriveStatistics drive = model::drive_statistics(data);
  const model::EvenSteps even(data, drive.dt, most_empty_steps(options.model));
  const model::EvenSteps even_validation(validation, drive.dt, most_empty_steps(options.model));
  Dataset all = even.data();
  all.series.insert(all.series.end(), even_validation.data().series.begin(),
                    even_validation.data().series.end());
  return Fitter(even.data(), all, drive, empty_end_steps(data) + empty_end_steps(validation),
                options, data_options, progress)
      .run();
}

}  // namespace kalmia
