// Arrays in the format of NumPy's .npy files.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kalmia::data {

/// One array, in C order whatever the order of the file.
struct NpyArray {
  enum class Kind {
    Number,  ///< float, integer or bool
    Date,    ///< datetime64, as seconds since 1970-01-01 00:00 UTC; NaT is NaN
    Text,    ///< unicode
  };
  Kind kind = Kind::Number;
  std::vector<std::size_t> shape;
  std::vector<double> values;      ///< of numbers and dates
  std::vector<std::string> texts;  ///< of text, UTF-8
};

/// "(3, 4)", as Python writes it.
std::string shape_text(std::span<const std::size_t> shape);

/// Reads an array. Types: f4, f8, i1 to i8, u1 to u8, bool, datetime64 and unicode, of either byte
/// order; no dimension may be 0. Nothing in the header is believed before it is held against the
/// bytes there are. `where` names the array in messages. Throws DataError.
NpyArray parse_npy(const std::string& where, std::string_view bytes);

/// The bytes of an .npy file with 64-bit floats, little endian, C order.
std::string npy_numbers(std::span<const std::size_t> shape, std::span<const double> values);
/// The same with datetime64[us]; NaN becomes NaT.
std::string npy_dates(std::span<const std::size_t> shape, std::span<const double> seconds);
/// The same with 64-bit integers.
std::string npy_integers(std::span<const std::size_t> shape, std::span<const long long> values);
/// The same with unicode text, one dimension.
std::string npy_texts(std::span<const std::string> texts);

}  // namespace kalmia::data
