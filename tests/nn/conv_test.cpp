// A step of the causal convolution against its equation written out, and its adjoint against
// central differences.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "nn/conv_test.cpp"
#include <hwy/foreach_target.h>

#include "nn/conv-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::test::HWY_NAMESPACE {

namespace ng = kalmia::nn::HWY_NAMESPACE;

void forward_float(const nn::PackedConv<float>& conv, const float* x, int lanes, float* h) {
  ng::conv_forward(conv, x, lanes, h);
}
void forward_double(const nn::PackedConv<double>& conv, const double* x, int lanes, double* h) {
  ng::conv_forward(conv, x, lanes, h);
}
void backward_double(const nn::PackedConv<double>& conv, const double* h, const double* d_h,
                     int lanes, double* a, double* d_x) {
  ng::conv_backward(conv, h, d_h, lanes, a, d_x);
}

}  // namespace kalmia::test::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/gradient_check.hpp"
#include "support/isas.hpp"

namespace kalmia::test {
namespace {

HWY_EXPORT(forward_float);
HWY_EXPORT(forward_double);
HWY_EXPORT(backward_double);

template <typename T>
struct ConvCase {
  nn::ParameterLayout parameters;
  nn::ConvLayout layout;
  Buffer<T> values;
  Buffer<T> x;  // `taps` inputs, oldest first
  Buffer<T> h;  // what `run` gave
  int lanes;

  ConvCase(int input, int hidden, int taps, int num_lanes)
      : layout(nn::ConvLayout::add_to(parameters, "conv", input, hidden, taps)),
        values(static_cast<std::size_t>(parameters.size())),
        x(static_cast<std::size_t>(taps * input * num_lanes)),
        h(static_cast<std::size_t>(hidden * num_lanes)),
        lanes(num_lanes) {
    RandomStream random(23, "conv");
    for (T& v : values.span()) v = static_cast<T>(random.normal() / std::sqrt(taps * input));
    for (T& v : x.span()) v = static_cast<T>(random.normal());
  }
  nn::PackedConv<T> packed() const {
    nn::PackedConv<T> conv;
    conv.pack(layout, values.data());
    return conv;
  }
  void run() {
    if constexpr (sizeof(T) == 4) HWY_DYNAMIC_DISPATCH(forward_float)
    (packed(), x.data(), lanes, h.data());
    else HWY_DYNAMIC_DISPATCH(forward_double)(packed(), x.data(), lanes, h.data());
  }
  // The equation of nn/conv.hpp, the newest input first, for one unit and lane.
  double expected(int u, int lane) const {
    double sum = static_cast<double>(values[static_cast<std::size_t>(layout.bias + u)]);
    for (int j = 0; j < layout.taps; ++j) {  // W_j x[k - j]
      const int place = (layout.taps - 1 - j) * layout.input;
      for (int i = 0; i < layout.input; ++i)
        sum += static_cast<double>(values[static_cast<std::size_t>(
                   layout.weight + u * layout.taps * layout.input + place + i)]) *
               static_cast<double>(x[static_cast<std::size_t>((place + i) * lanes + lane)]);
    }
    return std::tanh(sum);
  }
};

template <typename T>
void expect_equation(int input, int hidden, int taps, int lanes, double tolerance) {
  ConvCase<T> at(input, hidden, taps, lanes);
  at.run();
  for (int u = 0; u < hidden; ++u)
    for (int lane = 0; lane < lanes; ++lane)
      ASSERT_NEAR(static_cast<double>(at.h[static_cast<std::size_t>(u * lanes + lane)]),
                  at.expected(u, lane), tolerance)
          << "unit " << u << " of " << hidden << ", lane " << lane << ", " << taps << " taps";
}

TEST(Conv, FollowsItsEquation) {
  for_each_isa([] {
    for (const int hidden : {1, 5, 13, 64})
      for (const int input : {1, 3})
        for (const int taps : {1, 2, 16}) {
          expect_equation<double>(input, hidden, taps, 16, 1e-13);
          expect_equation<float>(input, hidden, taps, 48, 1e-5);
        }
  });
}

TEST(Conv, AdjointMatchesCentralDifferences) {
  for_each_isa([] {
    ConvCase<double> at(3, 7, 4, 16);
    RandomStream random(2, "weights of the loss");
    Buffer<double> weights(at.h.size());
    for (double& w : weights.span()) w = random.normal();
    const auto loss = [&] {
      at.run();
      return weighted_sum(weights.span(), at.h.span());
    };
    loss();
    // d_x is added to: what was there must still be in it.
    Buffer<double> a(at.h.size()), d_x(at.x.size());
    std::fill(d_x.span().begin(), d_x.span().end(), 1.0);
    HWY_DYNAMIC_DISPATCH(backward_double)
    (at.packed(), at.h.data(), weights.data(), at.lanes, a.data(), d_x.data());
    for (double& d : d_x.span()) d -= 1.0;

    // The weight gradients the tape promises: d_W = a x', d_b = a.
    const int cols = at.layout.taps * at.layout.input;
    std::vector<double> gradient(at.values.size(), 0.0);
    for (int row = 0; row < at.layout.hidden; ++row)
      for (int lane = 0; lane < at.lanes; ++lane) {
        const double value = a[static_cast<std::size_t>(row * at.lanes + lane)];
        for (int k = 0; k < cols; ++k)
          gradient[static_cast<std::size_t>(at.layout.weight + row * cols + k)] +=
              value * at.x[static_cast<std::size_t>(k * at.lanes + lane)];
        gradient[static_cast<std::size_t>(at.layout.bias + row)] += value;
      }
    check_gradient(
        loss, {{"x", at.x.span(), d_x.span(), 0}, {"weights", at.values.span(), gradient, 0}}, 31);

    // Without a place for it d_x is left out, and `a` stays the same.
    loss();
    Buffer<double> alone(a.size());
    HWY_DYNAMIC_DISPATCH(backward_double)
    (at.packed(), at.h.data(), weights.data(), at.lanes, alone.data(), nullptr);
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(alone[i], a[i]);
  });
}

}  // namespace
}  // namespace kalmia::test
#endif
