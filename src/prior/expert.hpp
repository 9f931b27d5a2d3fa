// The expert models a user can name: their states, what is measured of them, and their map.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kalman/transition_map.hpp"

namespace kalmia::prior {

/// What kind of quantity a state is: the value of a measured channel, or a derivative of it by the
/// time step.
struct StateKind {
  int channel = 0;
  int derivative = 0;  ///< 0 value, 1 rate, 2 acceleration
};

/// A named expert model over the measured channels.
struct Expert {
  std::string name;
  std::vector<std::string> state_names;
  std::vector<StateKind> states;
  /// The state that each channel measures.
  std::vector<int> measured_state;
  /// The map is written in the user's units. Otherwise it holds whatever the unit and the origin of
  /// a channel, with derivatives per time step, and the states may be scaled.
  bool physical = false;
  /// Diagonal of F, one factor in (0, 1) a state, where it is learned from the data; else empty.
  std::vector<double> damping;
  std::shared_ptr<const kalman::TransitionMap> map;

  int state_dim() const { return static_cast<int>(states.size()); }
  int meas_dim() const { return static_cast<int>(measured_state.size()); }
  /// H (M x N), row-major: selects the measured states.
  std::vector<double> emission() const;
};

/// The names make_expert knows, in the order they are listed to users.
const std::vector<std::string>& expert_names();

/// Those that fit any data and are tried when the user names none.
const std::vector<std::string>& automatic_experts();

/// `damping`: of the priors that have one, N factors in (0, 1); empty: where learning starts.
/// `order`: of the Taylor series where there is one, 0 for the paper's (2 for lorenz, 1 for
/// linear-motion). `dt`: time step in the user's units. Throws ConfigError for an unknown name, one
/// that does not fit the number of channels, or an order that is not in 0..20.
Expert make_expert(const std::string& name, int order, double dt,
                   const std::vector<std::string>& channels,
                   const std::vector<double>& damping = {});

}  // namespace kalmia::prior
