// The engine against LibTorch's autograd: same weights, same data; loss, moments and every
// gradient.
//
// In both precisions the oracle is float64 throughout. The engine with double networks must agree
// to rounding; with float networks it reads the same (float) weights and inputs, so that the
// difference is the error of its own arithmetic, which is what a user of float pays.
//
// Measured: 6e-15 in double, 2.3e-6 in float at worst over all tensors and instruction sets.

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "engine/batch.hpp"
#include "nn/adam.hpp"
#include "prior/expert.hpp"
#include "support/encoders.hpp"
#include "support/expert_spec.hpp"
#include "support/isas.hpp"
#include "support/lane_groups.hpp"
#include "support/window_case.hpp"
#include "torch/torch_model.hpp"

namespace kalmia::heads {
namespace {

using test::Tensor;
using test::WindowCase;
using test::WindowFeatures;
using test::WindowResult;

constexpr int kSteps = 35;  // three chunks of weight gradients, the last one short
constexpr double kDt = 0.02;

/// Lorenz: the paper's second-order Taylor series.
enum class Expert { None, Wavy, Lorenz };

struct Shape {
  int state_dim, meas_dim;
  int lanes, used;  // lanes of the group, and how many of them hold a sequence
  int hidden;
  std::vector<int> decoder;
  Expert expert;
  WindowFeatures features;
};

std::vector<Shape> shapes() {
  const WindowFeatures plain;
  const WindowFeatures all{.missing = true, .uneven = true, .carried = true, .centre = true};
  WindowFeatures off_centre = all;
  off_centre.centre = false;
  return {
      {3, 3, 16, 5, 10, {7}, Expert::Lorenz, all},
      {3, 3, 32, 32, 16, {9, 5}, Expert::Lorenz, plain},
      {6, 2, 32, 32, 9, {8}, Expert::Wavy, off_centre},
      {4, 1, 48, 40, 7, {}, Expert::None, all},
      {16, 1, 16, 5, 12, {10}, Expert::Wavy, all},
      {2, 3, 48, 40, 11, {6, 7}, Expert::Wavy, off_centre},
  };
}

test::TorchMap torch_map(Expert expert, const test::WavyMap* wavy) {
  if (expert == Expert::None) return {};
  if (expert == Expert::Wavy) {
    const int N = wavy->state_dim();
    Tensor A = torch::zeros({N, N}, torch::kFloat64), B = A.clone();
    Tensor c = torch::zeros({N}, torch::kFloat64);
    for (int i = 0; i < N; ++i) {
      c[i] = wavy->e(i, 0);
      for (int j = 0; j < N; ++j) {
        A[i][j] = wavy->F(i, j, 0);
        B[i][j] = wavy->F(i, j, std::numbers::pi / 2) - wavy->F(i, j, 0);
      }
    }
    return [=](const Tensor& x) {
      return std::pair{A + B * torch::sin(x).unsqueeze(1), c * torch::cos(x)};
    };
  }
  // A(x) = [-10, 10, 0; 28 - x3, -1, 0; x2, 0, -8/3], frozen over the step.
  return [](const Tensor& x) {
    const auto batch = x.size(0);
    const auto constant = [&](double value) {
      return torch::full({batch}, value, torch::kFloat64);
    };
    const Tensor none = constant(0);
    const Tensor A = torch::stack({constant(-10), constant(10), none, 28 - x.select(1, 2),
                                   constant(-1), none, x.select(1, 1), none, constant(-8.0 / 3)},
                                  1)
                         .reshape({batch, 3, 3});
    const Tensor F = torch::eye(3, torch::kFloat64) + kDt * A + kDt * kDt / 2 * torch::matmul(A, A);
    return std::pair{F, torch::zeros_like(x)};
  };
}

/// `got` equals `wanted` to `tolerance` relative to the norm of `wanted`; zero if that is zero.
void expect_close(const std::string& name, const Tensor& got, const Tensor& wanted,
                  double tolerance) {
  ASSERT_EQ(got.sizes(), wanted.sizes()) << name;
  const double norm = wanted.norm().item<double>();
  const double error = (got - wanted).norm().item<double>();
  EXPECT_LE(error, tolerance * norm) << name << ": relative error " << error / norm;
}

/// The adjoint of a covariance: only symmetric perturbations mean anything.
Tensor symmetric(const Tensor& A) { return (A + A.transpose(-1, -2)) / 2; }

/// What autograd left in a leaf; zero if the loss does not depend on it.
Tensor gradient_of(const Tensor& leaf) {
  return leaf.grad().defined() ? leaf.grad() : torch::zeros_like(leaf);
}

/// Everything the engine gave against the oracle's.
void compare(const Architecture& architecture, const WindowResult& result,
             const test::TorchModel& oracle, const test::TorchData& data,
             const test::TorchMoments& wanted, double tolerance) {
  const auto batch = static_cast<int>(data.y.size(1));
  const int N = architecture.state_dim();
  // Moments of the steps a lane has.
  const Tensor active =
      (data.length.unsqueeze(0) > torch::arange(kSteps).unsqueeze(1)).to(torch::kFloat64);
  const auto panel = [&](const char* name) {
    const test::ResultPanel& p = result.lane.at(name);
    return test::panel_tensor(p.values.data(), p.steps, p.rows, p.lanes, batch);
  };
  const auto moments = [&](const char* name, const Tensor& expected) {
    const Tensor mask = active.unsqueeze(2);
    expect_close(name, panel(name) * mask, expected.reshape({kSteps, batch, -1}).detach() * mask,
                 tolerance);
  };
  EXPECT_NEAR(result.loss, wanted.loss.item<double>(),
              tolerance * std::abs(wanted.loss.item<double>()));
  moments("x_pred", wanted.x_pred);
  moments("P_pred", wanted.P_pred);
  moments("x_filt", wanted.x_filt);
  moments("P_filt", wanted.P_filt);
  moments("nll", wanted.nll);

  // The carried state after the window, of lanes that had a step in it.
  const Tensor had = (data.length > 0).to(torch::kFloat64).unsqueeze(1);
  expect_close("carry.h", panel("carry.h")[0] * had, wanted.h.detach() * had, tolerance);
  expect_close("carry.x", panel("carry.x")[0] * had, wanted.x.detach() * had, tolerance);
  expect_close("carry.P", panel("carry.P")[0] * had,
               wanted.P.detach().reshape({batch, N * N}) * had, tolerance);

  // Gradients.
  for (const nn::ParameterView& view : architecture.parameters.views()) {
    const Tensor g = gradient_of(oracle.parameters.at(view.name));
    const Tensor got =
        torch::tensor(std::vector<double>(result.gradient.begin() + view.offset,
                                          result.gradient.begin() + view.offset + view.size()),
                      torch::kFloat64);
    EXPECT_GT(g.norm().item<double>(), 0) << view.name << ": a zero proves nothing";
    expect_close("d " + view.name, got, g.reshape({-1}), tolerance);
  }
  expect_close("d R", torch::tensor(result.d_R, torch::kFloat64),
               symmetric(gradient_of(oracle.R)).reshape({-1}), tolerance);
  expect_close("d h", panel("d_h")[0], gradient_of(data.h), tolerance);
  expect_close("d x", panel("d_x")[0], gradient_of(data.x), tolerance);
  expect_close("d P", panel("d_P")[0], symmetric(gradient_of(data.P)).reshape({batch, N * N}),
               tolerance);
}

/// Scales the rows of the decoder that make the residual F, so that the states of a large random
/// model do not run away: rounding would grow with them, and errors would say nothing of the code.
template <typename T>
void tame_residual(WindowCase<T>& c, double factor) {
  if (!c.architecture.options.recursive()) return;
  const nn::MlpLayout& decoder = c.architecture.decoder;
  const int rows = c.architecture.e_row(), inputs = decoder.widths[decoder.widths.size() - 2];
  const auto scale = [&](std::ptrdiff_t offset, int count) {
    for (int i = 0; i < count; ++i) {
      T& value = c.parameters[static_cast<std::size_t>(offset + i)];
      value = static_cast<T>(factor * static_cast<double>(value));
    }
  };
  scale(decoder.weight.back(), rows * inputs);
  scale(decoder.bias.back(), rows);
  c.pack();
}

/// Runs engine and oracle on one case and compares everything.
template <typename T>
void check_parity(const Shape& shape, HeadKind head, bool two_sided, nn::EncoderKind encoder,
                  double tolerance) {
  ArchitectureOptions options;
  options.state_dim = shape.state_dim;
  options.meas_dim = shape.meas_dim;
  options.input_dim = shape.meas_dim + 1;
  options.hidden = shape.hidden;
  options.decoder = shape.decoder;
  options.head = head;
  options.two_sided = two_sided;
  options.encoder = encoder;
  options.taps = 9;
  WindowFeatures features = shape.features;
  features.map = shape.expert == Expert::Wavy;
  WindowCase<T> c(options, features, kSteps, shape.lanes, 51);
  tame_residual(c, 2.0 / (2 + shape.state_dim));
  if (shape.used < shape.lanes) {
    c.group.length.resize(static_cast<std::size_t>(shape.lanes), kSteps);
    std::fill(c.group.length.begin() + shape.used, c.group.length.end(), 0);
  }
  const prior::Expert lorenz = prior::make_expert(test::named("lorenz"), {"y1", "y2", "y3"});
  StateModel<T> model = c.model();
  if (shape.expert == Expert::Lorenz) {
    model.map = lorenz.map.get();
    model.dt = kDt;
  }
  constexpr double kScale = 0.01;

  const test::TorchModel oracle = test::torch_model(c.architecture, c.parameters, c.emission,
                                                    torch_map(shape.expert, c.map.get()));
  const test::TorchData data = test::torch_data(c.architecture, c.group, shape.used);
  const test::TorchMoments wanted = test::torch_run(oracle, data);
  (wanted.loss * kScale).backward();

  test::for_each_isa([&] {
    c.pack();
    StateGroup<T> group = test::copy_of(c.architecture, c.group);
    StateWorkspace<T> workspace;
    workspace.prepare(model, kSteps, shape.lanes, true);
    const WindowResult result = test::run_window(model, group, workspace, kScale);
    ASSERT_TRUE(result.failures.empty());
    compare(c.architecture, result, oracle, data, wanted, tolerance);
  });
}

struct ModelKind {
  const char* name;
  HeadKind head;
  bool two_sided;
};
void PrintTo(const ModelKind& kind, std::ostream* out) { *out << kind.name; }

class TorchParity : public testing::TestWithParam<ModelKind> {
 protected:
  template <typename T>
  void check_all(double tolerance) {
    torch::set_num_threads(1);
    for (const Shape& shape : shapes()) {
      SCOPED_TRACE("N = " + std::to_string(shape.state_dim) +
                   ", M = " + std::to_string(shape.meas_dim) + ", " + std::to_string(shape.used) +
                   " of " + std::to_string(shape.lanes) + " lanes");
      test::for_each_encoder([&](nn::EncoderKind encoder) {
        check_parity<T>(shape, GetParam().head, GetParam().two_sided, encoder, tolerance);
      });
    }
  }
};

TEST_P(TorchParity, DoubleAgreesToRounding) { check_all<double>(1e-12); }
TEST_P(TorchParity, FloatAgreesToItsPrecision) { check_all<float>(1e-5); }

INSTANTIATE_TEST_SUITE_P(Models, TorchParity,
                         testing::Values(ModelKind{"RecursiveFilter", HeadKind::Recursion, false},
                                         ModelKind{"RecurrentFilter", HeadKind::Direct, false},
                                         ModelKind{"DiagonalFilter", HeadKind::Diagonal, false},
                                         ModelKind{"RecursiveSmoother", HeadKind::Recursion, true},
                                         ModelKind{"RecurrentSmoother", HeadKind::Direct, true}),
                         [](const auto& test) { return test.param.name; });

// Weights of a recurrent module of torch put into our block as they are: every hidden state agrees.
template <typename Module>
void expect_same_states(Module module, nn::EncoderKind encoder) {
  constexpr int kLanes = 16;
  ArchitectureOptions options;
  options.state_dim = 2;
  options.meas_dim = 1;
  options.input_dim = static_cast<int>(module->options.input_size());
  options.hidden = static_cast<int>(module->options.hidden_size());
  options.encoder = encoder;
  options.decoder = {4};
  WindowCase<double> c(options, {.carried = true}, kSteps, kLanes, 52);
  c.group.fresh.assign(kLanes, 0);
  module->to(torch::kFloat64);
  for (const auto& item : module->named_parameters()) {
    std::string name = std::string(nn::encoder_name(encoder)) + "_fwd." + item.key();
    name = name.substr(0, name.find("_l0"));
    const nn::ParameterView& view = c.architecture.parameters.at(name);
    const Tensor value = item.value().contiguous();
    ASSERT_EQ(value.numel(), view.size()) << name;
    std::copy_n(value.data_ptr<double>(), view.size(), c.parameters.data() + view.offset);
  }
  c.pack();
  const test::TorchData data = test::torch_data(c.architecture, c.group, kLanes);
  Tensor outputs;
  if constexpr (std::is_same_v<Module, torch::nn::LSTM>) {
    const std::vector<Tensor> start = data.h.unsqueeze(0).chunk(2, 2);
    outputs = std::get<0>(
        module->forward(data.input_fwd, std::tuple{start[0].contiguous(), start[1].contiguous()}));
  } else {
    outputs = std::get<0>(module->forward(data.input_fwd, data.h.unsqueeze(0)));
  }

  // Windows of one step, so that each h comes out as the carry.
  StateWorkspace<double> workspace;
  workspace.prepare(c.model(), 1, kLanes, false);
  StateInput<double> input = c.group.view();
  input.steps = 1;
  for (int k = 0; k < kSteps; ++k) {
    engine::window_forward(c.model(), input, c.group.carry, {}, workspace);
    expect_close("h at step " + std::to_string(k),
                 test::panel_tensor(c.group.carry.h.data(), 1, options.hidden, kLanes, kLanes)[0],
                 outputs[k].detach(), 1e-13);
    input.input_fwd += options.input_dim * kLanes;
    input.y += kLanes;
  }
}

TEST(TorchGru, WeightsCanBeExchanged) {
  torch::manual_seed(3);
  expect_same_states(torch::nn::GRU(torch::nn::GRUOptions(3, 13)), nn::EncoderKind::Gru);
}
TEST(TorchLstm, WeightsCanBeExchanged) {
  torch::manual_seed(4);
  expect_same_states(torch::nn::LSTM(torch::nn::LSTMOptions(3, 13)), nn::EncoderKind::Lstm);
}

// A recurrent model whose decoder copies h to e shows h as x[k|<k]: h of a whole series against
// what a module of torch makes of it. The series begins with the input of step 1.
struct ShownStates {
  static constexpr int kLanes = 16, kInput = 3;
  WindowCase<double> c;

