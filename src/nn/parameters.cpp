#include "nn/parameters.hpp"

#include <utility>

#include "kalmia/error.hpp"

namespace kalmia::nn {

std::ptrdiff_t ParameterLayout::add(std::string name, int rows, int cols) {
  const std::ptrdiff_t offset = size_;
  views_.push_back({std::move(name), offset, rows, cols});
  size_ += views_.back().size();
  return offset;
}

const ParameterView& ParameterLayout::at(std::string_view name) const {
  for (const ParameterView& view : views_)
    if (view.name == name) return view;
  std::string known;
  for (const ParameterView& view : views_) known += (known.empty() ? "" : ", ") + view.name;
  throw ConfigError("no parameter is named \"" + std::string(name) + "\"; there are: " + known);
}

}  // namespace kalmia::nn
