#include "train/part_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>

#include "kalmia/error.hpp"
#include "lanes/panel.hpp"
#include "prior/parts_text.hpp"
#include "train/first_description.hpp"
#include "train/period_finder.hpp"
#include "train/use_tuning.hpp"

namespace kalmia::train {
namespace {

using prior::Part;
using prior::PartKind;

constexpr std::size_t kMostPeriods = 3;
constexpr int kMostAdded = 3;
// So many sums are tuned, if their loss is no larger than the best one's by more than this, and if
// they have no more states: a score of many takes long, and there is much to tune.
constexpr std::size_t kMostTuned = 6;
constexpr std::size_t kMostTunedStates = 8;
constexpr double kNearlyAsGood = 0.15;
// Networks are trained on top of a later single part if it predicts better by this.
constexpr double kPredictsBetter = 5e-3;
// What returns to its mean within more than this share of the data, but not with hardly any part of
// its way there, is a trend that ends with them: it is left to levels and trends.
constexpr double kLongestMemory = 0.25, kHardlyReturns = 20;
constexpr int kHarmonics = 3;
constexpr int kManyHarmonics = 8;
// Searches among many sums need not end at the last digit.
constexpr double kTolerance = 1e-5;
constexpr int kIterations = 60;
// A sum is fitted more than once, the second time from where derivatives hardly change: likelihoods
// of trends have two maxima, one that follows every bend and one that sees the whole. The third
// time a trend begins as the level of a sum that is alike but for it, with a slope that hardly
// changes, so that it does not end where it is worse than that.
constexpr double kSlow = 0.02, kSteady = 1e-3;
enum class SumStart { AsKnown, Slow, FromLevel };
// Sums of more states than this are fitted to fewer steps, but not to fewer than that.
constexpr double kManyStates = 6;
constexpr int kFewestSteps = 1 << 11;

// Where a part's states and learned rates are in a sum.
struct PartPlace {
  int state = 0;
  std::size_t rate = 0;

  static std::size_t rates_of(PartKind kind) {
    switch (kind) {
      case PartKind::Memory:
      case PartKind::DampedTrend:
        return 1;
      case PartKind::DampedVelocity:
      case PartKind::DampedAcceleration:
      case PartKind::Oscillator:
        return 2;
      default:
        return 0;
    }
  }
  PartPlace after(const Part& part) const {
    const std::size_t lags = part.kind == PartKind::Ar ? static_cast<std::size_t>(part.count) : 0;
    return {state + prior::part_states(part), rate + rates_of(part.kind) + lags};
  }
};

// Takes over what was learned of a part: of a season, of so many harmonics.
void copy_part(const StaticResult& from, const PartPlace& at, StaticResult& to,
               const PartPlace& place, int harmonics, PartKind kind) {
  const int states = prior::part_states({kind, 0, harmonics});
  const auto index = [](const PartPlace& of, int i, int j) {
    return static_cast<std::size_t>(lanes::triangle_index(of.state + i, of.state + j));
  };
  const std::size_t L_from = from.output.size() - from.initial_L.size();
  const std::size_t L_to = to.output.size() - to.initial_L.size();
  for (int i = 0; i < states; ++i) {
    to.initial_e[static_cast<std::size_t>(place.state + i)] =
        from.initial_e[static_cast<std::size_t>(at.state + i)];
    for (int j = 0; j <= i; ++j) {
      to.initial_L[index(place, i, j)] = from.initial_L[index(at, i, j)];
      to.output[L_to + index(place, i, j)] = from.output[L_from + index(at, i, j)];
    }
  }
  for (std::size_t r = 0; r < PartPlace::rates_of(kind); ++r)
    to.description.theta[place.rate + r] = from.description.theta[at.rate + r];
}

class Search {
 public:
  Search(const FitContext& fit, int most_steps, const std::vector<int>& runs)
      : fit_(fit),
        most_steps_(most_steps),
        periods_(find_periods(fit.data.training(), 0, fit.data.drive().dt, kMostPeriods)),
        data_(scaled()),
        scored_(data_, all_steps(), longest_period(), runs),
        longest_(std::ranges::max(all_steps(), {}, &StepRange::steps).steps()) {}

