#include "data/audio.hpp"

#include <sndfile.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "data/columns.hpp"
#include "data/table.hpp"
#include "data/text_number.hpp"
#include "data/value_checks.hpp"

namespace kalmia::data {
namespace {

// A file in memory, for libsndfile.
struct MemoryFile {
  std::string_view read_bytes;  // what is read
  std::string written;          // or what was written
  sf_count_t at = 0;
  bool writing = false;
  bool out_of_memory = false;

  sf_count_t size() const {
    return static_cast<sf_count_t>(writing ? written.size() : read_bytes.size());
  }
};

MemoryFile& memory(void* user) { return *static_cast<MemoryFile*>(user); }

sf_count_t file_size(void* user) { return memory(user).size(); }

sf_count_t seek(sf_count_t offset, int whence, void* user) {
  MemoryFile& file = memory(user);
  const sf_count_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? file.at : file.size();
  // Headers ask for absurd places; one beyond the end reads nothing.
  constexpr sf_count_t kFar = sf_count_t{1} << 60;
  if (offset < -kFar || offset > kFar || from + offset < 0) return -1;
  return file.at = from + offset;
}

sf_count_t read(void* to, sf_count_t count, void* user) {
  MemoryFile& file = memory(user);
  const sf_count_t there =
      std::clamp<sf_count_t>(file.size() - file.at, 0, std::max<sf_count_t>(count, 0));
  if (there > 0) std::memcpy(to, file.read_bytes.data() + file.at, static_cast<std::size_t>(there));
  file.at += there;
  return there;
}

// Called from C, so nothing may be thrown.
sf_count_t write(const void* from, sf_count_t count, void* user) {
  MemoryFile& file = memory(user);
  try {
    const auto begin = static_cast<std::size_t>(file.at), n = static_cast<std::size_t>(count);
    if (begin + n > file.written.size()) file.written.resize(begin + n);
    std::memcpy(file.written.data() + begin, from, n);
  } catch (...) {
    file.out_of_memory = true;
    return 0;
  }
  file.at += count;
  return count;
}

sf_count_t tell(void* user) { return memory(user).at; }

SF_VIRTUAL_IO memory_io() { return {&file_size, &seek, &read, &write, &tell}; }

struct Close {
  void operator()(SNDFILE* file) const { sf_close(file); }
};
using SoundFile = std::unique_ptr<SNDFILE, Close>;

void check_full_scale(const std::string& path, const Sound& sound) {
  for (std::size_t i = 0; i < sound.values.size(); ++i) {
    const double value = sound.values[i];
    if (std::abs(value) <= 1) continue;
    throw DataError(path + ": step " + std::to_string(i / sound.channels) + ", channel " +
                    std::to_string(i % sound.channels + 1) +
                    (std::isnan(value) ? std::string(": a missing value, but FLAC cannot hold any")
                                       : ": value " + number_text(value) +
                                             ", but FLAC holds values within -1 and 1") +
                    "; use .wav");
  }
}

int rate_of(const std::string& path, double step) {
  const double rate = std::round(1 / step);
  // Times are rounded, so the step is a little off.
  if (!(rate >= 1 && rate <= 1e6) || std::abs(rate * step - 1) > 1e-4)
    throw DataError(path + ": steps of " + number_text(step) +
                    " s, but audio needs a whole number of samples a second");
  return static_cast<int>(rate);
}

template <typename Source>
void check_single(const std::string& path, const Source& source) {
  if (source.series.size() != 1)
    throw DataError(path + ": " + std::to_string(source.series.size()) +
                    " series, but an audio file holds exactly one");
}

}  // namespace

Sound read_sound(const std::string& source, std::string_view bytes) {
  MemoryFile file;
  file.read_bytes = bytes;
  SF_VIRTUAL_IO io = memory_io();
  SF_INFO info = {};
  const SoundFile input(sf_open_virtual(&io, SFM_READ, &info, &file));
  if (!input) throw DataError(source + ": not audio that can be read: " + sf_strerror(nullptr));
  if (info.samplerate < 1 || info.channels < 1)
    throw DataError(source + ": " + std::to_string(info.channels) + " channels at " +
                    std::to_string(info.samplerate) + " samples a second, but both must be >= 1");
  Sound sound{info.samplerate, static_cast<std::size_t>(info.channels), {}};

  // In blocks until nothing more comes: the length in the header is only a claim.
  constexpr std::size_t kBlockValues = 1 << 16;  // the number of channels is a claim as well
  const std::size_t frames = std::max<std::size_t>(1, kBlockValues / sound.channels);
  std::vector<double> block(frames * sound.channels);
  sf_count_t got = 0;
  while ((got = sf_readf_double(input.get(), block.data(), static_cast<sf_count_t>(frames))) > 0)
    sound.values.insert(sound.values.end(), block.begin(),
                        block.begin() + static_cast<std::ptrdiff_t>(got) * info.channels);
  if (sf_error(input.get()) != SF_ERR_NO_ERROR)
    throw DataError(source + ": the recording is damaged: " + sf_strerror(input.get()));
  if (sound.steps() == 0) throw DataError(source + ": the recording is empty");
  check_steps(source, sound.steps());
  for (std::size_t i = 0; i < sound.values.size(); ++i)
    if (!usable(sound.values[i]))
      refuse_value(source + ": step " + std::to_string(i / sound.channels) + ", channel " +
                       std::to_string(i % sound.channels + 1),
                   sound.values[i]);
  return sound;
}

void write_sound(const std::string& path, Format format, const Sound& sound, AtomicFile& file) {
  SF_INFO info = {};
  info.samplerate = sound.rate;
  info.channels = static_cast<int>(sound.channels);
  info.format =
      format == Format::Flac ? SF_FORMAT_FLAC | SF_FORMAT_PCM_24 : SF_FORMAT_WAV | SF_FORMAT_FLOAT;
  if (format == Format::Flac) check_full_scale(path, sound);
  if (sf_format_check(&info) == 0)
    throw DataError(path + ": " + std::to_string(sound.channels) + " channels at " +
                    std::to_string(sound.rate) + " samples a second, which the format cannot hold");
  MemoryFile memory_file;
  memory_file.writing = true;
  SF_VIRTUAL_IO io = memory_io();
  SoundFile out(sf_open_virtual(&io, SFM_WRITE, &info, &memory_file));
  if (!out) throw DataError(path + ": " + sf_strerror(nullptr));
  // Carries the time of writing otherwise, so that equal data would give different files.
  sf_command(out.get(), SFC_SET_ADD_PEAK_CHUNK, nullptr, SF_FALSE);
  // Rounding 1.0 to 24 bits must not wrap around.
  sf_command(out.get(), SFC_SET_CLIPPING, nullptr, SF_TRUE);
  const auto frames = static_cast<sf_count_t>(sound.values.size() / sound.channels);
  const bool whole = sf_writef_double(out.get(), sound.values.data(), frames) == frames;
  const std::string reason = sf_strerror(out.get());
  out.reset();
  if (memory_file.out_of_memory) throw std::bad_alloc();
  if (!whole) throw DataError(path + ": " + reason);
  file.write(memory_file.written);
}

Dataset read_audio(const std::string& source, std::string_view bytes, const DataOptions& options) {
  Sound sound = read_sound(source, bytes);
  Dataset data{.source = source,
               .key_name = {},
               .time_name = "t",
               .time_kind = TimeKind::Number,
               .y_names = {},
               .x_names = {},
               .u_names = {},
               .series = {},
               .std_names = {}};
  for (std::size_t c = 1; c <= sound.channels; ++c)
    data.y_names.push_back(sound.channels == 1 ? "y" : "channel" + std::to_string(c));
  Series& series = data.series.emplace_back();
  series.steps = static_cast<int>(sound.steps());
  for (std::size_t k = 0; k < sound.steps(); ++k)
    series.t.push_back(static_cast<double>(k) / sound.rate);
  series.y = std::move(sound.values);
  select_columns(data, options);
  return data;
}

void write_audio(const std::string& path, Format format, const Dataset& data, AtomicFile& file) {
  check_sizes(data);
  check_single(path, data);
  if (data.y_names.empty()) throw DataError(path + ": no measured column to write as sound");
  write_sound(path, format,
              {rate_of(path, data.step_size()), data.y_names.size(), data.series[0].y}, file);
}

void write_audio(const std::string& path, Format format, const Estimates& estimates,
                 AtomicFile& file) {
  check_sizes(estimates);
  check_single(path, estimates);
  const std::size_t N = estimates.state_names.size();
  const std::size_t channels = estimates.measured_columns > 0 ? estimates.measured_columns : N;
  const StateEstimates& series = estimates.series[0];
  // The step is found as that of data with the same times.
  Dataset times;
  times.time_kind = estimates.time_kind;
  times.series.emplace_back().t = series.t;
  Sound sound{rate_of(path, times.step_size()), channels, {}};
  for (std::size_t k = 0; k < static_cast<std::size_t>(series.steps); ++k)
    for (std::size_t n = 0; n < channels; ++n) sound.values.push_back(series.mean[k * N + n]);
  write_sound(path, format, sound, file);
}

}  // namespace kalmia::data
