// An LSTM step against its equations written out, and its adjoint against central differences.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "nn/lstm_test.cpp"
#include <hwy/foreach_target.h>

#include "nn/lstm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::test::HWY_NAMESPACE {

namespace ng = kalmia::nn::HWY_NAMESPACE;

void forward_float(const nn::PackedLstm<float>& lstm, const float* x, const float* h,
                   const float* c, int lanes, float* h_new, float* c_new, float* gates) {
  ng::lstm_forward(lstm, x, h, c, lanes, h_new, c_new, gates);
}
void forward_double(const nn::PackedLstm<double>& lstm, const double* x, const double* h,
                    const double* c, int lanes, double* h_new, double* c_new, double* gates) {
  ng::lstm_forward(lstm, x, h, c, lanes, h_new, c_new, gates);
}
void backward_double(const nn::PackedLstm<double>& lstm, const double* c, const double* c_new,
                     int lanes, double* gates, double* d_h, double* d_c) {
  ng::lstm_backward(lstm, c, c_new, lanes, gates, d_h, d_c);
}

}  // namespace kalmia::test::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "support/gradient_check.hpp"
#include "support/isas.hpp"

namespace kalmia::test {
namespace {

HWY_EXPORT(forward_float);
HWY_EXPORT(forward_double);
HWY_EXPORT(backward_double);

template <typename T>
struct LstmCase {
  nn::ParameterLayout parameters;
  nn::LstmLayout layout;
  Buffer<T> values;
  Buffer<T> x, h, c;
  Buffer<T> h_new, c_new, gates;  // what `run` gave
  int lanes;

  LstmCase(int input, int hidden, int num_lanes)
      : layout(nn::LstmLayout::add_to(parameters, "lstm", input, hidden)), lanes(num_lanes) {
    RandomStream random(22, "lstm");
    const auto fill = [&](Buffer<T>& buffer, int size) {
      buffer.resize(static_cast<std::size_t>(size));
      for (T& v : buffer.span()) v = static_cast<T>(random.normal());
    };
    fill(values, static_cast<int>(parameters.size()));
    fill(x, input * lanes);
    fill(h, hidden * lanes);
    fill(c, hidden * lanes);
    h_new.resize(h.size());
    c_new.resize(h.size());
    gates.resize(4 * h.size());
  }
  nn::PackedLstm<T> packed() const {
    nn::PackedLstm<T> lstm;
    lstm.pack(layout, values.data());
    return lstm;
  }
  void run() {
    if constexpr (sizeof(T) == 4) HWY_DYNAMIC_DISPATCH(forward_float)
    (packed(), x.data(), h.data(), c.data(), lanes, h_new.data(), c_new.data(), gates.data());
    else HWY_DYNAMIC_DISPATCH(forward_double)(packed(), x.data(), h.data(), c.data(), lanes,
                                              h_new.data(), c_new.data(), gates.data());
  }
  // h' and c' by the equations of nn/lstm.hpp, for one unit and lane.
  std::pair<double, double> expected(int u, int lane) const {
    const int n = layout.hidden;
    const auto number = [](const Buffer<T>& from, std::ptrdiff_t at) {
      return static_cast<double>(from[static_cast<std::size_t>(at)]);
    };
    double sum[4];
    for (int gate = 0; gate < 4; ++gate) {
      const int row = gate * n + u;
      sum[gate] = number(values, layout.bias_ih + row) + number(values, layout.bias_hh + row);
      for (int k = 0; k < layout.input; ++k)
        sum[gate] +=
            number(values, layout.weight_ih + row * layout.input + k) * number(x, k * lanes + lane);
      for (int k = 0; k < n; ++k)
        sum[gate] += number(values, layout.weight_hh + row * n + k) * number(h, k * lanes + lane);
    }
    const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
    const double cell =
        sigmoid(sum[1]) * number(c, u * lanes + lane) + sigmoid(sum[0]) * std::tanh(sum[2]);
    return {sigmoid(sum[3]) * std::tanh(cell), cell};
  }
};

template <typename T>
void expect_equations(int input, int hidden, int lanes, double tolerance) {
  LstmCase<T> at(input, hidden, lanes);
  at.run();
  for (int u = 0; u < hidden; ++u)
    for (int lane = 0; lane < lanes; ++lane) {
      const auto i = static_cast<std::size_t>(u * lanes + lane);
      const auto [h, c] = at.expected(u, lane);
      ASSERT_NEAR(static_cast<double>(at.h_new[i]), h, tolerance)
          << "h of unit " << u << " of " << hidden << ", lane " << lane;
      ASSERT_NEAR(static_cast<double>(at.c_new[i]), c, tolerance)
          << "c of unit " << u << " of " << hidden << ", lane " << lane;
    }
}

TEST(Lstm, FollowsItsEquations) {
  for_each_isa([] {
    for (const int hidden : {1, 2, 5, 8, 11, 64})
      for (const int input : {1, 4}) {
        expect_equations<double>(input, hidden, 16, 1e-13);
        expect_equations<float>(input, hidden, 48, 1e-5);
      }
  });
}

TEST(Lstm, AdjointMatchesCentralDifferences) {
  for_each_isa([] {
    LstmCase<double> at(3, 7, 16);
    RandomStream random(2, "weights of the loss");
    Buffer<double> d_h(at.h.size()), d_c(at.h.size());
    for (double& w : d_h.span()) w = random.normal();
    for (double& w : d_c.span()) w = random.normal();
    const std::vector<double> weights_h(d_h.span().begin(), d_h.span().end());
    const std::vector<double> weights_c(d_c.span().begin(), d_c.span().end());
    const auto loss = [&] {
      at.run();
      return weighted_sum(weights_h, at.h_new.span()) + weighted_sum(weights_c, at.c_new.span());
    };
    loss();
    HWY_DYNAMIC_DISPATCH(backward_double)
    (at.packed(), at.c.data(), at.c_new.data(), at.lanes, at.gates.data(), d_h.data(), d_c.data());

    // The weight gradients the tape promises: d_W_hh = a h', d_W_ih = a x'.
    const nn::LstmLayout& layout = at.layout;
    std::vector<double> gradient(at.values.size(), 0.0);
    const auto add = [&](std::ptrdiff_t to, double value) {
      gradient[static_cast<std::size_t>(to)] += value;
    };
    for (int row = 0; row < 4 * layout.hidden; ++row)
      for (int lane = 0; lane < at.lanes; ++lane) {
        const double a = at.gates[static_cast<std::size_t>(row * at.lanes + lane)];
        for (int k = 0; k < layout.hidden; ++k)
          add(layout.weight_hh + row * layout.hidden + k,
              a * at.h[static_cast<std::size_t>(k * at.lanes + lane)]);
        for (int k = 0; k < layout.input; ++k)
          add(layout.weight_ih + row * layout.input + k,
              a * at.x[static_cast<std::size_t>(k * at.lanes + lane)]);
        add(layout.bias_hh + row, a);
        add(layout.bias_ih + row, a);
      }
    check_gradient(loss,
                   {{"h", at.h.span(), d_h.span(), 0},
                    {"c", at.c.span(), d_c.span(), 0},
                    {"weights", at.values.span(), gradient, 0}},
                   31);
  });
}

}  // namespace
}  // namespace kalmia::test
#endif
