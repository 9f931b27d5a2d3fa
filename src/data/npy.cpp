#include "data/npy.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

#include "data/text_number.hpp"
#include "kalmia/error.hpp"

namespace kalmia::data {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMostDims = 8;

// What the header says.
struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::size_t> shape;
};

// Reads the header, a Python dictionary such as
//   {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
class HeaderParser {
 public:
  HeaderParser(const std::string& where, std::string_view text) : where_(where), rest_(text) {}

  Header parse() {
    Header header;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!take('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr") {
        header.descr = string();
        has_descr = true;
      } else if (key == "fortran_order") {
        header.fortran_order = boolean();
        has_order = true;
      } else if (key == "shape") {
        header.shape = tuple();
        has_shape = true;
      } else {
        fail("the header has the unknown key " + in_quotes(key));
      }
      if (take('}')) break;
      expect(',');
    }
    if (!has_descr || !has_order || !has_shape)
      fail("the header lacks one of descr, fortran_order, shape");
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw DataError(where_ + ": " + what); }
  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n'))
      rest_.remove_prefix(1);
  }
  bool take(char c) {
    skip_blanks();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c))
      fail(std::string("the header does not read as one: '") + c + "' expected at " +
           in_quotes(rest_.substr(0, 20)));
  }
  std::string string() {
    skip_blanks();
    if (rest_.starts_with('['))
      fail("an array of records (several fields per entry), but it must hold plain numbers");
    const char quote = rest_.starts_with('"') ? '"' : '\'';
    expect(quote);
    const std::size_t end = rest_.find(quote);
    if (end == std::string_view::npos) fail("the header ends within quotes");
    std::string text(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return text;
  }
  bool boolean() {
    skip_blanks();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true},
                                      std::pair<std::string_view, bool>{"False", false}})
      if (rest_.starts_with(word)) {
        rest_.remove_prefix(word.size());
        return value;
      }
    fail("fortran_order is neither True nor False");
  }
  std::vector<std::size_t> tuple() {
    std::vector<std::size_t> sizes;
    expect('(');
    while (!take(')')) {
      sizes.push_back(size());
      if (sizes.size() > kMostDims) fail("more than " + std::to_string(kMostDims) + " dimensions");
      if (take(')')) break;
      expect(',');
    }
    return sizes;
  }
  std::size_t size() {
    skip_blanks();
    std::size_t value = 0;
    std::size_t digits = 0;
    for (; digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9'; ++digits) {
      if (digits >= 18) fail("a dimension has more digits than any array");
      value = 10 * value + static_cast<std::size_t>(rest_[digits] - '0');
    }
    if (digits == 0) fail("a dimension is not a number: " + in_quotes(rest_.substr(0, 20)));
    rest_.remove_prefix(digits);
    return value;
  }

  const std::string& where_;
  std::string_view rest_;
};

// The parts of a type such as <f8 or <M8[us].
struct Type {
  bool swapped = false;  // not this machine's byte order
  char kind = 0;
  std::size_t size = 0;         // bytes of an entry
  double ticks_per_second = 1;  // of dates
};

[[noreturn]] void refuse_type(const std::string& where, const std::string& descr) {
  throw DataError(where + ": type " + in_quotes(descr) +
                  ", but it must be one of f4, f8, i1, i2, i4, i8, u1, u2, u4, u8, bool (and "
                  "datetime64 for t, unicode for names)");
}

std::optional<double> ticks_per_second(std::string_view unit) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"W", 1 / 604800.0}, {"D", 1 / 86400.0}, {"h", 1 / 3600.0}, {"m", 1 / 60.0}, {"s", 1},
      {"ms", 1e3},         {"us", 1e6},        {"ns", 1e9}};
  for (const auto& [name, ticks] : kUnits)
    if (name == unit) return ticks;
  return {};
}

Type parse_type(const std::string& where, const std::string& descr) {
  if (descr.size() < 3) refuse_type(where, descr);
  Type type;
  const char order = descr[0];
  if (order != '<' && order != '>' && order != '|' && order != '=') refuse_type(where, descr);
  constexpr bool kLittle = std::endian::native == std::endian::little;
  type.swapped = order == (kLittle ? '>' : '<');
  type.kind = descr[1];
  std::size_t at = 2;
  for (; at < descr.size() && descr[at] >= '0' && descr[at] <= '9'; ++at) {
    if (at > 10) refuse_type(where, descr);
    type.size = 10 * type.size + static_cast<std::size_t>(descr[at] - '0');
  }
  const std::string_view rest = std::string_view(descr).substr(at);
  const auto size_is = [&](std::initializer_list<std::size_t> sizes) {
    return std::find(sizes.begin(), sizes.end(), type.size) != sizes.end();
  };
  bool known = false;
  if (type.kind == 'M' && type.size == 8 && rest.size() > 2 && rest.front() == '[' &&
      rest.back() == ']') {
    if (const auto ticks = ticks_per_second(rest.substr(1, rest.size() - 2))) {
      type.ticks_per_second = *ticks;
      known = true;
    }
  } else if (rest.empty()) {
    known = (type.kind == 'f' && size_is({4, 8})) || (type.kind == 'i' && size_is({1, 2, 4, 8})) ||
            (type.kind == 'u' && size_is({1, 2, 4, 8})) || (type.kind == 'b' && size_is({1})) ||
            (type.kind == 'U' && type.size > 0);
  }
  if (!known) refuse_type(where, descr);
  if (type.kind == 'U') type.size *= 4;
  return type;
}

