#include "train/tails.hpp"

#include <cmath>

#include "infer/filter_pass.hpp"
#include "kalman/classical/batch.hpp"
#include "kalman/student.hpp"

namespace kalmia::train {

double fit_tails(const model::LearnedModel<float>& model, const ScaledData& data,
                 const std::vector<StepRange>& stretches, ThreadTeam& team) {
  const int N = model.state_dim();
  const auto M = static_cast<std::size_t>(model.meas_dim());
  std::vector<infer::SeriesView> pieces;
  for (const StepRange& stretch : stretches) pieces.push_back(data.view(stretch));
  const infer::FilterPass pass =
      infer::run_pass(model, pieces, {.predicted = true}, team, [](int) { return "the data"; });
  std::vector<double> squares, y(M), H = model.expert().H;
  for (std::size_t p = 0; p < pieces.size(); ++p)
    for (int k = 0; k < pieces[p].steps; ++k) {
      const Moments& predicted = pass.moments.predicted;
      const double* x =
          predicted.mean.data() + kalman::row_at(pass.moments, static_cast<int>(p), k, N);
      const double* P =
          predicted.covariance.data() + kalman::row_at(pass.moments, static_cast<int>(p), k, N * N);
      if (model.expert().emission != nullptr) H = model.emission_at(x);
      model.measure(x, y.data());
      for (std::size_t m = 0; m < M; ++m) {
        const double residual = pieces[p].y[static_cast<std::size_t>(k) * M + m] - y[m];
        double variance = model.emission().R()[m * (M + 1)];
        if (pieces[p].weight != nullptr)
          variance /= pieces[p].weight[static_cast<std::size_t>(k) * M + m];
        for (int i = 0; i < N; ++i)
          for (int j = 0; j < N; ++j)
            variance += H[m * static_cast<std::size_t>(N) + static_cast<std::size_t>(i)] *
                        P[i * N + j] *
                        H[m * static_cast<std::size_t>(N) + static_cast<std::size_t>(j)];
        if (std::isfinite(residual)) squares.push_back(residual * residual / variance);
      }
    }
  return kalman::fit_student(squares).degrees_of_freedom;
}

}  // namespace kalmia::train
