// read_dataset and write_dataset of data.hpp.
#include <new>
#include <stdexcept>

#include "base/atomic_file.hpp"
#include "data/csv_reader.hpp"
#include "data/csv_writer.hpp"
#include "data/file_bytes.hpp"
#include "data/format.hpp"
#include "kalmia/data.hpp"

namespace kalmia {
namespace {

Dataset read_format(data::Format format, const std::string& path, const DataOptions& options) {
  const std::string bytes = data::read_file_bytes(path);
  const std::string source = data::source_name(path);
  if (format != data::Format::Csv) throw DataError(source + ": only CSV can be read yet");
  return data::read_csv(source, bytes, options);
}

}  // namespace

Dataset read_dataset(const std::string& path, const DataOptions& options) {
  const data::Format format = data::format_of(path);
  try {
    return read_format(format, path, options);
  } catch (const std::bad_alloc&) {
    throw DataError(data::source_name(path) + ": too large for the memory of this machine");
  } catch (const std::length_error&) {
    throw DataError(data::source_name(path) + ": too large for the memory of this machine");
  }
}

void write_dataset(const std::string& path, const Dataset& data) {
  const data::Format format = data::format_of(path);
  const data::Table table = data::table_of(data);
  if (format != data::Format::Csv) throw DataError(path + ": only CSV can be written yet");
  AtomicFile file(path);
  data::write_csv(table, file);
  file.commit();
}

}  // namespace kalmia