  FoundSum run() {
    try_singles();
    if (!best_) throw NumericalError("no sum of parts has a likelihood on these data");
    for (int added = 0; added < kMostAdded; ++added) {
      if (!try_all(additions())) break;
      // What was the best part alone may not be the best in the sum.
      try_all(replacements(), true);
    }
    if (fitted_[*best_].parts.size() > 1) {
      try_all(removals(), true);
      prefer_simple();
    }
    try_all(finer_seasons());
    try_tuned();
    const std::size_t predictor = best_predictor();
    FoundSum found;
    found.parts = fitted_[*best_].parts;
    found.fitted = fitted_[*best_].result;
    found.predictor = fitted_[predictor].parts;
    found.predictor_fitted = fitted_[predictor].result;
    found.tried = std::move(tried_);
    return found;
  }

 private:
  struct Fitted {
    std::vector<Part> parts;
    StaticResult result;
  };

  ScaledData scaled() const {
    const model::ModelDescription any =
        first_description(fit_, fit_.spec.model.expert(std::vector<Part>{{PartKind::Level}}));
    ScaledData data(fit_.data.all(), any.units, any.dt);
    data.set_weights(fit_.data.all(), any.noise_std);
    return data;
  }
  // A step of N states costs about N^3: sums of many are fitted to fewer.
  int steps_for(const std::vector<Part>& parts) const {
    int states = 0;
    for (const Part& part : parts) states += prior::part_states(part);
    const double share = std::min(1.0, std::pow(kManyStates / states, 2));
    return std::max(std::min(most_steps_, kFewestSteps), static_cast<int>(share * most_steps_));
  }
  std::vector<StepRange> all_steps() const {
    std::vector<StepRange> all;
    for (int s = 0; s < data_.series_count(); ++s) all.push_back(data_.series(s));
    return all;
  }
  double longest_period() const {
    return periods_.empty() ? 0 : *std::ranges::max_element(periods_);
  }

  // Where a sum begins: parts that another one has begin as they are there, a trend as its level,
  // if `levels`; the others as they usually do.
  StaticResult beginning(const model::ModelDescription& description,
                         const std::vector<Part>& wanted, const Fitted* known_sum,
                         bool levels = false) const {
    StaticResult start =
        begin_static(description, fit_.channels, fit_.noise, data_, fit_.split().training);
    if (known_sum == nullptr) return start;
    start.R = known_sum->result.R;
    start.description.theta = model::expert_of(description).theta();
    PartPlace to;
    for (const Part& part : wanted) {
      PartPlace from;
      for (const Part& known : known_sum->parts) {
        const bool level = levels && is_trend(part.kind) && known.kind == PartKind::Level;
        if (level || (known.kind == part.kind && known.scale == part.scale)) {
          copy_part(known_sum->result, from, start, to, std::min(known.count, part.count),
                    known.kind);
          if (level) scale_process_noise(to.state + 1, kSteady, start);
          break;
        }
        from = from.after(known);
      }
      to = to.after(part);
    }
    return start;
  }

  static bool is_trend(PartKind kind) {
    return kind == PartKind::Trend || kind == PartKind::DampedTrend;
  }

  // The last sum that has a level in place of the trend that this one begins with; null: none.
  const Fitted* with_level(std::vector<Part> parts) const {
    if (!is_trend(parts[0].kind)) return nullptr;
    parts[0] = {PartKind::Level};
    const auto found = std::find_if(fitted_.rbegin(), fitted_.rend(),
                                    [&](const Fitted& each) { return each.parts == parts; });
    return found == fitted_.rend() ? nullptr : &*found;
  }

  // Where a sum begins; nothing if that is no start of its own.
  std::optional<StaticResult> start_of(SumStart how, const model::ModelDescription& description,
                                       const std::vector<Part>& parts) const {
    const Fitted* best = best_ ? &fitted_[*best_] : nullptr;
    if (how == SumStart::FromLevel) {
      const Fitted* level = with_level(parts);
      if (level == nullptr) return {};
      return beginning(description, parts, level, true);
    }
    StaticResult start = beginning(description, parts, best);
    if (how == SumStart::Slow && !slow_down(kSlow, start)) return {};
    return start;
  }

