#include "train/bfgs.hpp"

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <utility>

#include "kalmia/error.hpp"

namespace kalmia::train {
namespace {

using Vector = Eigen::VectorXd;

// A point with its value and gradient.
struct Point {
  Vector x, gradient;
  double value = std::numeric_limits<double>::infinity();
};

class Search {
 public:
  explicit Search(const Objective& objective, Vector sizes)
      : objective_(objective), sizes_(std::move(sizes)) {}

  // `x` over the sizes.
  Point at(const Vector& x) {
    Point point{x, Vector::Zero(x.size())};
    const auto size = static_cast<std::size_t>(x.size());
    const Vector there = unscaled(x);
    const double value = objective_({there.data(), size}, {point.gradient.data(), size});
    point.gradient.array() *= sizes_.array();
    ++evaluations;
    if (std::isfinite(value) && point.gradient.allFinite()) point.value = value;
    return point;
  }

  // The weak Wolfe conditions: sufficient decrease, and a slope that is no longer steep. Returns
  // `from` itself if no step helps.
  Point along(const Point& from, const Vector& direction) {
    constexpr double kDecrease = 1e-4, kCurvature = 0.9;
    const double slope = from.gradient.dot(direction);
    double low = 0, high = std::numeric_limits<double>::infinity(), step = 1;
    Point best = from;
    for (int i = 0; i < 40; ++i) {
      const Point point = at(from.x + step * direction);
      if (point.value > from.value + kDecrease * step * slope) {
        high = step;
      } else {
        if (point.value < best.value) best = point;
        if (point.gradient.dot(direction) >= kCurvature * slope) return point;
        low = step;
      }
      step = std::isinf(high) ? 2 * low : (low + high) / 2;
      if (high - low < 1e-12 * high) break;
    }
    return best;
  }

  Vector unscaled(const Vector& x) const { return x.cwiseProduct(sizes_); }

  int evaluations = 0;

 private:
  const Objective& objective_;
  const Vector sizes_;
};

}  // namespace

BfgsResult minimise_bfgs(const Objective& objective, std::vector<double>& x,
                         const BfgsOptions& options, const std::function<bool(int, double)>& go_on,
                         BfgsMemory* memory) {
  const auto count = static_cast<Eigen::Index>(x.size());
  const Vector sizes = options.sizes.empty()
                           ? Vector(Vector::Ones(count))
                           : Vector(Eigen::Map<const Vector>(options.sizes.data(), count));
  Search search(objective, sizes);
  Point point = search.at(Eigen::Map<const Vector>(x.data(), count).cwiseQuotient(sizes));
  if (std::isinf(point.value))
    throw NumericalError("the likelihood is not finite at the starting point of the static stage");
  const Eigen::Index n = point.x.size();
  Eigen::MatrixXd inverse = Eigen::MatrixXd::Identity(n, n);
  BfgsResult result;
  int flat = 0;
  bool fresh = true;
  if (memory != nullptr && memory->inverse.size() == static_cast<std::size_t>(n * n)) {
    inverse = Eigen::Map<const Eigen::MatrixXd>(memory->inverse.data(), n, n);
    fresh = false;
  }
  while (result.iterations < options.max_iterations) {
    if (point.gradient.lpNorm<Eigen::Infinity>() <= options.gradient_tolerance || flat >= 3) {
      result.converged = true;
      break;
    }
    // The first step has no idea of the curvature: one of length 1 at most.
    Vector direction = -(inverse * point.gradient);
    if (fresh) direction /= std::max(1.0, direction.norm());
    if (direction.dot(point.gradient) >= 0) {
      inverse.setIdentity();
      direction = -point.gradient / std::max(1.0, point.gradient.norm());
    }
    const Point next = search.along(point, direction);
    ++result.iterations;
    const double gain = point.value - next.value;
    if (!(gain > 0)) {
      if (fresh) {
        result.converged = true;
        break;
      }
      inverse.setIdentity();
      fresh = true;
      continue;
    }
    flat = gain < options.value_tolerance * (1 + std::abs(next.value)) ? flat + 1 : 0;
    const Vector s = next.x - point.x, y = next.gradient - point.gradient;
    const double sy = s.dot(y);
    if (sy > 1e-12 * s.norm() * y.norm()) {
      if (fresh) inverse *= sy / y.squaredNorm();
      fresh = false;
      // H <- (I - s y'/sy) H (I - y s'/sy) + s s'/sy
      const Vector Hy = inverse * y;
      inverse += (1 + y.dot(Hy) / sy) / sy * (s * s.transpose());
      inverse -= (Hy * s.transpose() + s * Hy.transpose()) / sy;
    }
    point = next;
    if (go_on && !go_on(result.iterations, point.value)) {
      result.interrupted = true;
      break;
    }
  }
  if (memory != nullptr) memory->inverse.assign(inverse.data(), inverse.data() + n * n);
  result.value = point.value;
  result.evaluations = search.evaluations;
  const Vector best = search.unscaled(point.x);
  std::copy(best.data(), best.data() + n, x.begin());
  return result;
}

}  // namespace kalmia::train
