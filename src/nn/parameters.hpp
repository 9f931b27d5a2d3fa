// One flat block of parameters with named views. Values, gradients and optimiser moments share one
// layout, so that clipping, Adam, checkpoints and gradient exchange are single loops.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kalmia::nn {

/// Where a named matrix lies in the block (row-major; a vector has one column).
struct ParameterView {
  std::string name;
  std::ptrdiff_t offset = 0;
  int rows = 0;
  int cols = 0;
  std::ptrdiff_t size() const { return static_cast<std::ptrdiff_t>(rows) * cols; }
};

/// The names, shapes and places of all parameters of a model.
class ParameterLayout {
 public:
  /// Appends a matrix and returns its offset.
  std::ptrdiff_t add(std::string name, int rows, int cols = 1);

  /// Throws ConfigError if there is no such name.
  const ParameterView& at(std::string_view name) const;

  const std::vector<ParameterView>& views() const { return views_; }

  /// Numbers in the whole block.
  std::ptrdiff_t size() const { return size_; }

 private:
  std::vector<ParameterView> views_;
  std::ptrdiff_t size_ = 0;
};

}  // namespace kalmia::nn
