#include "kalmia/listing.hpp"

#include <algorithm>

#include "infer/measured_map.hpp"
#include "infer/model_impl.hpp"
#include "infer/part_rows.hpp"
#include "infer/usable.hpp"
#include "kalmia/error.hpp"

namespace kalmia {

struct Listing::Impl {
  Model model;  // keeps what the map refers to
  infer::MeasuredMap map;
  infer::MeasurementNoise noise;
  bool measurements;
  // What is listed beside the channels: a number, and a sum of states, each with its factor.
  struct Term {
    std::size_t state;
    double factor;
  };
  struct Sum {
    double offset;
    std::vector<Term> terms;
    int channel = infer::PartRow::kNone;  // which is added, too
  };
  std::vector<Sum> sums;
  std::vector<std::string> names;

  Impl(const Model& given, const ListOptions& options)
      : model(given),
        map(model.impl().first()),
        noise(model),
        measurements(options.measurements),
        names(model.measured_names()) {
    const prior::Expert& expert = model.impl().first().expert();
    const bool written = model.impl().first().description().prior.kind == prior::PriorKind::System;
    for (std::size_t n = 0; n < expert.state_names.size(); ++n)
      if ((written || options.all_states) && !is_column(expert, n)) {
        sums.push_back({0, {{n, 1.0}}});
        names.push_back(free_name(expert.state_names[n]));
      }
    if (options.parts) add_parts();
  }

  void add_parts() {
    for (const infer::PartRow& part : infer::part_rows(model.impl().first())) {
      Sum& sum = sums.emplace_back(Sum{part.offset, {}, part.channel});
      for (std::size_t n = 0; n < part.row.size(); ++n)
        if (part.row[n] != 0) sum.terms.push_back({n, part.row[n]});
      names.push_back(free_name(part.name));
    }
  }

  // Whether state n is what the column of its name measures.
  bool is_column(const prior::Expert& expert, std::size_t n) const {
    const std::vector<std::string>& columns = model.measured_names();
    for (std::size_t m = 0; m < columns.size(); ++m)
      if (expert.measured_state[m] == static_cast<int>(n) && columns[m] == expert.state_names[n])
        return true;
    return false;
  }

  // A name that neither a column listed so far nor its deviation has.
  std::string free_name(std::string name) const {
    const auto taken = [&](const std::string& wanted) {
      return std::ranges::any_of(names, [&](const std::string& other) {
        return wanted == other || wanted == other + "_std" || wanted + "_std" == other;
      });
    };
    while (taken(name)) name += "_state";
    return name;
  }
};

Listing::Listing(const Model& model, const ListOptions& options)
    : impl_(std::make_unique<Impl>(model, options)) {}
Listing::~Listing() = default;
Listing::Listing(Listing&&) noexcept = default;
Listing& Listing::operator=(Listing&&) noexcept = default;

const std::vector<std::string>& Listing::names() const { return impl_->names; }

void Listing::at(std::span<const double> mean, std::span<const double> covariance,
                 std::span<double> listed_mean, std::span<double> listed_covariance,
                 std::span<const double> y_std) const {
  const auto M = static_cast<std::size_t>(impl_->map.meas_dim());
  const std::size_t N = mean.size(), K = impl_->names.size();
  std::vector<double> G(covariance.empty() ? 0 : K * N);  // d listed / dx
  impl_->map.at(mean.data(), listed_mean.data(), covariance.empty() ? nullptr : G.data());
  for (std::size_t i = 0; i < impl_->sums.size(); ++i) {
    listed_mean[M + i] = impl_->sums[i].offset;
    if (const int channel = impl_->sums[i].channel; channel >= 0)
      listed_mean[M + i] += listed_mean[static_cast<std::size_t>(channel)];
    for (const Impl::Term& term : impl_->sums[i].terms)
      listed_mean[M + i] += term.factor * mean[term.state];
  }
  if (covariance.empty()) {
    infer::require_usable("", impl_->names, listed_mean, {});
    return;
  }
  for (std::size_t i = 0; i < impl_->sums.size(); ++i) {
    const Impl::Sum& sum = impl_->sums[i];
    if (sum.channel >= 0)
      std::copy_n(G.data() + static_cast<std::size_t>(sum.channel) * N, N, G.data() + (M + i) * N);
    for (const Impl::Term& term : sum.terms) G[(M + i) * N + term.state] += term.factor;
  }
  infer::congruence(static_cast<int>(K), static_cast<int>(N), G.data(), covariance.data(),
                    listed_covariance.data());
  if (impl_->measurements) {
    std::vector<double> R(M * M);
    impl_->noise.at(y_std.empty() ? nullptr : y_std.data(), R.data());
    for (std::size_t i = 0; i < R.size(); ++i) listed_covariance[i / M * K + i % M] += R[i];
  }
  infer::require_usable("", impl_->names, listed_mean, listed_covariance);
}

Estimates Listing::of(const Estimates& states, const Dataset* data) const {
  const auto M = static_cast<std::size_t>(impl_->map.meas_dim());
  const auto N = static_cast<std::size_t>(impl_->map.state_dim());
  const std::size_t K = impl_->names.size();
  const auto fits = [&](std::size_t s) {
    const std::size_t numbers = data->series[s].y_std.size();
    return numbers == 0 || numbers == static_cast<std::size_t>(states.series[s].steps) * M;
  };
  for (std::size_t s = 0; data != nullptr && s < states.series.size(); ++s)
    if (data->series.size() != states.series.size() || !fits(s))
      throw DataError("the data have not the series and steps of the estimates");
  Estimates listed = states;
  listed.state_names = impl_->names;
  listed.measured_columns = M;
  for (std::size_t s = 0; s < states.series.size(); ++s) {
    const StateEstimates& from = states.series[s];
    StateEstimates& to = listed.series[s];
    const bool spread = !from.covariance.empty();
    const auto steps = static_cast<std::size_t>(from.steps);
    to.mean.assign(steps * K, 0.0);
    to.covariance.assign(spread ? steps * K * K : 0, 0.0);
    const bool own_noise = data != nullptr && !data->series[s].y_std.empty();
    for (std::size_t k = 0; k < steps; ++k) try {
        at({from.mean.data() + k * N, N}, {from.covariance.data() + k * N * N, spread ? N * N : 0},
           {to.mean.data() + k * K, K}, {to.covariance.data() + k * K * K, spread ? K * K : 0},
           {own_noise ? data->series[s].y_std.data() + k * M : nullptr, own_noise ? M : 0});
      } catch (const NumericalError& error) {
        throw NumericalError((data == nullptr || data->source.empty() ? "" : data->source + ", ") +
                             (from.key.empty() ? "" : "series \"" + from.key + "\", ") + "step " +
                             std::to_string(k + 1) + ": " + error.what());
      }
  }
  return listed;
}

}  // namespace kalmia
