// Some steps of a window, as a window of their own.
#pragma once

#include <cstdint>
#include <vector>

#include "model/window.hpp"

namespace kalmia::model {

/// Steps begin..end-1 of a window. Reads the panels where they are.
template <typename T>
class WindowSlice {
 public:
  WindowSlice(const WindowModel<T>& model, const WindowInput<T>& whole, int begin, int end);
  WindowSlice(const WindowSlice&) = delete;  // the input refers to the lengths
  const WindowInput<T>& input() const { return input_; }

 private:
  WindowInput<T> input_;
  std::vector<int> length_;
  std::vector<std::uint8_t> fresh_;
};

/// Where the moments of the steps from `begin` on go. Gains and weights stay out.
WindowMoments moments_from(const WindowMoments& whole, int begin, int state_dim, int lanes);

}  // namespace kalmia::model