  static FitProgress progress_of(const std::string& text) {
    FitProgress now;
    now.stage = "search " + text;
    now.held_out = now.best_held_out = std::numeric_limits<double>::quiet_NaN();
    now.seconds_left = std::numeric_limits<double>::quiet_NaN();
    return now;
  }

  // Fits a sum and scores it; false if it has no likelihood.
  bool try_sum(const std::vector<Part>& parts) {
    const prior::ExpertSpec spec = fit_.spec.model.expert(parts);
    const std::string text = prior::parts_text(parts, step_length(fit_));
    if (fit_.report.stopped() && best_) return false;
    if (std::ranges::find(tried_, text, &TriedModel::what) != tried_.end()) return false;
    StaticOptions options;
    options.most_steps = steps_for(parts);
    options.value_tolerance = kTolerance;
    options.max_iterations = kIterations;
    options.go_on = [&](int iteration, int most, double loss) {
      FitProgress now = progress_of(text);
      now.update = iteration;
      now.updates = most;
      now.loss = loss;
      return fit_.report(now);
    };
    std::optional<TriedModel> tried;
    Fitted best{parts, {}};
    const model::ModelDescription description = first_description(fit_, spec);
    for (const SumStart how : {SumStart::AsKnown, SumStart::Slow, SumStart::FromLevel}) {
      try {
        const std::optional<StaticResult> start = start_of(how, description, parts);
        if (!start) continue;
        options.from = &*start;
        StaticResult fitted = fit_static(description, fit_.channels, fit_.noise, data_,
                                         fit_.split().training, fit_.team, options);
        TriedModel now{text, scored_.score(*fitted.alone<float>(), LeftOut::Exactly, fit_.team),
                       fitted.free_parameters / fit_.holdout.values, false};
        if (!std::isfinite(now.loss()) ||
            ends_with_the_data(parts, fitted.description.theta, longest_) ||
            (tried && !(now.loss(weights_) < tried->loss(weights_))))
          continue;
        tried = std::move(now);
        best.result = std::move(fitted);
      } catch (const NumericalError&) {
        continue;
      }
    }
    if (!tried) return false;
    tried_.push_back(std::move(*tried));
    fitted_.push_back(std::move(best));
    return true;
  }

  // The highest derivative of each part hardly changes; false if there is none.
  static bool slow_down(double factor, StaticResult& start) {
    const prior::Expert expert = model::expert_of(start.description);
    bool any = false;
    for (std::size_t n = 0; n < expert.states.size(); ++n) {
      const int derivative = expert.states[n].derivative;
      const bool highest =
          n + 1 == expert.states.size() || expert.states[n + 1].derivative <= derivative;
      if (derivative < 1 || !highest) continue;
      scale_process_noise(static_cast<int>(n), factor, start);
      any = true;
    }
    return any;
  }

  void keep(std::size_t index) {
    best_ = index;
    tried_[index].kept = true;
  }

  // Tries sums, and keeps the best of those that are better than what there is; `as_simple`: which
  // is no simpler. Returns whether one was.
  bool try_all(const std::vector<std::vector<Part>>& sums, bool as_simple = false) {
    const auto is_better_one = [&](const TriedModel& model, const TriedModel& than) {
      return as_simple ? is_better_over_all(model, than, weights_)
                       : is_better(model, than, weights_);
    };
    std::optional<std::size_t> better;
    for (const std::vector<Part>& parts : sums) {
      if (!try_sum(parts)) continue;
      const std::size_t now = tried_.size() - 1;
      if (is_better_one(tried_[now], tried_[*best_]) &&
          (!better || tried_[now].loss(weights_) < tried_[*better].loss(weights_)))
        better = now;
    }
    if (better) keep(*better);
    return better.has_value();
  }

