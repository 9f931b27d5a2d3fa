#include "train/noise_ceiling.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "model/outliers.hpp"

namespace kalmia::train {
namespace {

using Eigen::MatrixXd;

constexpr int kLongestPiece = 32;
constexpr int kShortestPiece = 8;
// With fewer pieces the spectrum is too rough: shorter ones are taken, or none.
constexpr int kFewestPieces = 10;
constexpr int kFirmPieces = 60;
constexpr int kLowestFrequency = 2;

// Of a piece that is far from level the taper lets the trend through, far above the noise: what a
// polynomial of this degree explains is taken away.
constexpr int kTrendDegree = 3;

// The transform of a tapered piece of one channel, frequencies kLowestFrequency..length/2: real and
// imaginary parts. The power of white noise comes out as its variance.
class Taper {
 public:
  explicit Taper(int length) : basis_(2 * (length / 2 - kLowestFrequency + 1), length) {
    MatrixXd trend(length, kTrendDegree + 1);
    for (int k = 0; k < length; ++k) {
      const double angle = 2 * std::numbers::pi * k / length;
      const double weight = 0.5 - 0.5 * std::cos(angle);
      for (int degree = 0; degree <= kTrendDegree; ++degree)
        trend(k, degree) = std::pow(2.0 * k / length - 1, degree);
      for (int f = kLowestFrequency; f <= length / 2; ++f) {
        basis_(2 * (f - kLowestFrequency), k) = weight * std::cos(f * angle);
        basis_(2 * (f - kLowestFrequency) + 1, k) = weight * std::sin(f * angle);
      }
    }
    const MatrixXd Q = Eigen::HouseholderQR<MatrixXd>(trend).householderQ() *
                       MatrixXd::Identity(length, kTrendDegree + 1);
    basis_ -= (basis_ * Q) * Q.transpose();
    for (Eigen::Index f = 0; f < frequencies(); ++f)
      basis_.middleRows(2 * f, 2) /= basis_.middleRows(2 * f, 2).norm();
  }
  Eigen::Index frequencies() const { return basis_.rows() / 2; }
  // Shapes: y length x channels -> 2 frequencies x channels.
  MatrixXd operator()(const MatrixXd& y) const {
    return basis_ * (y.rowwise() - y.colwise().mean());
  }

 private:
  MatrixXd basis_;
};

struct Spectrum {
  std::vector<MatrixXd> power;  // by frequency: products of the channels
  int pieces = 0;
};

// The training stretches' values, steps x M of each.
using Values = std::vector<std::vector<double>>;

Values values_of(const ScaledData& data, const std::vector<StepRange>& training) {
  const auto M = static_cast<std::ptrdiff_t>(data.meas_dim());
  Values values;
  for (const StepRange& stretch : training) {
    std::vector<double>& own = values.emplace_back();
    for (int k = stretch.begin; k < stretch.end; ++k)
      own.insert(own.end(), data.at(stretch.series, k), data.at(stretch.series, k) + M);
  }
  return values;
}

// Of these channels, from pieces in which all of them were measured.
Spectrum spectrum_of(const Values& values, std::size_t M, const std::vector<int>& channels,
                     int length) {
  const Taper taper(length);
  const auto count = static_cast<Eigen::Index>(channels.size());
  Spectrum spectrum;
  spectrum.power.assign(static_cast<std::size_t>(taper.frequencies()),
                        MatrixXd::Zero(count, count));
  MatrixXd y(length, count);
  for (const std::vector<double>& own : values)
    for (std::size_t from = 0; (from + static_cast<std::size_t>(length)) * M <= own.size();
         from += static_cast<std::size_t>(length / 2)) {
      for (int k = 0; k < length; ++k)
        for (Eigen::Index c = 0; c < count; ++c)
          y(k, c) = own[(from + static_cast<std::size_t>(k)) * M +
                        static_cast<std::size_t>(channels[static_cast<std::size_t>(c)])];
      if (!y.allFinite()) continue;
      const MatrixXd transform = taper(y);
      for (Eigen::Index f = 0; f < taper.frequencies(); ++f) {
        const auto rows = transform.middleRows(2 * f, 2);
        spectrum.power[static_cast<std::size_t>(f)] += rows.transpose() * rows;
      }
      ++spectrum.pieces;
    }
  for (MatrixXd& power : spectrum.power) power /= std::max(1, spectrum.pieces);
  return spectrum;
}

// The mean over three neighbouring frequencies that is lowest; nothing if there are too few pieces.
Spectrum lowest_of(const Values& values, std::size_t M, const std::vector<int>& channels) {
  for (int length = kLongestPiece; length >= kShortestPiece; length /= 2) {
    const Spectrum spectrum = spectrum_of(values, M, channels, length);
    if (spectrum.pieces < kFewestPieces) continue;
    Spectrum lowest{.power = {}, .pieces = length == kLongestPiece ? spectrum.pieces : 0};
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t f = 1; f + 1 < spectrum.power.size(); ++f) {
      const MatrixXd mean = (spectrum.power[f - 1] + spectrum.power[f] + spectrum.power[f + 1]) / 3;
      const double volume = mean.diagonal().array().log().sum();
      if (!(volume < least)) continue;
      least = volume;
      lowest.power = {mean};
    }
    return lowest;
  }
  return {};
}

}  // namespace

NoiseCeiling noise_ceiling(const ScaledData& data, const std::vector<StepRange>& training,
                           bool full, bool outliers) {
  const int M = data.meas_dim();
  const auto width = static_cast<std::size_t>(M);
  Values values = values_of(data, training);
  for (std::size_t m = 0; m < width && outliers; ++m) model::replace_outliers(m, width, values);
  MatrixXd ceiling = MatrixXd::Zero(M, M);
  bool firm = true;
  std::vector<int> all;
  for (int m = 0; m < M; ++m) {
    const Spectrum lowest = lowest_of(values, width, {m});
    if (!lowest.power.empty()) ceiling(m, m) = lowest.power[0](0, 0);
    firm = firm && lowest.pieces >= kFirmPieces;
    all.push_back(m);
  }
  if (full && (ceiling.diagonal().array() > 0).all()) {
    // The correlation where all channels together are lowest, with each channel's own level.
    const Spectrum lowest = lowest_of(values, width, all);
    if (!lowest.power.empty()) {
      const MatrixXd& joint = lowest.power[0];
      const Eigen::VectorXd scale =
          (ceiling.diagonal().cwiseQuotient(joint.diagonal())).cwiseSqrt();
      if (scale.allFinite()) ceiling = scale.asDiagonal() * joint * scale.asDiagonal();
    }
  }
  return {{ceiling.data(), ceiling.data() + ceiling.size()}, firm};
}

}  // namespace kalmia::train
