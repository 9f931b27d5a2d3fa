#include "data/sound_reader.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sndfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>
#include <utility>

#include "base/descriptor.hpp"
#include "data/file.hpp"
#include "data/wav.hpp"
#include "kalmia/error.hpp"

namespace kalmia::data {
namespace {

SampleFormat nearest_format(int format) {
  switch (format & SF_FORMAT_SUBMASK) {
    case SF_FORMAT_PCM_S8:
    case SF_FORMAT_PCM_U8:
      return SampleFormat::UInt8;
    case SF_FORMAT_PCM_24:
      return SampleFormat::Int24;
    case SF_FORMAT_PCM_32:
      return SampleFormat::Int32;
    case SF_FORMAT_FLOAT:
      return SampleFormat::Float32;
    case SF_FORMAT_DOUBLE:
      return SampleFormat::Float64;
    default:
      return SampleFormat::Int16;
  }
}

}  // namespace

struct CloseDecoder {
  void operator()(SNDFILE* file) const { sf_close(file); }
};

struct SoundReader::Impl {
  std::string path, source;
  int file = -1;
  bool regular = false;
  SoundInfo info;
  bool cut_off = false;
  // Samples as numbers, read here.
  std::string pending;                      // bytes that were read but not used
  std::optional<std::uint64_t> bytes_left;  // none: to the end of the input
  // Everything else.
  std::unique_ptr<SNDFILE, CloseDecoder> decoder;

  explicit Impl(const std::string& name) : path(name), source(source_name(name)) {
    if (path == "-")
      file = ::dup(STDIN_FILENO);
    else
      do file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
      while (file < 0 && errno == EINTR);
    struct stat status = {};
    if (file < 0 || ::fstat(file, &status) != 0) fail(errno);
    if (S_ISDIR(status.st_mode)) fail(EISDIR);
    regular = S_ISREG(status.st_mode);
  }
  ~Impl() {
    decoder.reset();
    if (file >= 0) ::close(file);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  [[noreturn]] void fail(int error) {
    if (file >= 0) ::close(file);
    file = -1;
    throw IoError("cannot read " + source + ": " + std::generic_category().message(error));
  }

  // What one call of the system gives; nothing at the end.
  std::size_t read_some(char* to, std::size_t room) {
    while (true) {
      const ssize_t got = ::read(file, to, room);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (!try_again(file, POLLIN)) fail(errno);
    }
  }

  std::string read_bytes(std::size_t count) {
    std::string bytes(count, '\0');
    std::size_t used = 0;
    while (used < count) {
      const std::size_t got = read_some(bytes.data() + used, count - used);
      if (got == 0) break;
      used += got;
    }
    bytes.resize(used);
    return bytes;
  }

  void open_raw(const RawSound& raw) {
    info.rate = raw.rate;
    info.channels = raw.channels;
  }

  void open() {
    const std::string start = read_bytes(4);
    if (start.empty()) throw DataError(source + ": nothing in it, but a recording was expected");
    const bool wav = start == "RIFF" || start == "RF64";
    if (wav && open_wav(start)) return;
    if (!regular || ::lseek(file, 0, SEEK_SET) != 0)
      throw DataError(source +
                      (wav ? ": WAV with coded samples" : ": begins with other bytes than WAV") +
                      ", but only WAV with plain samples can be read from a pipe; give the name of "
                      "a file, or of raw samples --raw-rate");
    SF_INFO found = {};
    decoder.reset(sf_open_fd(file, SFM_READ, &found, SF_FALSE));
    if (!decoder) throw DataError(source + ": not audio that can be read: " + sf_strerror(nullptr));
    if (found.samplerate < 1 || found.channels < 1)
      throw DataError(source + ": " + std::to_string(found.channels) + " channels at " +
                      std::to_string(found.samplerate) +
                      " samples a second, but both must be >= 1");
    info.rate = found.samplerate;
    info.channels = found.channels;
    info.format = nearest_format(found.format);
    if (found.frames >= 0 && found.frames < std::numeric_limits<sf_count_t>::max())
      info.steps = static_cast<std::uint64_t>(found.frames);
  }

  // False: the samples are coded.
  bool open_wav(std::string start) {
    const WavHeader header = read_wav_header(source, [&](std::size_t count) {
      // Its first bytes were read already.
      std::string bytes = std::exchange(start, {});
      return bytes + read_bytes(count - bytes.size());
    });
    if (!header.format) return false;
    info.rate = header.rate;
    info.channels = header.channels;
    info.format = *header.format;
    info.speakers = header.speakers;
    bytes_left = header.bytes;
    if (bytes_left) info.steps = *bytes_left / header.bytes_per_step();
    return true;
  }

  std::size_t read_decoded(std::span<float> to) {
    const auto channels = static_cast<std::size_t>(info.channels);
    const sf_count_t got =
        sf_readf_float(decoder.get(), to.data(), static_cast<sf_count_t>(to.size() / channels));
    if (sf_error(decoder.get()) != SF_ERR_NO_ERROR)
      throw DataError(source + ": the recording is damaged: " + sf_strerror(decoder.get()));
    return static_cast<std::size_t>(std::max<sf_count_t>(got, 0)) * channels;
  }

  std::size_t read_plain(std::span<float> to) {
    const auto width = static_cast<std::size_t>(sample_bytes(info.format));
    const std::size_t step = width * static_cast<std::size_t>(info.channels);
    std::size_t most = to.size() * width / step * step;
    if (bytes_left) most = static_cast<std::size_t>(std::min<std::uint64_t>(most, *bytes_left));
    // At least one step; of a file all there is room for.
    while (pending.size() < (regular ? most : std::min(step, most))) {
      const std::size_t had = pending.size();
      pending.resize(most);
      const std::size_t got = read_some(pending.data() + had, most - had);
      pending.resize(had + got);
      if (got == 0) break;
    }
    const std::size_t used = pending.size() / step * step;
    if (used == 0) {
      cut_off = !pending.empty() || (bytes_left && *bytes_left >= step);
      return 0;
    }
    const std::size_t samples = used / width;
    decode_samples(info.format, pending, to.first(samples));
    pending.erase(0, used);
    if (bytes_left) *bytes_left -= used;
    return samples;
  }
};

SoundReader::SoundReader(const std::string& path, const std::optional<RawSound>& raw)
    : impl_(std::make_unique<Impl>(path)) {
  if (raw)
    impl_->open_raw(*raw);
  else
    impl_->open();
}

SoundReader::~SoundReader() = default;

const SoundInfo& SoundReader::info() const { return impl_->info; }

std::size_t SoundReader::read(std::span<float> to) {
  return impl_->decoder ? impl_->read_decoded(to) : impl_->read_plain(to);
}

bool SoundReader::would_wait() const {
  if (impl_->regular) return false;
  pollfd waiting{impl_->file, POLLIN, 0};
  return ::poll(&waiting, 1, 0) == 0;
}

bool SoundReader::cut_off() const { return impl_->cut_off; }

}  // namespace kalmia::data