  // The best sums with their noise tuned: one that predicts well may only lack the right noise.
  void try_tuned() {
    std::vector<std::size_t> order(tried_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) {
      return i == *best_ ? -std::numeric_limits<double>::infinity() : tried_[i].loss(weights_);
    });
    keep_first_of_each_motion(order);
    order.resize(std::min(order.size(), kMostTuned));
    // A trend is also tuned from where the level ended that it may be in place of.
    std::ranges::stable_partition(
        order, [&](std::size_t i) { return !is_trend(fitted_[i].parts[0].kind); });
    const TriedModel before = tried_[*best_];
    const double allowed = before.loss(weights_) + kNearlyAsGood;
    std::optional<std::size_t> better;
    for (const std::size_t i : order) {
      if (fit_.report.stopped()) break;
      if (tried_[i].loss(weights_) > allowed) continue;
      if (fitted_[i].result.initial_e.size() > kMostTunedStates) continue;
      add_tuned(i, before);
      const std::size_t now = tried_.size() - 1;
      if (is_better(tried_[now], before, weights_) &&
          (!better || tried_[now].loss(weights_) < tried_[*better].loss(weights_)))
        better = now;
    }
    if (better) keep(*better);
  }

  // Of sums that begin with the same part the first: others differ from it by little.
  void keep_first_of_each_motion(std::vector<std::size_t>& order) const {
    std::vector<PartKind> seen;
    std::erase_if(order, [&](std::size_t i) {
      const PartKind kind = fitted_[i].parts[0].kind;
      if (std::ranges::find(seen, kind) != seen.end()) return true;
      seen.push_back(kind);
      return false;
    });
  }

  // `before`: the best so far, which no use may become worse than.
  void add_tuned(std::size_t which, const TriedModel& before) {
    const std::string text = tried_[which].what + ", tuned";
    int scores = 0;
    const auto go_on = [&] {
      FitProgress now = progress_of(text);
      now.update = ++scores;
      return fit_.report(now);
    };
    const auto tuned_from = [&](const StaticResult& start) {
      return tuned_for_use(start, scored_, weights_, fit_.team, go_on, &before);
    };
    const auto tried = [&](const StaticResult& model) {
      return TriedModel{text, scored_.score(*model.alone<float>(), LeftOut::Exactly, fit_.team),
                        tried_[which].penalty, false};
    };
    const auto harms = [&](const TriedModel& model) {
      return worse_use(model, before, weights_).has_value();
    };
    Fitted tuned = fitted_[which];
    tuned.result = tuned_from(tuned.result);
    TriedModel now = tried(tuned.result);
    if (const Fitted* level = with_level(tuned.parts)) {
      StaticResult start = beginning(tuned.result.description, tuned.parts, level, true);
      start.training_loss = tuned.result.training_loss;
      start.free_parameters = tuned.result.free_parameters;
      start.noise_floor = tuned.result.noise_floor;
      StaticResult other = tuned_from(start);
      TriedModel of_other = tried(other);
      if (harms(of_other) == harms(now) ? of_other.loss(weights_) < now.loss(weights_)
                                        : harms(now)) {
        tuned.result = std::move(other);
        now = std::move(of_other);
      }
    }
    tried_.push_back(std::move(now));
    fitted_.push_back(std::move(tuned));
  }

  // The best single part; of those that are as good as far as the data tell, the simplest.
  void try_singles() {
    std::vector<Part> singles{{PartKind::Level},
                              {PartKind::Memory},
                              {PartKind::Trend},
                              {PartKind::DampedTrend},
                              {PartKind::DampedVelocity},
                              {PartKind::Acceleration},
                              {PartKind::DampedAcceleration}};
    if (!periods_.empty()) singles.push_back({PartKind::Oscillator, periods_[0], 0});
    for (const Part& part : singles) try_sum({part});
    if (tried_.empty()) return;
    const auto least = [&] {
      std::size_t best = 0;
      for (std::size_t i = 1; i < tried_.size(); ++i)
        if (tried_[i].loss(weights_) < tried_[best].loss(weights_)) best = i;
      return best;
    };
    weights_ = weights_of(tried_[least()].scores, fit_.spec.model.purpose);
    std::size_t best = least();
    for (std::size_t i = 0; i < best; ++i)  // simpler ones come first
      if (!is_better_over_all(tried_[best], tried_[i], weights_)) {
        best = i;
        break;
      }
    keep(best);
  }

  // Of sums that are as good as the best as far as the data tell, that with the fewest learned
  // numbers.
  void prefer_simple() {
    std::size_t simplest = *best_;
    for (std::size_t i = 0; i < tried_.size(); ++i)
      if (tried_[i].penalty < tried_[simplest].penalty &&
          !is_better_over_all(tried_[*best_], tried_[i], weights_))
        simplest = i;
    if (simplest != *best_) keep(simplest);
  }

