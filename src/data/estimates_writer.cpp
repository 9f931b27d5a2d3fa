// write_estimates of model.hpp.
#include "base/atomic_file.hpp"
#include "data/csv_writer.hpp"
#include "data/format.hpp"
#include "data/table.hpp"
#include "kalmia/model.hpp"

namespace kalmia {

void write_estimates(const std::string& path, const Estimates& estimates) {
  if (data::format_of(path) != data::Format::Csv)
    throw DataError(path + ": only CSV can be written yet");
  const data::Table table = data::table_of(estimates);
  AtomicFile file(path);
  data::write_csv(table, file);
  file.commit();
}

}  // namespace kalmia
