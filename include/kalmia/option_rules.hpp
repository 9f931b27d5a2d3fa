/// \file
/// What values an option may have: a range of numbers, or a list of names.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace kalmia {

/// Finite numbers between two ends.
struct Range {
  static constexpr double kNoEnd = std::numeric_limits<double>::max();

  double least = -kNoEnd;
  double largest = kNoEnd;
  /// What `least` itself is: an allowed value, or where those begin.
  enum class Least { Allowed, Excluded } end = Least::Allowed;
  const char* remark = "";  ///< why, or what a value stands for

  constexpr bool holds(double value) const {
    return (end == Least::Allowed ? value >= least : value > least) && value <= largest;
  }

  /// The rule, after "it must be": "in 1..64", "above 0 and at most 0.5", ">= 0", and
  /// the remark in parentheses.
  std::string text() const;
};

/// A value that an option may have, or the form of one, and what it means.
struct Choice {
  std::string_view name;
  std::string_view meaning;
};

/// All the values an option may have.
using Choices = std::vector<Choice> (*)();

/// Threads of any command; 0 takes all the machine has.
inline constexpr Range kThreadsRange{
    .least = 0, .largest = 1024, .remark = "0: all the machine has"};

}  // namespace kalmia
