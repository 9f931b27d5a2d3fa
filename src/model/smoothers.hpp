// The smoothers there are: what each is called, what its networks compute and what it needs.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "heads/architecture.hpp"

namespace kalmia::model {

/// What the networks of a smoother put out.
enum class SmootherKind {
  Fused,                ///< what the future adds to the filter's prediction (heads/fusion)
  Recurrent,            ///< p(x[k] | y[!=k]) directly
  Recursive,            ///< p(x[k] | x[k-1], y[!=k]); paper: Algorithm 3
  RecursiveAlternative  ///< the same with the posterior of the paper's last appendix
};

/// What is particular to a kind of smoother with networks. One row of the table in smoothers.cpp.
struct SmootherEntry {
  SmootherKind kind;
  std::string_view name;     ///< as users write it: ModelOptions::smoother
  std::string_view meaning;  ///< for those who choose
  std::string_view method;   ///< the same of SmoothOptions::method
  heads::HeadKind head;
  heads::TransitionRule transition;
  heads::PosteriorRule posterior;
  /// The networks read both sides of a step in one run; else they add the future to the filter's
  /// prediction.
  bool two_sided;
  /// What predicts a value may have seen it, through the state: it is scored by values that the
  /// networks were not shown, and its covariances are not calibrated.
  bool leaks;
  /// It needs a linear emission with Gaussian noise.
  bool linear_gaussian;

  /// Sets what the networks compute.
  void set(heads::ArchitectureOptions& options) const;
};

std::span<const SmootherEntry> smoother_table();
const SmootherEntry& smoother_entry(SmootherKind kind);
/// Null if no smoother with networks has that name.
const SmootherEntry* find_smoother(const std::string& name);
/// Throws ConfigError for a name that is not in the table.
SmootherKind smoother_of_name(const std::string& name);
std::string_view smoother_name(SmootherKind kind);

}  // namespace kalmia::model
