// Data sets as a handful of named arrays, and back.
#pragma once

#include <map>
#include <string>

#include "data/npy.hpp"
#include "kalmia/data.hpp"

namespace kalmia::data {

/// By name, without ".npy".
using ArrayMap = std::map<std::string, NpyArray>;

/// Makes a data set of arrays. Names and shapes:
///   y             measurements: (steps,), (steps, dim) or (series, steps, dim); NaN is missing
///   x, u          truth and inputs: likewise; optional
///   mask          0 where y is missing: the shape of y, or that without its last dimension;
///   optional t             time: (steps,) for all series, or (series, steps); numbers or
///   datetime64; optional lengths       (series,): steps of each, the rest is padding; optional
///   y_std         standard deviation of each measurement's noise: the shape of y; optional
///   y_names, x_names, u_names, y_std_names, keys, t_name, key_name    unicode, one dimension;
///   optional
/// Other arrays are not looked at. Throws DataError.
Dataset dataset_of(const std::string& source, const ArrayMap& arrays, const DataOptions& options);

/// Of several series of different lengths: all padded with NaN to the longest. `dims` are the sizes
/// of one step; `values(i)` the numbers of series i. One series has no dimension for it.
struct PaddedArray {
  std::vector<std::size_t> shape;
  std::vector<double> values;
};
PaddedArray padded(const std::vector<int>& lengths, const std::vector<std::size_t>& dims,
                   const std::vector<const std::vector<double>*>& values);

}  // namespace kalmia::data
