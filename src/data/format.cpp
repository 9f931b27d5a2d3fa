#include "data/format.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "kalmia/error.hpp"

namespace kalmia::data {

Format format_of(const std::string& path) {
  constexpr std::array<std::pair<std::string_view, Format>, 9> kEndings = {{
      {"csv", Format::Csv},
      {"tsv", Format::Csv},
      {"txt", Format::Csv},
      {"npy", Format::Npy},
      {"npz", Format::Npz},
      {"wav", Format::Wav},
      {"flac", Format::Flac},
      {"jsonl", Format::JsonLines},
      {"ndjson", Format::JsonLines},
  }};
  const std::size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  const std::size_t point = name.rfind('.');
  if (point == std::string::npos) return Format::Csv;
  std::string ending = name.substr(point + 1);
  for (char& c : ending)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (const auto& [known, format] : kEndings)
    if (ending == known) return format;
  throw DataError(path + ": no format ends in ." + ending +
                  "; known are .csv (.tsv, .txt), .npy, .npz, .wav, .flac, .jsonl (.ndjson)");
}

}  // namespace kalmia::data
