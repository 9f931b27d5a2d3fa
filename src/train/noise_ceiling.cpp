#include "train/noise_ceiling.hpp"

#include <Eigen/Dense>
#include <cmath>
#include <limits>

namespace kalmia::train {
namespace {

constexpr int kOrders = 8;
// With fewer differences the estimate is too rough.
constexpr double kFewestDifferences = 32;

// Mean products of the differences of one order.
struct Products {
  Eigen::MatrixXd sum, count;

  bool enough() const { return (count.array() >= kFewestDifferences).all(); }
  bool enough(int m) const { return count(m, m) >= kFewestDifferences; }
  double mean(int i, int j) const { return sum(i, j) / count(i, j); }
};

// Entries of orders 1..kOrders, divided by C(2d, d).
std::vector<Products> products_of(const ScaledData& data, const std::vector<Stretch>& training,
                                  bool full) {
  const int M = data.meas_dim();
  std::vector<Products> orders(
      kOrders, {Eigen::MatrixXd::Zero(M, M), Eigen::MatrixXd::Constant(M, M, full ? 0 : 1)});
  for (Products& each : orders) each.count.diagonal().setZero();
  // Row d: the difference of order d that ends at this step; NaN where a value is missing.
  Eigen::MatrixXd now(kOrders + 1, M), before(kOrders + 1, M);
  for (const Stretch& stretch : training) {
    before.setConstant(std::nan(""));
    for (int k = stretch.begin; k < stretch.end; ++k) {
      now.row(0) = Eigen::Map<const Eigen::RowVectorXd>(data.at(stretch.series, k), M);
      for (int d = 1; d <= kOrders; ++d) now.row(d) = now.row(d - 1) - before.row(d - 1);
      for (int d = 1; d <= kOrders; ++d) {
        Products& order = orders[static_cast<std::size_t>(d - 1)];
        for (int i = 0; i < M; ++i)
          for (int j = full ? 0 : i; j <= i; ++j) {
            const double product = now(d, i) * now(d, j);
            if (std::isnan(product)) continue;
            order.sum(i, j) += product;
            order.count(i, j) += 1;
          }
      }
      before = now;
    }
  }
  double binomial = 1;
  for (int d = 1; d <= kOrders; ++d) {
    Products& order = orders[static_cast<std::size_t>(d - 1)];
    binomial *= 2.0 * (2 * d - 1) / d;
    order.sum /= binomial;
    order.sum.triangularView<Eigen::StrictlyUpper>() = order.sum.transpose();
    order.count.triangularView<Eigen::StrictlyUpper>() = order.count.transpose();
  }
  return orders;
}

}  // namespace

std::vector<double> noise_ceiling(const ScaledData& data, const std::vector<Stretch>& training,
                                  bool full) {
  const int M = data.meas_dim();
  const std::vector<Products> orders = products_of(data, training, full);
  Eigen::MatrixXd ceiling = Eigen::MatrixXd::Zero(M, M);
  for (int m = 0; m < M; ++m)
    for (const Products& order : orders)
      if (order.enough(m) && (ceiling(m, m) == 0 || order.mean(m, m) < ceiling(m, m)))
        ceiling(m, m) = order.mean(m, m);
  if (full) {
    double lowest = std::numeric_limits<double>::infinity();
    for (const Products& order : orders) {
      if (!order.enough()) continue;
      const Eigen::MatrixXd covariance = order.sum.cwiseQuotient(order.count);
      const Eigen::LLT<Eigen::MatrixXd> factor(covariance);
      if (factor.info() != Eigen::Success) continue;
      const double volume = covariance.diagonal().array().log().sum();
      if (!(volume < lowest)) continue;
      lowest = volume;
      ceiling = covariance;
    }
  }
  return {ceiling.data(), ceiling.data() + ceiling.size()};
}

}  // namespace kalmia::train
