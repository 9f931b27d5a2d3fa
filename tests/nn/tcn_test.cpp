// A layer of the temporal convolutional network against its equation written out, and its adjoint
// against central differences. The whole of it is compared in engine/network_pass_test.cpp.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "nn/tcn_test.cpp"
#include <hwy/foreach_target.h>

#include "nn/tcn-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::test::HWY_NAMESPACE {

namespace ng = kalmia::nn::HWY_NAMESPACE;

void forward(const nn::PackedTcn<double>::Layer& layer, const double* z_old, const double* z,
             int lanes, double* branch, double* above) {
  ng::tcn_layer_forward<double>(layer, z_old, z, lanes, branch, above);
}
void backward(const nn::PackedTcn<double>::Layer& layer, const double* d_above, int lanes,
              double* branch, double* d_z_old, double* d_z) {
  ng::tcn_layer_backward<double>(layer, d_above, lanes, branch, d_z_old, d_z);
}

}  // namespace kalmia::test::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/gradient_check.hpp"
#include "support/isas.hpp"

namespace kalmia::test {
namespace {

HWY_EXPORT(forward);
HWY_EXPORT(backward);

constexpr int kLanes = 16, kHidden = 7;

struct LayerCase {
  nn::ParameterLayout parameters;
  nn::TcnLayout layout = nn::TcnLayout::add_to(parameters, "t", 3, kHidden, 2);
  Buffer<double> values, z_old, z, branch, above;

  LayerCase() {
    RandomStream random(47, "layer");
    const auto draw = [&](Buffer<double>& to, std::ptrdiff_t size) {
      to.resize(static_cast<std::size_t>(size));
      for (double& v : to.span()) v = 0.5 * random.normal();
    };
    draw(values, parameters.size());
    for (Buffer<double>* panel : {&z_old, &z, &branch, &above}) draw(*panel, kHidden * kLanes);
  }
  nn::PackedTcn<double> packed() const {
    nn::PackedTcn<double> net;
    net.pack(layout, values.data());
    return net;
  }
  void run() {
    HWY_DYNAMIC_DISPATCH(forward)
    (packed().layer[0], z_old.data(), z.data(), kLanes, branch.data(), above.data());
  }
};

TEST(Tcn, HasAsManyLayersAsItsTapsNeed) {
  struct Case {
    int taps, depth;
  };
  for (const Case& each :
       {Case{1, 0}, {2, 1}, {3, 2}, {4, 2}, {5, 3}, {16, 4}, {17, 5}, {4096, 12}}) {
    nn::ParameterLayout parameters;
    EXPECT_EQ(nn::TcnLayout::add_to(parameters, "t", 3, 4, each.taps).depth(), each.depth)
        << each.taps;
  }
}

TEST(Tcn, ALayerFollowsItsEquation) {
  for_each_isa([] {
    LayerCase c;
    c.run();
    for (int u = 0; u < kHidden; ++u)
      for (int lane = 0; lane < kLanes; ++lane) {
        const auto at = [&](int row) { return static_cast<std::size_t>(row * kLanes + lane); };
        const auto weight = [&](std::ptrdiff_t matrix, int i) {
          return c.values[static_cast<std::size_t>(matrix + u * kHidden + i)];
        };
        double sum = c.values[static_cast<std::size_t>(c.layout.bias[0] + u)];
        for (int i = 0; i < kHidden; ++i)
          sum += weight(c.layout.older[0], i) * c.z_old[at(i)] +
                 weight(c.layout.newer[0], i) * c.z[at(i)];
        ASSERT_NEAR(c.above[at(u)], c.z[at(u)] + std::tanh(sum), 1e-13);
      }
  });
}

TEST(Tcn, AdjointOfALayerMatchesCentralDifferences) {
  for_each_isa([] {
    LayerCase c;
    RandomStream random(2, "weights of the loss");
    Buffer<double> weights(c.above.size());
    for (double& w : weights.span()) w = random.normal();
    const auto loss = [&] {
      c.run();
      return weighted_sum(weights.span(), c.above.span());
    };
    loss();
    // The adjoints are added to: what was there must still be in them.
    Buffer<double> d_z_old(c.z.size()), d_z(c.z.size());
    for (double& d : d_z_old.span()) d = 1;
    for (double& d : d_z.span()) d = 2;
    HWY_DYNAMIC_DISPATCH(backward)
    (c.packed().layer[0], weights.data(), kLanes, c.branch.data(), d_z_old.data(), d_z.data());
    for (double& d : d_z_old.span()) d -= 1;
    for (double& d : d_z.span()) d -= 2;
    // The weight gradients that `branch` promises.
    std::vector<double> gradient(c.values.size(), 0.0);
    for (int row = 0; row < kHidden; ++row)
      for (int lane = 0; lane < kLanes; ++lane) {
        const double a = c.branch[static_cast<std::size_t>(row * kLanes + lane)];
        const auto add = [&](std::ptrdiff_t place, double value) {
          gradient[static_cast<std::size_t>(place)] += value;
        };
        for (int i = 0; i < kHidden; ++i) {
          const auto from = static_cast<std::size_t>(i * kLanes + lane);
          add(c.layout.older[0] + row * kHidden + i, a * c.z_old[from]);
          add(c.layout.newer[0] + row * kHidden + i, a * c.z[from]);
        }
        add(c.layout.bias[0] + row, a);
      }
    check_gradient(loss,
                   {{"z", c.z.span(), d_z.span(), 0},
                    {"z_old", c.z_old.span(), d_z_old.span(), 0},
                    {"weights", c.values.span(), gradient, 0}},
                   53);
  });
}

}  // namespace
}  // namespace kalmia::test
#endif
