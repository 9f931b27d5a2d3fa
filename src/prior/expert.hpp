// Expert knowledge ready to run: states, what is measured of them, their map and its parameters.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kalman/emission_map.hpp"
#include "kalman/transition_map.hpp"
#include "kalmia/system.hpp"
#include "prior/integration.hpp"
#include "prior/parts.hpp"
#include "prior/prior_kind.hpp"

namespace kalmia::prior {

/// States and measured channels of a model, at most.
inline constexpr int kMostStates = 128;

/// What a state of a channel is for.
enum class StateRole {
  Value,       ///< the channel's value, or what a part adds to it, or a derivative of that
  Remembered,  ///< an earlier value, which does not change
  Cycle,       ///< of a season: what it adds, and what will become of that
};

/// What kind of quantity a state is: the value of a measured channel, or a derivative of it by the
/// time step. `channel` is -1 for a state of a user's system that no channel measures alone.
struct StateKind {
  int channel = 0;
  int derivative = 0;  ///< 0 value, 1 rate, 2 acceleration
  int part = 0;        ///< of a sum: which of Expert::parts
  StateRole role = StateRole::Value;
  /// Its values lie about the channel's mean, as those of one part of a sum do; the others' lie
  /// about zero, as derivatives do.
  bool holds_mean = true;
};

/// A parameter of an expert and what is known of it before there are data.
struct ExpertParameter : Parameter {
  /// Standard deviation of its departure from `value`; infinite: no regularisation.
  double prior_std = std::numeric_limits<double>::infinity();
};

struct Expert {
  std::string name;
  std::vector<std::string> state_names;
  std::vector<StateKind> states;
  /// Names of the parts whose sums the channels are, each once; empty: it is no sum. The first is
  /// that of the map, where parts are added to one.
  std::vector<std::string> parts;
  /// States of the map that parts are added to, which come first; 0: there is none.
  int map_states = 0;
  /// The longest period of a part, in steps; 0: none has one.
  double longest_period = 0;
  /// The state that each channel measures; -1 where it is no single one.
  std::vector<int> measured_state;
  /// The map is written in the user's units. Otherwise it holds whatever the unit and the origin of
  /// a channel, with derivatives per time step, and the states may be scaled.
  bool physical = false;
  /// Mean and standard deviation before the first measurement, of states with channel -1.
  std::vector<InitialState> initial;
  std::vector<ExpertParameter> parameters;
  std::shared_ptr<const kalman::TransitionMap> map;
  bool linear = false;           ///< neither F, e nor H depends on where the states are
  std::vector<int> inputs_read;  ///< the inputs that the map depends on
  /// Fixed parameters and definitions of a user's system that no equation uses.
  std::vector<std::string> unused;
  /// H (M x N), row-major; of a nonlinear emission its constant entries.
  std::vector<double> H;
  /// Null where the emission is H x.
  std::shared_ptr<const kalman::EmissionMap> emission;

  int state_dim() const { return static_cast<int>(states.size()); }
  int meas_dim() const { return static_cast<int>(measured_state.size()); }
  /// Whether state n has its derivatives by time, as physical maps do, not per usual step.
  bool by_time(int n) const { return physical && (map_states == 0 || n < map_states); }
  /// Starting values of the parameters.
  std::vector<double> theta() const;
};

/// Where states usually are, what a step adds to them and how long it usually is, in the map's
/// units: what a polynomial departure is written in.
struct StateFrame {
  std::vector<double> centre;     ///< N
  std::vector<double> whitening;  ///< N x N, lower triangular: W (x - centre) has covariance I
  std::vector<double> step;       ///< N
  double dt = 1;
};

/// Which expert a user asks for.
struct ExpertSpec {
  PriorKind kind = PriorKind::ConstantPosition;
  /// How integrated_priors() are integrated; none and 0: as in the paper.
  Integration integration;
  /// The lags of `ar`; 0: two.
  int lags = 0;
  /// Of `sum`: what adds up to the value of a channel. Of equations (takes_parts): what is added to
  /// what they say that a channel measures.
  std::vector<Part> parts;
  /// The length of a usual step in the time of such equations: the parts' times count in steps.
  double dt = 1;
  /// Of a user's own equations.
  System system;
  /// Learn a departure from the map, regularised by this standard deviation about zero; 0: no
  /// departure. States that the map moves independently of where they are (a position) stay so.
  double departure = 0;
  /// 1: a constant matrix; more: polynomials of the states of this degree (departure.hpp), written
  /// in `frame`.
  int degree = 1;
  StateFrame frame;
  /// The states of `none` beside the measured channels.
  int latent = 0;
};

/// Whether parts are added to a map of equations.
bool adds_parts(const ExpertSpec& spec);
/// Whether the map holds for a step of any length.
bool any_step(const ExpertSpec& spec);
/// As users write it: the prior's name, or its parts, or both.
std::string prior_text(const ExpertSpec& spec, const DataAxes& axes);

/// A part of one channel, and the first of its states (part_states); they follow each other.
struct ChannelPart {
  Part part;
  int channel = 0;
  int begin = 0;
};
/// The parts of each of so many channels, in the order of their states, which begin at `first`
/// (Expert::map_states). Priors of one part for each channel have parts as well; of others, which
/// are no sums, there are none.
std::vector<ChannelPart> channel_parts(const ExpertSpec& spec, int channels, int first = 0);

/// Those whose equations are integrated as ExpertSpec::integration says.
std::vector<PriorKind> integrated_priors();

/// `channels` and `inputs`: columns of the data. Throws ConfigError for a prior that does not fit
/// the number of channels, more than kMostStates states or channels, a number out of its range, or
/// equations that do not make sense. Equations whose substeps are to be found (0) have one.
Expert make_expert(const ExpertSpec& spec, const std::vector<std::string>& channels,
                   const std::vector<std::string>& inputs = {});

/// A point of a user's system; its parameters are where they start.
struct SystemState {
  std::vector<double> x;
  double dt = 1;
  std::vector<double> u;  ///< as the data's inputs
};

/// The place (`system.ode.rate`) of the first expression of a system that is not finite there, or
/// whose derivatives by the states are not; empty: there is none. Throws what make_expert throws.
std::string undefined_at(const System& system, const std::vector<std::string>& channels,
                         const std::vector<std::string>& inputs, const SystemState& state);

}  // namespace kalmia::prior
