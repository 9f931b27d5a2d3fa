// read_dataset and write_dataset of data.hpp.
#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>

#include "base/atomic_file.hpp"
#include "data/audio.hpp"
#include "data/csv.hpp"
#include "data/file.hpp"
#include "data/json_lines.hpp"
#include "data/npz.hpp"
#include "data/table.hpp"
#include "kalmia/data.hpp"

namespace kalmia {
namespace {

Dataset read_format(data::Format format, const std::string& path, const DataOptions& options) {
  const std::string bytes = data::read_file_bytes(path);
  const std::string source = data::source_name(path);
  switch (format) {
    case data::Format::Npy:
      return data::read_npy(source, bytes, options);
    case data::Format::Npz:
      return data::read_npz(source, bytes, options);
    case data::Format::Wav:
    case data::Format::Flac:
      return data::read_audio(source, bytes, options);
    case data::Format::JsonLines:
      return data::read_json_lines(source, bytes, options);
    case data::Format::Csv:
      break;
  }
  return data::read_csv(source, bytes, options);
}

[[noreturn]] void refuse_size(const std::string& path) {
  throw IoError("cannot read " + data::source_name(path) + ": not enough memory for what it holds");
}

}  // namespace

Dataset read_dataset(const std::string& path, const DataOptions& options) {
  // Before its name is looked at: that of a directory says nothing of a format.
  if (std::error_code error; path != "-" && std::filesystem::is_directory(path, error))
    throw IoError("cannot read " + path + ": it is a directory, but data are one file");
  const data::Format format = data::format_of(path);
  try {
    return read_format(format, path, options);
  } catch (const std::bad_alloc&) {
    refuse_size(path);
  } catch (const std::length_error&) {
    refuse_size(path);
  }
}

void check_output_name(const std::string& path) {
  try {
    data::format_of(path);
  } catch (const DataError& error) {
    throw ConfigError(error.what());
  }
}

void write_dataset(const std::string& path, const Dataset& data) {
  const data::Format format = data::format_of(path);
  AtomicFile file(path);
  switch (format) {
    case data::Format::Csv:
      data::write_csv(data::table_of(data), file);
      break;
    case data::Format::JsonLines:
      data::write_json_lines(data::table_of(data), file);
      break;
    case data::Format::Npy:
      data::write_npy(path, data, file);
      break;
    case data::Format::Npz:
      data::write_npz(path, data, file);
      break;
    case data::Format::Wav:
    case data::Format::Flac:
      data::write_audio(path, format, data, file);
      break;
  }
  file.commit();
}

}  // namespace kalmia