  ShownStates(nn::EncoderKind encoder, int hidden, int taps)
      : c(options(encoder, hidden, taps), {.map = false}, kSteps, kLanes, 54) {
    put("decoder.0.weight", torch::eye(hidden, torch::kFloat64));
    put("decoder.0.bias", torch::zeros({hidden}, torch::kFloat64));
  }
  static ArchitectureOptions options(nn::EncoderKind encoder, int hidden, int taps) {
    ArchitectureOptions options;
    options.state_dim = options.hidden = hidden;
    options.meas_dim = 1;
    options.input_dim = kInput;
    options.encoder = encoder;
    options.taps = taps;
    options.decoder = {};
    options.head = HeadKind::Direct;
    return options;
  }
  void put(const std::string& name, const Tensor& value) {
    const nn::ParameterView& view = c.architecture.parameters.at(name);
    const Tensor flat = value.contiguous();
    ASSERT_LE(flat.numel(), view.size()) << name;  // the decoder puts out more than e
    std::copy_n(flat.data_ptr<double>(), flat.numel(), c.parameters.data() + view.offset);
  }
  Tensor get(const std::string& name) const {
    const nn::ParameterView& view = c.architecture.parameters.at(name);
    const std::vector<double> values(c.parameters.data() + view.offset,
                                     c.parameters.data() + view.offset + view.size());
    const Tensor flat = torch::tensor(values, torch::kFloat64);
    return view.cols == 1 ? flat : flat.reshape({view.rows, view.cols});
  }
  /// The inputs: batch x steps x input.
  Tensor series() const {
    const test::TorchData data = test::torch_data(c.architecture, c.group, kLanes);
    return data.input_fwd.slice(0, 1).permute({1, 0, 2});
  }
  /// `h` is batch x steps x hidden.
  void expect(const Tensor& h) {
    ASSERT_EQ(c.architecture.e_row(), 0);
    c.pack();
    StateWorkspace<double> workspace;
    workspace.prepare(c.model(), kSteps, kLanes, false);
    const WindowResult result = test::run_window(c.model(), c.group, workspace);
    const test::ResultPanel& x_pred = result.lane.at("x_pred");
    const int hidden = c.architecture.options.hidden;
    expect_close(
        "h", test::panel_tensor(x_pred.values.data(), kSteps, hidden, kLanes, kLanes).slice(0, 1),
        h.permute({1, 0, 2}).detach(), 1e-13);
  }
};

// torch::nn::Conv1d with zeros before the series, its weight permuted.
TEST(TorchConv, WeightsCanBeExchanged) {
  constexpr int kHidden = 7, kTaps = 5;
  torch::manual_seed(5);
  ShownStates shown(nn::EncoderKind::Conv, kHidden, kTaps);
  torch::nn::Conv1d conv(torch::nn::Conv1dOptions(ShownStates::kInput, kHidden, kTaps));
  conv->to(torch::kFloat64);
  shown.put("conv_fwd.weight", conv->weight.permute({0, 2, 1}));
  shown.put("conv_fwd.bias", conv->bias);
  const Tensor padded = torch::constant_pad_nd(shown.series().transpose(1, 2), {kTaps - 1, 0});
  shown.expect(torch::tanh(conv->forward(padded)).transpose(1, 2));
}

// torch::nn::MultiheadAttention over the whole series, with a mask that holds the positions' biases
// and lets each step see the last taps.
TEST(TorchTransformer, WeightsCanBeExchanged) {
  constexpr int kHidden = 8, kTaps = 5, kHeads = 2;
  torch::manual_seed(6);
  ShownStates shown(nn::EncoderKind::Transformer, kHidden, kTaps);
  torch::nn::MultiheadAttention attention(torch::nn::MultiheadAttentionOptions(kHidden, kHeads));
  attention->to(torch::kFloat64);
  const auto name = [](const char* parameter) {
    return "transformer_fwd." + std::string(parameter);
  };
  {
    torch::NoGradGuard constant;
    attention->in_proj_bias.uniform_(-1, 1);
    attention->in_proj_bias.slice(0, kHidden).zero_();  // keys and values have none
    attention->out_proj->bias.uniform_(-1, 1);
  }
  shown.put(name("query.weight"), attention->in_proj_weight.slice(0, 0, kHidden));
  shown.put(name("query.bias"), attention->in_proj_bias.slice(0, 0, kHidden));
  shown.put(name("key_value.weight"), attention->in_proj_weight.slice(0, kHidden));
  shown.put(name("output.weight"), attention->out_proj->weight);
  shown.put(name("output.bias"), attention->out_proj->bias);
  // The module has one mask for all heads, so theirs are alike here.
  const Tensor position = torch::randn({kTaps}, torch::kFloat64);
  shown.put(name("position"), position.expand({kHeads, kTaps}));

  const Tensor series = shown.series();
  const std::int64_t steps = series.size(1);
  Tensor mask =
      torch::full({steps, steps}, -std::numeric_limits<double>::infinity(), torch::kFloat64);
  for (int k = 0; k < steps; ++k)
    for (int lag = 0; lag < std::min(kTaps, k + 1); ++lag) mask[k][k - lag] = position[lag];
  const auto norm = [](const Tensor& v) { return torch::layer_norm(v, {kHidden}, {}, {}, 1e-5); };
  const auto linear = [&](const char* layer, const Tensor& in) {
    return torch::linear(in, shown.get(name(layer) + ".weight"), shown.get(name(layer) + ".bias"));
  };
  const Tensor u = linear("embed", series);
  const Tensor in = norm(u).transpose(0, 1);  // steps x batch x hidden
  const Tensor heard = std::get<0>(attention->forward(in, in, in, {}, false, mask));
  const Tensor r = u + heard.transpose(0, 1);
  shown.expect(torch::tanh(r + linear("contract", torch::tanh(linear("expand", norm(r))))));
}

// torch::nn::Conv1d with dilation, layer by layer, with zeros before each.
TEST(TorchTcn, WeightsCanBeExchanged) {
  constexpr int kHidden = 7, kTaps = 8;
  torch::manual_seed(7);
  ShownStates shown(nn::EncoderKind::Tcn, kHidden, kTaps);
  Tensor z = torch::linear(shown.series(), shown.get("tcn_fwd.embed.weight"),
                           shown.get("tcn_fwd.embed.bias"))
                 .transpose(1, 2);  // batch x hidden x steps
  for (int layer = 0; layer < 3; ++layer) {
    const int dilation = 1 << layer;
    torch::nn::Conv1d conv(torch::nn::Conv1dOptions(kHidden, kHidden, 2).dilation(dilation));
    conv->to(torch::kFloat64);
    const std::string name = "tcn_fwd." + std::to_string(layer);
    shown.put(name + ".older", conv->weight.select(2, 0));
    shown.put(name + ".newer", conv->weight.select(2, 1));
    shown.put(name + ".bias", conv->bias);
    z = z + torch::tanh(conv->forward(torch::constant_pad_nd(z, {dilation, 0})));
  }
  shown.expect(torch::tanh(z).transpose(1, 2));
}

// Twenty training steps with clipping on both sides end at the same parameters.
template <typename Optimizer>
void train_both(Optimizer& optimizer, const test::TorchModel& oracle,
                const std::vector<Tensor>& leaves, WindowCase<double>& c,
                const nn::AdamOptions& adam_options) {
  const double scale = 1.0 / static_cast<double>(c.group.y.size());
  nn::Adam<double> adam(c.architecture.parameters.size(), adam_options);
  const test::TorchData data = test::torch_data(c.architecture, c.group, c.group.lanes);
  StateWorkspace<double> workspace;
  workspace.prepare(c.model(), c.group.steps, c.group.lanes, true);
  int clipped = 0;
  double first_loss = 0, last_loss = 0;
  for (int step = 0; step < 20; ++step) {
    optimizer.zero_grad();
    (test::torch_run(oracle, data).loss * scale).backward();
    torch::nn::utils::clip_grad_norm_(leaves, adam_options.clip_norm);
    optimizer.step();

    c.pack();
    auto group = test::copy_of(c.architecture, c.group);
    const double loss =
        engine::window_forward(c.model(), group.view(), group.carry, {}, workspace) * scale;
    engine::window_backward(c.model(), group.view(), scale, workspace);
    const nn::AdamStep done = adam.step(workspace.gradient.span(), c.parameters.span());
    ASSERT_TRUE(done.applied);
    clipped += done.gradient_norm > adam_options.clip_norm ? 1 : 0;
    if (step == 0) first_loss = loss;
    last_loss = loss;
  }
  EXPECT_GT(clipped, 0) << "clipping was never seen at work";
  EXPECT_LT(clipped, 20) << "clipping was always at work";
  EXPECT_LT(last_loss, first_loss);
  for (const nn::ParameterView& view : c.architecture.parameters.views()) {
    const Tensor got =
        torch::from_blob(c.parameters.data() + view.offset, {view.size()}, torch::kFloat64);
    expect_close(view.name, got, oracle.parameters.at(view.name).detach().reshape({-1}), 1e-12);
  }
}

class TorchAdam : public testing::Test {
 protected:
  TorchAdam() : c(options(), {.missing = true, .uneven = true, .centre = true}, 24, 16, 53) {
    torch::set_num_threads(1);
    oracle = test::torch_model(c.architecture, c.parameters, c.emission,
                               torch_map(Expert::Wavy, c.map.get()));
    for (const nn::ParameterView& view : c.architecture.parameters.views())
      leaves.push_back(oracle.parameters.at(view.name));
  }
  static ArchitectureOptions options() {
    ArchitectureOptions options;
    options.state_dim = 3;
    options.meas_dim = 2;
    options.input_dim = 2;
    options.hidden = 8;
    options.decoder = {8};
    return options;
  }
  WindowCase<double> c;
  test::TorchModel oracle;
  std::vector<Tensor> leaves;
};

TEST_F(TorchAdam, TwentyTrainingStepsAgree) {
  const nn::AdamOptions adam{.learning_rate = 1e-2, .clip_norm = 0.2};
  torch::optim::Adam optimizer(leaves, torch::optim::AdamOptions(adam.learning_rate));
  train_both(optimizer, oracle, leaves, c, adam);
}

TEST_F(TorchAdam, TwentyTrainingStepsWithDecoupledWeightDecayAgree) {
  const nn::AdamOptions adam{.learning_rate = 1e-2, .weight_decay = 0.3, .clip_norm = 0.2};
  torch::optim::AdamW optimizer(
      leaves, torch::optim::AdamWOptions(adam.learning_rate).weight_decay(adam.weight_decay));
  train_both(optimizer, oracle, leaves, c, adam);
}

}  // namespace
}  // namespace kalmia::heads