template <typename T>
T load(const char* from, bool swapped) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, from, sizeof(T));
  if (swapped) std::reverse(bytes, bytes + sizeof(T));
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

template <typename T>
double load_number(const char* from, bool swapped) {
  return static_cast<double>(load<T>(from, swapped));
}

double load_date(const char* from, const Type& type) {
  const auto ticks = load<std::int64_t>(from, type.swapped);
  if (ticks == std::numeric_limits<std::int64_t>::min())
    return std::numeric_limits<double>::quiet_NaN();
  // Units longer than a second are whole numbers of them: exact where a quotient is not.
  const auto number = static_cast<double>(ticks);
  return type.ticks_per_second < 1 ? number * std::round(1 / type.ticks_per_second)
                                   : number / type.ticks_per_second;
}

using Loader = double (*)(const char*, bool);

Loader loader_of(const Type& type) {
  switch (type.kind) {
    case 'f':
      return type.size == 4 ? &load_number<float> : &load_number<double>;
    case 'i':
      if (type.size == 1) return &load_number<std::int8_t>;
      if (type.size == 2) return &load_number<std::int16_t>;
      return type.size == 4 ? &load_number<std::int32_t> : &load_number<std::int64_t>;
    default:  // 'u' and 'b'
      if (type.size == 1) return &load_number<std::uint8_t>;
      if (type.size == 2) return &load_number<std::uint16_t>;
      return type.size == 4 ? &load_number<std::uint32_t> : &load_number<std::uint64_t>;
  }
}

void append_utf8(std::string& out, std::uint32_t c) {
  if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) c = '?';
  const auto byte = [&](std::uint32_t value) { out += static_cast<char>(value); };
  if (c < 0x80) {
    byte(c);
  } else if (c < 0x800) {
    byte(0xC0 | (c >> 6));
    byte(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    byte(0xE0 | (c >> 12));
    byte(0x80 | ((c >> 6) & 0x3F));
    byte(0x80 | (c & 0x3F));
  } else {
    byte(0xF0 | (c >> 18));
    byte(0x80 | ((c >> 12) & 0x3F));
    byte(0x80 | ((c >> 6) & 0x3F));
    byte(0x80 | (c & 0x3F));
  }
}

std::u32string from_utf8(std::string_view text) {
  std::u32string result;
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const std::size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    char32_t c = length == 1 ? first : first & (0xFFU >> (length + 1));
    bool whole = first < 0x80 || first >= 0xC0;
    for (std::size_t k = 1; whole && k < length; ++k) {
      whole = i + k < text.size() && (static_cast<unsigned char>(text[i + k]) & 0xC0) == 0x80;
      if (whole) c = (c << 6) | (static_cast<unsigned char>(text[i + k]) & 0x3F);
    }
    result += whole && c <= 0x10FFFF ? c : U'?';
    i += whole ? length : 1;
  }
  return result;
}

std::string load_text(const char* from, const Type& type) {
  std::u32string letters;
  for (std::size_t i = 0; i < type.size; i += 4)
    letters += static_cast<char32_t>(load<std::uint32_t>(from + i, type.swapped));
  while (!letters.empty() && letters.back() == 0) letters.pop_back();
  std::string text;
  for (const char32_t c : letters) append_utf8(text, c);
  return text;
}

// Calls use(offset) with the place of each entry in the file, in C order.
template <typename Use>
void for_each_entry(const std::vector<std::size_t>& shape, bool fortran_order, std::size_t count,
                    const Use& use) {
  if (!fortran_order || shape.size() < 2) {
    for (std::size_t i = 0; i < count; ++i) use(i);
    return;
  }
  std::vector<std::size_t> strides(shape.size(), 1), index(shape.size());
  for (std::size_t d = 1; d < shape.size(); ++d) strides[d] = strides[d - 1] * shape[d - 1];
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t offset = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) offset += index[d] * strides[d];
    use(offset);
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}

