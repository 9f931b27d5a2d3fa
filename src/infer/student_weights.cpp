#include "infer/student_weights.hpp"

#include <cmath>

#include "kalman/classical/batch.hpp"

namespace kalmia::infer {

using kalman::row_at;

std::vector<double> student_weights(const model::LearnedModel<float>& model,
                                    std::span<const Piece> pieces, const FilterPass& pass) {
  const int N = model.state_dim();
  const auto M = static_cast<std::size_t>(model.meas_dim());
  const double nu = model.description().tails;
  const FilterResult& moments = pass.moments;
  std::vector<double> weights(
      static_cast<std::size_t>(moments.series) * static_cast<std::size_t>(moments.steps) * M, 1.0);
  std::vector<double> y(M), H = model.expert().H;
  for (int p = 0; p < moments.series; ++p) {
    const Piece& piece = pieces[static_cast<std::size_t>(p)];
    for (int k = 0; k < piece.steps; ++k) {
      const double* x = moments.smoothed.mean.data() + row_at(moments, p, k, N);
      const double* P = moments.smoothed.covariance.data() + row_at(moments, p, k, N * N);
      if (model.expert().emission != nullptr) H = model.emission_at(x);
      model.measure(x, y.data());
      for (std::size_t m = 0; m < M; ++m) {
        const std::size_t at = static_cast<std::size_t>(k) * M + m;
        const double e = piece.y[at] - y[m];
        if (std::isnan(e)) continue;
        const double* h = H.data() + m * static_cast<std::size_t>(N);
        double v = 0;
        for (int i = 0; i < N; ++i)
          for (int j = 0; j < N; ++j) v += h[i] * P[i * N + j] * h[j];
        const double stated = piece.weight == nullptr ? 1 : piece.weight[at];
        const double R = model.emission().R()[m * (M + 1)] / stated;
        weights[row_at(moments, p, k, static_cast<int>(M)) + m] =
            stated * (nu + 1) / (nu + (e * e + v) / R);
      }
    }
  }
  return weights;
}

std::vector<Piece> weighted(std::span<const Piece> pieces, const FilterPass& pass,
                            const std::vector<double>& weights) {
  std::vector<Piece> result(pieces.begin(), pieces.end());
  for (std::size_t p = 0; p < result.size(); ++p)
    result[p].weight =
        weights.data() + row_at(pass.moments, static_cast<int>(p), 0, pass.moments.meas_dim);
  return result;
}

}  // namespace kalmia::infer
