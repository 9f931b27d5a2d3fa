// The likelihood of training data under a static model, as a function of what is learned of it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/batch.hpp"
#include "kalman/constant_system.hpp"
#include "train/training_data.hpp"
#include "train/variables.hpp"

namespace kalmia::train {

/// Up to this many states the process noise may correlate those of different channels.
inline constexpr int kMostCorrelated = 16;

/// What is learned of the expert's constants: its parameters without regularisation.
enum class Constants { Learned, Held };

/// Half the engine's nll per measured value, plus the regularisation of the expert's parameters
/// towards where they started and of process noise that is suspiciously small: the negative log
/// posterior, per value. Variables, in this order: the free entries of L, the expert's learned
/// parameters, the measurement noise.
///
/// Of a state whose L_nn is below small[n],
///
///   the pull is t^2 / (1 + t),   t = log(small[n] / L_nn):
///
/// in the end as log(1 / L_nn), the weakest that keeps Q from being singular. Little data often
/// cannot tell a small process noise from none; none is then the most likely, and a filter that
/// believes it is lost sooner or later.
///
/// Where what is measured is no linear function of the states, the first steps of a segment do not
/// count, 32 at most: a filter that starts far from the state linearises there, and takes a while
/// to find it. Measured on a double pendulum (positions to a hundredth of its length) in segments
/// of 512 steps: their starts were nine tenths of the loss, and the search served them alone.
///
/// Autoregressions, alone and in sums, with independent noise and steps of one length are computed
/// by kalman::ConstantLikelihood: the same likelihood, at a cost that grows with the square of the
/// lags.
class StaticLikelihood {
 public:
  /// `model`: static, in double; it is given the variables' values. `weighted`: the segments with
  /// weights of their own, which then are all there is to weigh (infer::RunSettings); empty: the
  /// data's. All must outlive this object.
  StaticLikelihood(model::LearnedModel<double>& model, const NoiseFactor& noise,
                   const ScaledData& data, const std::vector<StepRange>& segments, ThreadTeam& team,
                   std::vector<double> small, std::span<const infer::SeriesView> weighted = {},
                   Constants constants = Constants::Learned);

  /// The variables of the model as it stands, but with an L that is `ratio` times as large.
  std::vector<double> start(double ratio = 1) const;
  int size() const { return noise_begin() + noise_.size(); }
  /// A sizeable step of each variable: of a diagonal entry of L what makes it e times as large,
  /// of the others the diagonal entry of their row, of a constant its size (BoundedVariable).
  std::vector<double> sizes(std::span<const double> variables) const;
  /// Lets the variables of the constants (Constants) begin at these values of all the map's
  /// parameters, in units of their sizes there.
  void begin_constants_at(const std::vector<double>& theta);
  /// Which of the map's parameters are constants that are learned, and the variable of each.
  struct Constant {
    std::size_t parameter = 0, variable = 0;
  };
  std::vector<Constant> constants() const;
  /// How many measured values count.
  double values() const { return measured_.values; }
  /// d value / d variable of a constant.
  double slope_of(const Constant& constant, std::span<const double> variables) const;
  /// Whether a constant has come within a small share of its range, or of its given value, to a
  /// bound.
  bool near_bound(const Constant& constant, std::span<const double> variables) const;
  /// Where the variables of the noise begin.
  int noise_begin() const { return static_cast<int>(L_.size() + theta_.size()); }

  /// Gives the model these variables' values. Throws ConfigError if its R is none.
  void set(std::span<const double> variables);
  /// The value, NaN where it cannot be computed, and its gradient.
  double operator()(std::span<const double> variables, std::span<double> gradient);
  /// The mean negative log-likelihood of a value in the user's units, of such a value.
  double loss(double value) const { return measured_.loss(2 * value * measured_.values); }

 private:
  struct LearnedParameter {
    std::size_t index = 0;  // in theta
    BoundedVariable variable;
    double centre = 0, prior_std = 0;
  };
  /// The entries of F that can differ from zero, of what ConstantLikelihood is for; else none.
  std::vector<kalman::MatrixEntry> constant_entries(const ScaledData& data, bool weighted) const;
  void prepare_constant(const ScaledData& data, const std::vector<StepRange>& segments,
                        ThreadTeam& team);
  /// As BatchEngine::gradient.
  double constant_gradient(double scale);
  void fill(const ScaledData& data, const std::vector<StepRange>& segments,
            std::span<const infer::SeriesView> weighted);

  model::LearnedModel<double>& model_;
  const NoiseFactor& noise_;
  std::vector<std::size_t> L_;         // places in the parameter block
  std::vector<int> row_;               // of each of them
  std::vector<std::size_t> diagonal_;  // of L, places among the variables
  std::vector<double> small_;          // by state
  std::vector<LearnedParameter> theta_;
  std::vector<heads::StateGroup<double>> groups_;
  std::unique_ptr<engine::BatchEngine<heads::StateGroup<double>>> engine_;
  std::vector<kalman::MatrixEntry> entries_;
  std::unique_ptr<kalman::ConstantLikelihood> constant_;  // in place of the engine
  std::vector<double> gradient_, d_R_, d_theta_;
  Measured measured_;
};

}  // namespace kalmia::train