// The bytes before the entries; the whole is a multiple of 64 long, as NumPy writes it.
std::string header_bytes(const std::string& descr, std::span<const std::size_t> shape) {
  std::string text =
      "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape_text(shape) + ", }";
  constexpr std::size_t kBefore = 10;  // magic, version, length
  while ((kBefore + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  std::string bytes(kMagic);
  bytes += '\1';
  bytes += '\0';
  bytes += static_cast<char>(text.size() & 0xFF);
  bytes += static_cast<char>(text.size() >> 8);
  return bytes + text;
}

template <typename T>
void append_little(std::string& out, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  if constexpr (std::endian::native != std::endian::little) std::reverse(bytes, bytes + sizeof(T));
  out.append(bytes, sizeof(T));
}

template <typename T, typename Values, typename Convert>
std::string array_bytes(const std::string& descr, std::span<const std::size_t> shape,
                        const Values& values, const Convert& convert) {
  std::string bytes = header_bytes(descr, shape);
  bytes.reserve(bytes.size() + values.size() * sizeof(T));
  for (const auto value : values) append_little<T>(bytes, convert(value));
  return bytes;
}

}  // namespace

std::string shape_text(std::span<const std::size_t> shape) {
  std::string text = "(";
  for (std::size_t d = 0; d < shape.size(); ++d)
    text += (d > 0 ? ", " : "") + std::to_string(shape[d]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

NpyArray parse_npy(const std::string& where, std::string_view bytes) {
  const auto fail = [&](const std::string& what) { throw DataError(where + ": " + what); };
  if (!bytes.starts_with(kMagic)) fail("not an array of NumPy (.npy)");
  const auto byte = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i]));
  };
  if (bytes.size() < 10) fail("the header is cut off");
  const std::size_t version = byte(6);
  if (version < 1 || version > 3)
    fail("format version " + std::to_string(version) + ", but only 1 to 3 are known");
  std::size_t begin = 10, length = byte(8) + (byte(9) << 8);
  if (version > 1) {
    if (bytes.size() < 12) fail("the header is cut off");
    begin = 12;
    length += (byte(10) << 16) + (byte(11) << 24);
  }
  if (length > bytes.size() - begin) fail("the header is cut off");
  const Header header = HeaderParser(where, bytes.substr(begin, length)).parse();
  const Type type = parse_type(where, header.descr);
  const std::string_view content = bytes.substr(begin + length);

  // The entries that there are bytes for bound every product of dimensions.
  const std::size_t most = content.size() / type.size;
  std::size_t count = 1;
  if (std::find(header.shape.begin(), header.shape.end(), 0U) != header.shape.end())
    fail("shape " + shape_text(header.shape) + ", but no dimension may be 0");
  for (const std::size_t n : header.shape) {
    if (n > most / count)
      fail("shape " + shape_text(header.shape) + " of type " + header.descr +
           " asks for more than the " + std::to_string(content.size()) + " bytes there are");
    count *= n;
  }

  if (count > most) fail("the array is cut off");
  NpyArray array;
  array.shape = header.shape;
  if (type.kind == 'U') {
    array.kind = NpyArray::Kind::Text;
    array.texts.reserve(count);
    for_each_entry(header.shape, header.fortran_order, count, [&](std::size_t at) {
      array.texts.push_back(load_text(content.data() + at * type.size, type));
    });
    return array;
  }
  array.values.reserve(count);
  if (type.kind == 'M') {
    array.kind = NpyArray::Kind::Date;
    for_each_entry(header.shape, header.fortran_order, count, [&](std::size_t at) {
      array.values.push_back(load_date(content.data() + at * type.size, type));
    });
    return array;
  }
  const Loader number = loader_of(type);
  for_each_entry(header.shape, header.fortran_order, count, [&](std::size_t at) {
    array.values.push_back(number(content.data() + at * type.size, type.swapped));
  });
  return array;
}

std::string npy_numbers(std::span<const std::size_t> shape, std::span<const double> values) {
  return array_bytes<double>("<f8", shape, values, [](double value) { return value; });
}

std::string npy_integers(std::span<const std::size_t> shape, std::span<const long long> values) {
  return array_bytes<std::int64_t>("<i8", shape, values,
                                   [](long long value) { return std::int64_t{value}; });
}

std::string npy_dates(std::span<const std::size_t> shape, std::span<const double> seconds) {
  return array_bytes<std::int64_t>("<M8[us]", shape, seconds, [](double value) {
    constexpr double kFar = 9e12;  // seconds; what lies beyond has no place in 64 bits
    if (!(std::abs(value) <= kFar)) return std::numeric_limits<std::int64_t>::min();
    const double whole = std::floor(value);
    return static_cast<std::int64_t>(whole) * 1000000 +
           static_cast<std::int64_t>(std::llround((value - whole) * 1e6));
  });
}

std::string npy_texts(std::span<const std::string> texts) {
  std::vector<std::u32string> letters;
  std::size_t longest = 1;
  for (const std::string& text : texts) {
    letters.push_back(from_utf8(text));
    longest = std::max(longest, letters.back().size());
  }
  const std::size_t shape[] = {texts.size()};
  std::string bytes = header_bytes("<U" + std::to_string(longest), shape);
  for (std::u32string& text : letters) {
    text.resize(longest);
    for (const char32_t c : text) append_little(bytes, static_cast<std::uint32_t>(c));
  }
  return bytes;
}

}  // namespace kalmia::data
