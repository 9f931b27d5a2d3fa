// An MLP against Eigen, and its adjoint against central differences.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "nn/mlp_test.cpp"
#include <hwy/foreach_target.h>

#include "nn/mlp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::test::HWY_NAMESPACE {

void forward(const nn::PackedMlp<double>& mlp, const double* in, int lanes, double* hidden,
             double* out) {
  nn::HWY_NAMESPACE::mlp_forward(mlp, in, lanes, hidden, out);
}
void backward(const nn::PackedMlp<double>& mlp, const double* hidden, const double* d_out,
              int lanes, double* d_hidden, double* d_in) {
  nn::HWY_NAMESPACE::mlp_backward(mlp, hidden, d_out, lanes, d_hidden, d_in);
}

}  // namespace kalmia::test::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <gtest/gtest.h>

#include <vector>

#include "support/gradient_check.hpp"
#include "support/isas.hpp"

namespace kalmia::test {
namespace {

HWY_EXPORT(forward);
HWY_EXPORT(backward);

constexpr int kLanes = 16;

struct MlpCase {
  nn::ParameterLayout parameters;
  nn::MlpLayout layout;
  Buffer<double> values, in;

  explicit MlpCase(std::vector<int> widths)
      : layout(nn::MlpLayout::add_to(parameters, "mlp", std::move(widths))),
        values(static_cast<std::size_t>(parameters.size())),
        in(static_cast<std::size_t>(layout.widths[0] * kLanes)) {
    RandomStream random(41, "mlp");
    for (double& v : values.span()) v = random.normal();
    for (double& v : in.span()) v = random.normal();
  }
  nn::PackedMlp<double> packed() const {
    nn::PackedMlp<double> mlp;
    mlp.pack(layout, values.data());
    return mlp;
  }
  Matrix expected() const {
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    Matrix x = Eigen::Map<const RowMajor>(in.data(), layout.widths[0], kLanes);
    for (int i = 0; i < layout.layers(); ++i) {
      const auto l = static_cast<std::size_t>(i);
      const Eigen::Map<const RowMajor> W(values.data() + layout.weight[l], layout.widths[l + 1],
                                         layout.widths[l]);
      const Eigen::Map<const Vector> b(values.data() + layout.bias[l], layout.widths[l + 1]);
      x = (W * x).eval();
      x.colwise() += Vector(b);
      if (i + 1 < layout.layers()) x = x.cwiseMax(0.0);
    }
    return x;
  }
};

TEST(Mlp, EqualsEigen) {
  for_each_isa([] {
    for (const auto& widths : std::vector<std::vector<int>>{{5, 3}, {64, 64, 18}, {7, 6, 5, 4}}) {
      const MlpCase c(widths);
      Buffer<double> hidden(static_cast<std::size_t>(c.layout.hidden_rows() * kLanes));
      Buffer<double> out(static_cast<std::size_t>(widths.back() * kLanes));
      HWY_DYNAMIC_DISPATCH(forward)
      (c.packed(), c.in.data(), kLanes, hidden.data(), out.data());
      const Matrix want = c.expected();
      for (int i = 0; i < widths.back(); ++i)
        for (int lane = 0; lane < kLanes; ++lane)
          ASSERT_NEAR(out[static_cast<std::size_t>(i * kLanes + lane)], want(i, lane),
                      1e-13 * want.cwiseAbs().maxCoeff());
    }
  });
}

TEST(Mlp, AdjointMatchesCentralDifferences) {
  for_each_isa([] {
    MlpCase c({4, 6, 5, 3});
    Buffer<double> hidden(11 * kLanes), d_hidden(11 * kLanes), out(3 * kLanes);
    Buffer<double> d_in(4 * kLanes), d_out(3 * kLanes);
    RandomStream random(2, "weights of the loss");
    for (double& w : d_out.span()) w = random.normal();
    const auto loss = [&] {
      HWY_DYNAMIC_DISPATCH(forward)(c.packed(), c.in.data(), kLanes, hidden.data(), out.data());
      return weighted_sum(d_out.span(), out.span());
    };
    loss();
    HWY_DYNAMIC_DISPATCH(backward)
    (c.packed(), hidden.data(), d_out.data(), kLanes, d_hidden.data(), d_in.data());
    std::vector<double> gradient(c.values.size(), 0.0);
    const double* below[] = {c.in.data(), hidden.data(), hidden.data() + 6 * kLanes};
    const double* d_layer[] = {d_hidden.data(), d_hidden.data() + 6 * kLanes, d_out.data()};
    for (std::size_t l = 0; l < 3; ++l)
      for (int i = 0; i < c.layout.widths[l + 1]; ++i)
        for (int lane = 0; lane < kLanes; ++lane) {
          const double d = d_layer[l][i * kLanes + lane];
          gradient[static_cast<std::size_t>(c.layout.bias[l] + i)] += d;
          for (int k = 0; k < c.layout.widths[l]; ++k)
            gradient[static_cast<std::size_t>(c.layout.weight[l] + i * c.layout.widths[l] + k)] +=
                d * below[l][k * kLanes + lane];
        }
    check_gradient(
        loss, {{"input", c.in.span(), d_in.span(), 0}, {"weights", c.values.span(), gradient, 0}},
        31, {.step = 1e-6});
  });
}

}  // namespace
}  // namespace kalmia::test
#endif
