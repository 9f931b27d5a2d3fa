// Some steps of a window, as a window of their own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/window.hpp"

namespace kalmia::engine {

/// Steps begin..end-1 of a window. Reads the panels where they are.
template <WindowHead Head>
class WindowSlice {
 public:
  WindowSlice(const typename Head::Model& model, const typename Head::Input& whole, int begin,
              int end)
      : input_(Head::from(model, whole, begin)) {
    for (int lane = 0; lane < whole.lanes; ++lane) {
      length_.push_back(std::clamp(whole.lane_length(lane) - begin, 0, end - begin));
      fresh_.push_back(begin == 0 && whole.lane_fresh(lane) ? 1 : 0);
    }
    input_.steps = end - begin;
    input_.length = length_.data();
    input_.fresh = fresh_.data();
  }
  WindowSlice(const WindowSlice&) = delete;  // the input refers to the lengths
  const typename Head::Input& input() const { return input_; }

 private:
  typename Head::Input input_;
  std::vector<int> length_;
  std::vector<std::uint8_t> fresh_;
};

}  // namespace kalmia::engine
