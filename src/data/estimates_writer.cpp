// write_estimates of model.hpp.
#include "base/atomic_file.hpp"
#include "data/audio.hpp"
#include "data/csv.hpp"
#include "data/file.hpp"
#include "data/json_lines.hpp"
#include "data/npz.hpp"
#include "data/table.hpp"
#include "kalmia/estimates.hpp"

namespace kalmia {

void write_estimates(const std::string& path, const Estimates& estimates) {
  const data::Format format = data::format_of(path);
  AtomicFile file(path);
  switch (format) {
    case data::Format::Csv:
      data::write_csv(data::table_of(estimates), file);
      break;
    case data::Format::JsonLines:
      data::write_json_lines(data::table_of(estimates), file);
      break;
    case data::Format::Npy:
      data::write_npy(path, estimates, file);
      break;
    case data::Format::Npz:
      data::write_npz(path, estimates, file);
      break;
    case data::Format::Wav:
    case data::Format::Flac:
      data::write_audio(path, format, estimates, file);
      break;
  }
  file.commit();
}

}  // namespace kalmia
