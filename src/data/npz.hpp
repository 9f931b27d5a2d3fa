// Data sets and estimates in NumPy's files: .npz (several arrays) and .npy (one).
#pragma once

#include <string>
#include <string_view>

#include "base/atomic_file.hpp"
#include "kalmia/data.hpp"
#include "kalmia/estimates.hpp"

namespace kalmia::data {

/// The arrays that arrays.hpp names. `source` names the file in messages. Throws DataError.
Dataset read_npz(const std::string& source, std::string_view bytes, const DataOptions& options);
/// The array y alone.
Dataset read_npy(const std::string& source, std::string_view bytes, const DataOptions& options);

/// Writes the arrays that `read_npz` reads. Series of different lengths are padded with NaN, and
/// `lengths` says how long they are. Names are written where they are not what reading assumes.
void write_npz(const std::string& path, const Dataset& data, AtomicFile& file);
/// Writes mean and covariance (without it where there is none), t, lengths, keys and names.
void write_npz(const std::string& path, const Estimates& estimates, AtomicFile& file);
/// Writes the measurements alone, or the means. Throws DataError if lengths differ.
void write_npy(const std::string& path, const Dataset& data, AtomicFile& file);
void write_npy(const std::string& path, const Estimates& estimates, AtomicFile& file);

}  // namespace kalmia::data
