// A GRU step against its equations written out, and its adjoint against central differences.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "nn/gru_test.cpp"
#include <hwy/foreach_target.h>

#include "nn/gru-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::test::HWY_NAMESPACE {

namespace ng = kalmia::nn::HWY_NAMESPACE;

void forward_float(const nn::PackedGru<float>& gru, const float* x, const float* h, int lanes,
                   float* h_new, float* gates) {
  if (gates == nullptr)
    ng::gru_forward<false>(gru, x, h, lanes, h_new, h_new);
  else
    ng::gru_forward<true>(gru, x, h, lanes, h_new, gates);
}
void forward_double(const nn::PackedGru<double>& gru, const double* x, const double* h, int lanes,
                    double* h_new, double* gates) {
  if (gates == nullptr)
    ng::gru_forward<false>(gru, x, h, lanes, h_new, h_new);
  else
    ng::gru_forward<true>(gru, x, h, lanes, h_new, gates);
}
void backward_double(const nn::PackedGru<double>& gru, const double* h, int lanes, double* gates,
                     double* d_h) {
  ng::gru_backward(gru, h, lanes, gates, d_h);
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

HWY_EXPORT(forward_float);
HWY_EXPORT(forward_double);
HWY_EXPORT(backward_double);

template <typename T>
struct GruCase {
  nn::ParameterLayout parameters;
  nn::GruLayout layout;
  Buffer<T> values;
  Buffer<T> x, h;
  int lanes;

  GruCase(int input, int hidden, int num_lanes)
      : layout(nn::GruLayout::add_to(parameters, "gru", input, hidden)), lanes(num_lanes) {
    RandomStream random(21, "gru");
    const auto fill = [&](Buffer<T>& buffer, int size) {
      buffer.resize(static_cast<std::size_t>(size));
      for (T& v : buffer.span()) v = static_cast<T>(random.normal());
    };
    fill(values, static_cast<int>(parameters.size()));
    fill(x, input * lanes);
    fill(h, hidden * lanes);
  }
  nn::PackedGru<T> packed() const {
    nn::PackedGru<T> gru;
    gru.pack(layout, values.data());
    return gru;
  }
  // The equations of nn/gru.hpp for one unit and lane.
  double expected(int u, int lane) const {
    const int n = layout.hidden;
    const auto number = [&](std::ptrdiff_t at) {
      return static_cast<double>(values[static_cast<std::size_t>(at)]);
    };
    double in[3], hid[3];
    for (int gate = 0; gate < 3; ++gate) {
      in[gate] = number(layout.bias_ih + gate * n + u);
      hid[gate] = number(layout.bias_hh + gate * n + u);
      for (int k = 0; k < layout.input; ++k)
        in[gate] += number(layout.weight_ih + (gate * n + u) * layout.input + k) *
                    static_cast<double>(x[static_cast<std::size_t>(k * lanes + lane)]);
      for (int k = 0; k < n; ++k)
        hid[gate] += number(layout.weight_hh + (gate * n + u) * n + k) *
                     static_cast<double>(h[static_cast<std::size_t>(k * lanes + lane)]);
    }
    const double r = 1 / (1 + std::exp(-in[0] - hid[0]));
    const double z = 1 / (1 + std::exp(-in[1] - hid[1]));
    const double candidate = std::tanh(in[2] + r * hid[2]);
    return (1 - z) * candidate +
           z * static_cast<double>(h[static_cast<std::size_t>(u * lanes + lane)]);
  }
};

template <typename T>
void forward(const nn::PackedGru<T>& gru, const GruCase<T>& c, Buffer<T>& h_new, T* gates) {
  if constexpr (sizeof(T) == 4) HWY_DYNAMIC_DISPATCH(forward_float)
  (gru, c.x.data(), c.h.data(), c.lanes, h_new.data(), gates);
  else HWY_DYNAMIC_DISPATCH(forward_double)(gru, c.x.data(), c.h.data(), c.lanes, h_new.data(),
                                            gates);
}

template <typename T>
void expect_equations(int input, int hidden, int lanes, double tolerance) {
  const GruCase<T> c(input, hidden, lanes);
  Buffer<T> h_new(c.h.size()), kept(c.h.size()), gates(4 * c.h.size());
  forward<T>(c.packed(), c, h_new, nullptr);
  forward<T>(c.packed(), c, kept, gates.data());
  for (int u = 0; u < hidden; ++u)
    for (int lane = 0; lane < lanes; ++lane) {
      const auto at = static_cast<std::size_t>(u * lanes + lane);
      ASSERT_NEAR(static_cast<double>(h_new[at]), c.expected(u, lane), tolerance)
          << "unit " << u << " of " << hidden << ", lane " << lane;
      ASSERT_EQ(h_new[at], kept[at]) << "keeping the tape must not change the result";
    }
}

TEST(Gru, FollowsItsEquations) {
  for_each_isa([] {
    for (const int hidden : {1, 2, 5, 8, 11, 64})
      for (const int input : {1, 4}) {
        expect_equations<double>(input, hidden, 16, 1e-13);
        expect_equations<float>(input, hidden, 48, 1e-5);
      }
  });
}

TEST(Gru, AdjointMatchesCentralDifferences) {
  for_each_isa([] {
    GruCase<double> c(3, 7, 16);
    const nn::PackedGru<double> gru = c.packed();
    Buffer<double> h_new(c.h.size()), gates(4 * c.h.size()), d_h(c.h.size());
    RandomStream random(2, "weights of the loss");
    std::vector<double> weights(c.h.size());
    for (double& w : weights) w = random.normal();
    const auto loss = [&] {
      forward<double>(c.packed(), c, h_new, gates.data());
      return weighted_sum(weights, h_new.span());
    };
    loss();
    std::copy(weights.begin(), weights.end(), d_h.data());
    HWY_DYNAMIC_DISPATCH(backward_double)(gru, c.h.data(), c.lanes, gates.data(), d_h.data());

    // The weight gradients the tape promises: d_W_hh = [a_r; a_z; g] h', d_W_ih = [a_r; a_z; a_n]
    // x'.
    const int n = c.layout.hidden, lanes = c.lanes;
    std::vector<double> gradient(c.values.size(), 0.0);
    for (int row = 0; row < 3 * n; ++row)
      for (int lane = 0; lane < lanes; ++lane) {
        const double hh = gates[static_cast<std::size_t>(row * lanes + lane)];
        const double ih =
            gates[static_cast<std::size_t>((row < 2 * n ? row : row + n) * lanes + lane)];
        for (int k = 0; k < n; ++k)
          gradient[static_cast<std::size_t>(c.layout.weight_hh + row * n + k)] +=
              hh * c.h[static_cast<std::size_t>(k * lanes + lane)];
        for (int k = 0; k < c.layout.input; ++k)
          gradient[static_cast<std::size_t>(c.layout.weight_ih + row * c.layout.input + k)] +=
              ih * c.x[static_cast<std::size_t>(k * lanes + lane)];
        gradient[static_cast<std::size_t>(c.layout.bias_hh + row)] += hh;
        gradient[static_cast<std::size_t>(c.layout.bias_ih + row)] += ih;
      }
    check_gradient(
        loss, {{"h", c.h.span(), d_h.span(), 0}, {"weights", c.values.span(), gradient, 0}}, 31);
  });
}

}  // namespace
}  // namespace kalmia::test
#endif
