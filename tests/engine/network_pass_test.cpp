// The networks of a window: against the naive computation, and their adjoint.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "engine/row_case.hpp"
#include "support/encoders.hpp"
#include "support/gradient_check.hpp"
#include "support/isas.hpp"
#include "support/lane_groups.hpp"

namespace kalmia::test {
namespace {

constexpr int kSteps = 19;  // more than one chunk of weight gradients

// The rows of one lane, the positive ones behind the others.
template <typename T>
std::vector<Vector> naive_rows(const RowCase<T>& c, int lane) {
  reference::Model model;
  model.networks = &c.layout;
  for (const T p : c.parameters.span()) model.parameters.push_back(static_cast<double>(p));
  const int inputs = c.layout.networks.input_dim, H = c.layout.networks.hidden;
  const auto column = [&](const Buffer<T>& panels, int k, int rows) {
    Vector v(rows);
    for (int row = 0; row < rows; ++row)
      v(row) = static_cast<double>(panels[panel_at(k, rows, row, RowCase<T>::kLanes, lane)]);
    return v;
  };
  const auto own = static_cast<std::size_t>(lane);
  const int K = c.length[own];
  std::vector<Vector> h(static_cast<std::size_t>(K), Vector::Zero(c.layout.directions() * H));
  const bool fresh = c.fresh[own] != 0;
  const int remembered = c.layout.encoder_state_rows();
  Vector state = fresh ? Vector::Zero(remembered).eval() : column(c.start.h, 0, remembered);
  // Where a series starts nothing was read yet; backwards nothing is read at the last step.
  for (int k = fresh ? 1 : 0; k < K; ++k)
    h[static_cast<std::size_t>(k)].head(H) =
        reference::encode(model, "_fwd", column(c.input_fwd, k, inputs), state);
  state = Vector::Zero(remembered);
  for (int k = K - 2; k >= 0 && c.layout.networks.two_sided; --k)
    h[static_cast<std::size_t>(k)].tail(H) =
        reference::encode(model, "_bwd", column(c.input_bwd, k, inputs), state);
  std::vector<Vector> rows;
  for (const Vector& each : h) {
    const Vector out = reference::decode(model, each);
    Vector& all = rows.emplace_back(out.size() + 2);
    all.head(out.size()) = out;
    all(out.size()) = std::log1p(std::exp(out(1)));
    all(out.size() + 1) = std::log1p(std::exp(out(4)));
  }
  return rows;
}

template <typename T>
void expect_naive(nn::EncoderKind encoder, bool two_sided, double tolerance) {
  RowCase<T> c(encoder, two_sided, kSteps, 61);
  RowWorkspace<T> workspace = c.workspace(false);
  RowCarry<T> carry = c.carry();
  std::vector<T> rows(static_cast<std::size_t>(kSteps * 7 * RowCase<T>::kLanes));
  engine::window_forward(c.model(), c.input(), carry, {rows.data()}, workspace);
  for (int lane = 0; lane < RowCase<T>::kLanes; ++lane) {
    const std::vector<Vector> expected = naive_rows(c, lane);
    for (int k = 0; k < c.length[static_cast<std::size_t>(lane)]; ++k)
      for (int i = 0; i < 7; ++i)
        ASSERT_NEAR(static_cast<double>(rows[panel_at(k, 7, i, RowCase<T>::kLanes, lane)]),
                    expected[static_cast<std::size_t>(k)](i), tolerance)
            << "lane " << lane << ", step " << k << ", row " << i;
  }
}

TEST(NetworkPass, MatchesTheNaiveComputation) {
  for_each_isa([] {
    for_each_encoder([](nn::EncoderKind encoder) {
      for (const bool two_sided : {false, true}) {
        // The activations are polynomials, good to 1e-9 or so in double.
        expect_naive<double>(encoder, two_sided, 1e-8);
        expect_naive<float>(encoder, two_sided, 1e-5);
      }
    });
  });
}

void expect_adjoint(const engine::NetworkOptions& options) {
  RowCase<double> c(options, kSteps, 62);
  RowWorkspace<double> workspace = c.workspace(true);
  constexpr double kScale = 0.3;
  const auto loss = [&] {
    c.pack();
    RowCarry<double> carry = c.carry();
    return kScale * engine::window_forward(c.model(), c.input(), carry, {}, workspace);
  };
  loss();
  engine::window_backward(c.model(), c.input(), kScale, workspace);
  const std::vector<double> gradient = in_double(workspace.gradient);
  const std::vector<double> d_h = in_double(workspace.d_h);
  // A short difference: it must not step over the kinks of the decoder's ReLU.
  check_gradient(
      loss,
      {{"parameters", c.parameters.span(), gradient, 0}, {"carried h", c.start.h.span(), d_h, 0}},
      63, {.step = 1e-6});
}

TEST(NetworkPass, AdjointMatchesCentralDifferences) {
  for_each_isa([] {
    for_each_encoder([](nn::EncoderKind encoder) {
      for (const bool two_sided : {false, true})
        expect_adjoint(RowCase<double>::options(encoder, two_sided));
    });
  });
}

// One tap, which carries nothing, more taps than a window has steps, and several heads.
TEST(NetworkPass, AdjointMatchesCentralDifferencesAtOtherSizes) {
  for_each_encoder([](nn::EncoderKind encoder) {
    for (const int taps : {1, 2, 5, kSteps + 3})
      for (const bool two_sided : {false, true}) {
        SCOPED_TRACE(std::to_string(taps) + " taps");
        engine::NetworkOptions options = RowCase<double>::options(encoder, two_sided);
        options.taps = taps;
        options.hidden = 16;
        expect_adjoint(options);
      }
  });
}

}  // namespace
}  // namespace kalmia::test
