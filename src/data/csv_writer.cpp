#include <fmt/compile.h>
#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "data/csv.hpp"
#include "kalmia/text.hpp"

namespace kalmia::data {
namespace {

void append_number(fmt::memory_buffer& out, double value) {
  if (!std::isnan(value)) fmt::format_to(std::back_inserter(out), FMT_COMPILE("{}"), value);
}

void append_text(fmt::memory_buffer& out, std::string_view text) {
  out.append(text.data(), text.data() + text.size());
}

void append_time(fmt::memory_buffer& out, const Table& table, double time) {
  if (table.time_kind == TimeKind::Date && !std::isnan(time))
    append_text(out, iso_text(time, table.date_style));
  else
    append_number(out, time);
}

}  // namespace

void write_csv(const Table& table, AtomicFile& file) {
  const bool keyed = !table.key_name.empty(), timed = !table.time_name.empty();
  const std::size_t dim = table.names.size();
  fmt::memory_buffer out;
  bool first = true;
  const auto next_field = [&] {
    if (!first) out.push_back(',');
    first = false;
  };
  const auto end_row = [&] {
    out.push_back('\n');
    first = true;
    if (out.size() < 1 << 16) return;
    file.write({out.data(), out.size()});
    out.clear();
  };

  if (keyed) next_field(), append_text(out, csv_field(table.key_name));
  if (timed) next_field(), append_text(out, csv_field(table.time_name));
  for (const std::string& name : table.names) next_field(), append_text(out, csv_field(name));
  end_row();
  for (const Table::Block& block : table.blocks) {
    const std::string key = csv_field(block.key);
    for (std::size_t k = 0; k < block.steps; ++k) {
      const std::size_t begin = out.size();
      if (keyed) next_field(), append_text(out, key);
      if (timed) next_field(), append_time(out, table, block.t[k]);
      for (std::size_t n = 0; n < dim; ++n)
        next_field(), append_number(out, block.values[k * dim + n]);
      // A blank line would be no row at the end of the file.
      if (out.size() == begin) append_text(out, "\"\"");
      end_row();
    }
  }
  file.write({out.data(), out.size()});
}

}  // namespace kalmia::data