  // Simpler parts come first.
  std::size_t best_predictor() const {
    std::size_t best = *best_;
    for (std::size_t i = 0; i < tried_.size(); ++i)
      if (fitted_[i].parts.size() == 1 &&
          (fitted_[best].parts.size() > 1 ||
           tried_[i].scores.loss(Use::Filter) <
               tried_[best].scores.loss(Use::Filter) - kPredictsBetter))
        best = i;
    return best;
  }

  const std::vector<Part>& parts() const { return fitted_[*best_].parts; }
  bool has(PartKind kind) const {
    return std::ranges::find(parts(), kind, &Part::kind) != parts().end();
  }
  std::vector<Part> with(const Part& part) const {
    std::vector<Part> sum = parts();
    sum.push_back(part);
    return sum;
  }

  static int harmonics(double period, int wanted) {
    return std::clamp(static_cast<int>(std::ceil(period / 2)) - 1, 1, wanted);
  }

  std::vector<std::vector<Part>> additions() const {
    std::vector<std::vector<Part>> sums;
    for (const double period : periods_)
      if (std::ranges::none_of(parts(), [&](const Part& part) {
            return part.kind == PartKind::Season && part.scale == period;
          }))
        sums.push_back(with({PartKind::Season, period, harmonics(period, kHarmonics)}));
    if (!has(PartKind::Memory)) sums.push_back(with({PartKind::Memory}));
    if (!has(PartKind::Level)) sums.push_back(with({PartKind::Level}));
    for (const double period : periods_)
      if (std::ranges::none_of(parts(), [&](const Part& part) {
            return part.kind == PartKind::Oscillator && part.scale == period;
          }))
        sums.push_back(with({PartKind::Oscillator, period, 0}));
    return sums;
  }

  // Another first part.
  std::vector<std::vector<Part>> replacements() const {
    std::vector<std::vector<Part>> sums;
    for (const PartKind kind :
         {PartKind::Level, PartKind::Memory, PartKind::Trend, PartKind::DampedTrend,
          PartKind::DampedVelocity, PartKind::DampedAcceleration}) {
      if (has(kind)) continue;
      std::vector<Part> sum = parts();
      sum[0] = {kind};
      sums.push_back(std::move(sum));
    }
    return sums;
  }

  // Without one of the parts.
  std::vector<std::vector<Part>> removals() const {
    std::vector<std::vector<Part>> sums;
    for (std::size_t p = 0; p < parts().size(); ++p) {
      sums.push_back(parts());
      sums.back().erase(sums.back().begin() + static_cast<std::ptrdiff_t>(p));
    }
    return sums;
  }

  std::vector<std::vector<Part>> finer_seasons() const {
    std::vector<Part> sum = parts();
    bool finer = false;
    for (Part& part : sum)
      if (part.kind == PartKind::Season && harmonics(part.scale, kManyHarmonics) > part.count) {
        part.count = harmonics(part.scale, kManyHarmonics);
        finer = true;
      }
    if (!finer) return {};
    return {std::move(sum)};
  }

  const FitContext& fit_;
  int most_steps_;
  std::vector<double> periods_;
  ScaledData data_;
  UseData scored_;
  std::vector<TriedModel> tried_;
  std::vector<Fitted> fitted_;
  std::optional<std::size_t> best_;
  int longest_;         // steps of the longest series
  UseWeights weights_;  // of the best single part
};

}  // namespace

bool ends_with_the_data(const std::vector<Part>& parts, std::span<const double> rates,
                        int longest) {
  PartPlace place;
  for (const Part& part : parts) {
    if (part.kind == PartKind::Memory || part.kind == PartKind::DampedVelocity) {
      const double share = 1 / (rates[place.rate] * longest);
      if (share > kLongestMemory && (part.kind == PartKind::Memory || share < kHardlyReturns))
        return true;
    }
    place = place.after(part);
  }
  return false;
}

FoundSum search_parts(const FitContext& channel, int most_steps, const std::vector<int>& runs) {
  return Search(channel, most_steps, runs).run();
}

}  // namespace kalmia::train
