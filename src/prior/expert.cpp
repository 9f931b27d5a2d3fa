#include "prior/expert.hpp"

#include <Eigen/Dense>

#include "kalmia/error.hpp"
#include "prior/linear_map.hpp"
#include "prior/linear_motion.hpp"
#include "prior/lorenz_matrix.hpp"
#include "prior/taylor_map.hpp"

namespace kalmia::prior {
namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int kHighestOrder = 20;
const char* const kDerivativeSuffix[] = {"", "_rate", "_acceleration"};

std::shared_ptr<const kalman::TransitionMap> linear_map(const RowMatrix& F) {
  return std::make_shared<LinearMap>(static_cast<int>(F.rows()),
                                     std::vector<double>(F.data(), F.data() + F.size()));
}

// `block` once for each channel; its first state is measured.
Expert per_channel(const std::string& name, const std::vector<std::string>& channels,
                   const RowMatrix& block) {
  const int size = static_cast<int>(block.rows());
  const int M = static_cast<int>(channels.size());
  Expert expert;
  expert.name = name;
  RowMatrix F = RowMatrix::Zero(M * size, M * size);
  for (int m = 0; m < M; ++m) {
    expert.measured_state.push_back(m * size);
    F.block(m * size, m * size, size, size) = block;
    for (int d = 0; d < size; ++d) {
      expert.states.push_back({m, d});
      expert.state_names.push_back(channels[static_cast<std::size_t>(m)] + kDerivativeSuffix[d]);
    }
  }
  expert.map = linear_map(F);
  return expert;
}

// The value moves on with its derivatives: entry (i, j) is 1 / (j - i)!.
Expert motion(const std::string& name, const std::vector<std::string>& channels, int derivatives) {
  RowMatrix block = RowMatrix::Identity(derivatives + 1, derivatives + 1);
  for (int i = 0; i <= derivatives; ++i)
    for (int j = i + 1; j <= derivatives; ++j) block(i, j) = block(i, j - 1) / (j - i);
  return per_channel(name, channels, block);
}

void require_channels(const std::string& name, std::size_t found, std::size_t needed) {
  if (found != needed)
    throw ConfigError("prior " + name + " has " + std::to_string(needed) +
                      " measured channels, but the data have " + std::to_string(found) +
                      "; name the columns with measure");
}

Expert lorenz(int order, double dt, const std::vector<std::string>& channels) {
  require_channels("lorenz", channels.size(), 3);
  Expert expert;
  expert.name = "lorenz";
  expert.state_names = channels;
  expert.states = {{0, 0}, {1, 0}, {2, 0}};
  expert.measured_state = {0, 1, 2};
  expert.physical = true;
  expert.map =
      std::make_shared<TaylorMap>(order == 0 ? 2 : order, dt, std::make_shared<LorenzMatrix>());
  return expert;
}

// Paper: Sec. 8.1, F = sum over i <= order of (dt A)^i / i!.
Expert linear_motion(int order, double dt, const std::vector<std::string>& channels) {
  require_channels("linear-motion", channels.size(), 2);
  RowMatrix A(3, 3);
  A << 0, 1, 0,               //
      0, -kLinearMotionC, 1,  //
      0, -kLinearMotionTau, 0;
  RowMatrix block = RowMatrix::Identity(3, 3);
  RowMatrix term = block;
  for (int i = 1; i <= (order == 0 ? 1 : order); ++i) {
    term = term * A * (dt / i);
    block += term;
  }
  Expert expert = per_channel("linear-motion", channels, block);
  expert.physical = true;
  return expert;
}

}  // namespace

std::vector<double> Expert::emission() const {
  std::vector<double> H(measured_state.size() * states.size());
  for (std::size_t m = 0; m < measured_state.size(); ++m)
    H[m * states.size() + static_cast<std::size_t>(measured_state[m])] = 1;
  return H;
}

const std::vector<std::string>& expert_names() {
  static const std::vector<std::string> names = {
      "constant-position", "constant-velocity", "constant-acceleration", "lorenz", "linear-motion"};
  return names;
}

const std::vector<std::string>& automatic_experts() {
  static const std::vector<std::string> names = {"constant-position", "constant-velocity"};
  return names;
}

Expert make_expert(const std::string& name, int order, double dt,
                   const std::vector<std::string>& channels) {
  if (order < 0 || order > kHighestOrder)
    throw ConfigError("order = " + std::to_string(order) + ", but it must be in 0.." +
                      std::to_string(kHighestOrder));
  if (name == "constant-position") return motion(name, channels, 0);
  if (name == "constant-velocity") return motion(name, channels, 1);
  if (name == "constant-acceleration") return motion(name, channels, 2);
  if (name == "lorenz") return lorenz(order, dt, channels);
  if (name == "linear-motion") return linear_motion(order, dt, channels);
  std::string known;
  for (const std::string& each : expert_names()) known += ", " + each;
  throw ConfigError("prior = \"" + name + "\", but it must be one of auto" + known);
}

}  // namespace kalmia::prior
