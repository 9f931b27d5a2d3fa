#include "prior/expert.hpp"

#include <Eigen/Dense>

#include "kalman/matrix_checks.hpp"
#include "kalmia/error.hpp"
#include "prior/linear_map.hpp"
#include "prior/linear_motion.hpp"
#include "prior/lorenz_matrix.hpp"
#include "prior/taylor_map.hpp"

namespace kalmia::prior {
namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int kHighestOrder = 20;
constexpr double kStartDamping = 0.95;
const char* const kDerivativeSuffix[] = {"", "_rate", "_acceleration"};

std::shared_ptr<const kalman::TransitionMap> linear_map(const RowMatrix& F) {
  return std::make_shared<LinearMap>(static_cast<int>(F.rows()),
                                     std::vector<double>(F.data(), F.data() + F.size()));
}

// One block a channel, all of one size; the first state of each is measured.
Expert per_channel(const std::string& name, const std::vector<std::string>& channels,
                   const std::vector<RowMatrix>& blocks) {
  const int size = static_cast<int>(blocks.at(0).rows());
  const int M = static_cast<int>(channels.size());
  Expert expert;
  expert.name = name;
  RowMatrix F = RowMatrix::Zero(M * size, M * size);
  for (int m = 0; m < M; ++m) {
    expert.measured_state.push_back(m * size);
    F.block(m * size, m * size, size, size) = blocks[static_cast<std::size_t>(m)];
    for (int d = 0; d < size; ++d) {
      expert.states.push_back({m, d});
      expert.state_names.push_back(channels[static_cast<std::size_t>(m)] + kDerivativeSuffix[d]);
    }
  }
  expert.map = linear_map(F);
  return expert;
}

// The value moves on with its derivatives: entry (i, j) is 1 / (j - i)!.
RowMatrix motion_block(int derivatives) {
  RowMatrix block = RowMatrix::Identity(derivatives + 1, derivatives + 1);
  for (int i = 0; i <= derivatives; ++i)
    for (int j = i + 1; j <= derivatives; ++j) block(i, j) = block(i, j - 1) / (j - i);
  return block;
}

Expert motion(const std::string& name, const std::vector<std::string>& channels, int derivatives) {
  return per_channel(name, channels,
                     std::vector<RowMatrix>(channels.size(), motion_block(derivatives)));
}

// The same with a factor on each diagonal entry: values return to their mean, rates to zero.
Expert damped(const std::string& name, const std::vector<std::string>& channels, int derivatives,
              std::vector<double> damping) {
  const std::size_t size = static_cast<std::size_t>(derivatives) + 1;
  const std::size_t N = channels.size() * size;
  if (damping.empty()) damping.assign(N, kStartDamping);
  if (damping.size() != N)
    throw ConfigError("prior " + name + " has " + std::to_string(N) + " states, but " +
                      std::to_string(damping.size()) + " factors of damping are given");
  std::vector<RowMatrix> blocks(channels.size(), motion_block(derivatives));
  for (std::size_t n = 0; n < N; ++n) {
    if (!(damping[n] > 0 && damping[n] < 1))
      throw ConfigError("prior " + name + ": a factor of damping is " +
                        kalman::number_text(damping[n]) + ", but it must be between 0 and 1");
    const auto d = static_cast<Eigen::Index>(n % size);
    blocks[n / size](d, d) = damping[n];
  }
  Expert expert = per_channel(name, channels, blocks);
  expert.damping = std::move(damping);
  return expert;
}

void require_channels(const std::string& name, std::size_t found, std::size_t needed) {
  if (found != needed)
    throw ConfigError("prior " + name + " has " + std::to_string(needed) +
                      " measured channels, but the data have " + std::to_string(found) +
                      "; name the columns with measure");
}

Expert lorenz(int order, const std::vector<std::string>& channels) {
  require_channels("lorenz", channels.size(), 3);
  Expert expert;
  expert.name = "lorenz";
  expert.state_names = channels;
  expert.states = {{0, 0}, {1, 0}, {2, 0}};
  expert.measured_state = {0, 1, 2};
  expert.physical = true;
  expert.map =
      std::make_shared<TaylorMap>(order == 0 ? 2 : order, std::make_shared<LorenzMatrix>());
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
  Expert expert = per_channel("linear-motion", channels, {block, block});
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
      "constant-position",     "mean-reverting", "constant-velocity", "damped-velocity",
      "constant-acceleration", "lorenz",         "linear-motion"};
  return names;
}

const std::vector<std::string>& automatic_experts() {
  static const std::vector<std::string> names = {"constant-position", "mean-reverting",
                                                 "constant-velocity", "damped-velocity"};
  return names;
}

Expert make_expert(const std::string& name, int order, double dt,
                   const std::vector<std::string>& channels, const std::vector<double>& damping) {
  if (order < 0 || order > kHighestOrder)
    throw ConfigError("order = " + std::to_string(order) + ", but it must be in 0.." +
                      std::to_string(kHighestOrder));
  if (name == "constant-position") return motion(name, channels, 0);
  if (name == "mean-reverting") return damped(name, channels, 0, damping);
  if (name == "damped-velocity") return damped(name, channels, 1, damping);
  if (name == "constant-velocity") return motion(name, channels, 1);
  if (name == "constant-acceleration") return motion(name, channels, 2);
  if (name == "lorenz") return lorenz(order, channels);
  if (name == "linear-motion") return linear_motion(order, dt, channels);
  std::string known;
  for (const std::string& each : expert_names()) known += ", " + each;
  throw ConfigError("prior = \"" + name + "\", but it must be one of auto" + known);
}

}  // namespace kalmia::prior
