// A model with a leak-free smoother whose networks do something, and series for it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "infer/filter_pass.hpp"
#include "infer/fusion_run.hpp"
#include "infer/infer_cases.hpp"
#include "kalman/classical/batch.hpp"

namespace kalmia::test {

inline std::unique_ptr<model::LearnedModel<float>> fused_model(std::uint64_t seed) {
  std::unique_ptr<model::LearnedModel<float>> model = network_case(2, seed).make<float>();
  give_smoother(*model, seed);
  return model;
}

/// Series in the model's units with the filter's predictions of them.
struct FusedSeries {
  std::vector<std::vector<double>> y;
  infer::FilterPass pass;

  FusedSeries(const model::LearnedModel<float>& model, std::vector<std::vector<double>> the_y)
      : y(std::move(the_y)) {
    ThreadTeam team(1);
    pass = infer::run_pass(model, views(), {.predicted = true}, team,
                           [](int) { return std::string(); });
  }
  FusedSeries(const model::LearnedModel<float>& model, const std::vector<int>& lengths,
              std::uint64_t seed)
      : FusedSeries(model, random_series(lengths, seed)) {}

  static std::vector<std::vector<double>> random_series(const std::vector<int>& lengths,
                                                        std::uint64_t seed) {
    RandomStream random(seed, "pieces");
    std::vector<std::vector<double>> all;
    for (const int steps : lengths) {
      std::vector<double>& y = all.emplace_back();
      for (int i = 0; i < 2 * steps; ++i)
        y.push_back(random.uniform() < 0.2 ? std::nan("") : 80 * random.normal());
    }
    return all;
  }
  std::vector<infer::SeriesView> views() const {
    std::vector<infer::SeriesView> all;
    for (const auto& each : y) all.push_back({each.data(), static_cast<int>(each.size() / 2)});
    return all;
  }
  infer::FusionView view(int s) const {
    const FilterResult& r = pass.moments;
    const std::vector<double>& values = y[static_cast<std::size_t>(s)];
    return {values.data(), r.predicted.mean.data() + kalman::row_at(r, s, 0, 4),
            r.predicted.covariance.data() + kalman::row_at(r, s, 0, 16),
            static_cast<int>(values.size() / 2)};
  }
  std::vector<infer::FusionView> fusion_views() const {
    std::vector<infer::FusionView> all;
    for (int s = 0; s < static_cast<int>(y.size()); ++s) all.push_back(view(s));
    return all;
  }
};

/// All that comes out of a fusion run, in the order of the user's steps.
struct FusedResult {
  struct Series {
    std::vector<double> x_fused, P_fused, x_smooth, P_smooth, nll;
    std::vector<int> visits;  ///< steps in the order of their delivery
    bool operator==(const Series&) const = default;
  };
  std::vector<Series> series;

  FusedResult(const model::LearnedModel<float>& model, const std::vector<infer::FusionView>& pieces,
              int threads = 1) {
    constexpr int N = 4;
    for (const infer::FusionView& piece : pieces) {
      const auto K = static_cast<std::size_t>(piece.steps);
      series.push_back({std::vector<double>(K * N),
                        std::vector<double>(K * N * N),
                        std::vector<double>(K * N),
                        std::vector<double>(K * N * N),
                        std::vector<double>(K),
                        {}});
    }
    ThreadTeam team(threads);
    infer::run_fusion(
        model, pieces, {.predicted = true, .filtered = true}, team,
        [&](int p, int last, int count, const infer::LaneMoments& moments) {
          Series& to = series[static_cast<std::size_t>(p)];
          for (int j = 0; j < count; ++j) {
            const auto k = static_cast<std::size_t>(last - j);
            moments.x_pred(j, N, to.x_fused.data() + k * N);
            moments.P_pred(j, N, to.P_fused.data() + k * N * N);
            moments.x_filt(j, N, to.x_smooth.data() + k * N);
            moments.P_filt(j, N, to.P_smooth.data() + k * N * N);
            to.nll[k] = moments.nll(j);
            to.visits.push_back(last - j);
          }
        },
        [](int p) { return "piece " + std::to_string(p); });
  }
};

/// N numbers of step k.
inline std::span<const double> step_of(const std::vector<double>& values, int k, int count) {
  return std::span(values).subspan(static_cast<std::size_t>(k * count),
                                   static_cast<std::size_t>(count));
}

}  // namespace kalmia::test
