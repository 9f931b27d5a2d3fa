#include "train/found_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kalmia/text.hpp"
#include "lanes/panel.hpp"
#include "model/learned_model.hpp"
#include "nn/softplus.hpp"
#include "prior/parts_text.hpp"

namespace kalmia::train {
namespace {

using prior::Part;
using prior::PartKind;

// A cycle whose shape needs more of its periods than this to change is said to stay the same.
constexpr double kSameShape = 200;
// Cycles that have a name, in seconds.
struct NamedCycle {
  double seconds;
  const char* name;
};
constexpr NamedCycle kNamedCycles[] = {
    {3600, "an hourly"}, {86400, "a daily"}, {604800, "a weekly"}, {31557600, "a yearly"}};
constexpr double kSameCycle = 1e-3;

class Words {
 public:
  // The states and the parameters of parts are the last there are, behind those of equations.
  Words(const StaticResult& fitted, const prior::DataAxes& axes)
      : fitted_(fitted), axes_(axes), map_states_(model::expert_of(fitted.description).map_states) {
    if (map_states_ == 0) return;
    model::ModelDescription alone = fitted.description;
    alone.prior.parts.clear();
    state_ = map_states_;
    parameter_ = model::expert_of(alone).parameters.size();
  }

  std::string of_channel(int m) {
    const std::vector<Part> own = prior::parts_of_channel(fitted_.description.prior.parts, m);
    std::string text = map_states_ > 0 ? prior::prior_name(fitted_.description.prior.kind) : "";
    for (const Part& part : own) text += (text.empty() ? "" : ", ") + of_part(part);
    const auto M = axes_.channels.size(), c = static_cast<std::size_t>(m);
    const double noise = std::sqrt(fitted_.R[c * (M + 1)]) * fitted_.description.units.y_scale[c];
    const bool several = own.size() > (map_states_ > 0 ? 0 : 1);
    return text + fmt::format("{} and noise of {:.2g}", several ? "," : "", noise);
  }

 private:
  // Parts come in the order of their states and of their parameters.
  std::string of_part(const Part& part) {
    const int begin = state_;
    state_ += prior::part_states(part);
    switch (part.kind) {
      case PartKind::Level:
        return "a level that wanders";
      case PartKind::Trend:
        return "a trend";
      case PartKind::Acceleration:
        return "a smooth motion";
      case PartKind::Memory:
        return "variations that last " + time(1 / parameter());
      case PartKind::DampedTrend:
        return "a trend that fades within " + time(1 / parameter());
      case PartKind::DampedVelocity: {
        const double a = parameter(), b = parameter();
        return "a motion that fades within " + time(1 / std::min(a, b));
      }
      case PartKind::DampedAcceleration: {
        const double damping = parameter(), frequency = parameter();
        return fmt::format("a motion whose velocity swings within {} and fades within {}",
                           time(2 * std::numbers::pi / frequency), time(1 / damping));
      }
      case PartKind::Oscillator: {
        const double damping = parameter(), frequency = parameter();
        return fmt::format("an oscillation with a period of {} that lasts {}",
                           time(2 * std::numbers::pi / frequency), time(1 / damping));
      }
      case PartKind::Season:
        return cycle(part.scale) + shape(part, begin);
      case PartKind::Ar:
        break;
    }
    parameter_ += static_cast<std::size_t>(part.count);
    return fmt::format("an autoregression on {} values", part.count);
  }

  std::string cycle(double steps) const {
    const double seconds = steps * axes_.step;
    for (const NamedCycle& each : kNamedCycles)
      if (axes_.dates && std::abs(seconds / each.seconds - 1) < kSameCycle)
        return fmt::format("{} cycle", each.name);
    return "a cycle of " + time(steps);
  }

  std::string shape(const Part& season, int begin) const {
    const model::StateClimate& climate = fitted_.description.climate;
    if (climate.mean.empty()) return "";
    double size = 0, step = 0;
    for (int n = begin; n < begin + prior::part_states(season); ++n) {
      const auto i = static_cast<std::size_t>(n);
      size += std::pow(climate.mean[i], 2) + std::pow(climate.spread[i], 2);
      step += process_noise(n);
    }
    const double change = size / step;
    if (!(change < kSameShape * season.scale)) return " whose shape stays the same";
    return " whose shape changes within " + time(change);
  }

  // Q(n, n) in the model's units.
  double process_noise(int n) const {
    const auto L = std::span(fitted_.output).last(fitted_.initial_L.size());
    double sum = 0;
    for (int j = 0; j <= n; ++j) {
      const double entry = L[static_cast<std::size_t>(lanes::triangle_index(n, j))];
      sum += std::pow(j == n ? nn::softplus(entry) : entry, 2);
    }
    return sum;
  }

  double parameter() { return fitted_.description.theta[parameter_++]; }
  std::string time(double steps) const { return prior::rough_time_text(steps, axes_); }

  const StaticResult& fitted_;
  const prior::DataAxes& axes_;
  const int map_states_;
  int state_ = 0;
  std::size_t parameter_ = 0;
};

}  // namespace

std::string found_text(const StaticResult& fitted, const prior::DataAxes& axes) {
  const prior::ExpertSpec& spec = fitted.description.prior;
  if (spec.kind != prior::PriorKind::Sum && !prior::adds_parts(spec)) return {};
  Words words(fitted, axes);
  std::string text;
  for (std::size_t m = 0; m < axes.channels.size(); ++m) {
    if (m > 0) text += "; ";
    if (axes.channels.size() > 1) text += printable(axes.channels[m]) + ": ";
    text += words.of_channel(static_cast<int>(m));
  }
  return text;
}

}  // namespace kalmia::train
