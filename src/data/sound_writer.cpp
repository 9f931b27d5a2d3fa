#include "data/sound_writer.hpp"

#include <sndfile.h>

#include <cmath>
#include <cstring>
#include <exception>
#include <vector>

#include "base/atomic_file.hpp"
#include "data/file.hpp"
#include "data/wav.hpp"
#include "kalmia/error.hpp"

namespace kalmia::data {

struct CloseEncoder {
  void operator()(SNDFILE* file) const { sf_close(file); }
};

// An AtomicFile for libsndfile, which goes back to write headers again. Called from C, so nothing
// may be thrown.
struct EncodedFile {
  AtomicFile& file;
  sf_count_t size = 0, at = 0;
  std::exception_ptr failure = nullptr;
};

namespace {

EncodedFile& encoded(void* user) { return *static_cast<EncodedFile*>(user); }

sf_count_t encoded_size(void* user) { return encoded(user).size; }
sf_count_t encoded_tell(void* user) { return encoded(user).at; }
sf_count_t read_nothing(void*, sf_count_t, void*) { return 0; }

sf_count_t encoded_seek(sf_count_t offset, int whence, void* user) {
  EncodedFile& file = encoded(user);
  const sf_count_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? file.at : file.size;
  if (from + offset < 0 || from + offset > file.size) return -1;
  return file.at = from + offset;
}

sf_count_t write_bytes(const void* from, sf_count_t count, void* user) {
  EncodedFile& file = encoded(user);
  try {
    const std::string_view bytes(static_cast<const char*>(from), static_cast<std::size_t>(count));
    const auto over = static_cast<std::size_t>(std::min(count, file.size - file.at));
    if (over > 0) file.file.overwrite(static_cast<std::uint64_t>(file.at), bytes.substr(0, over));
    file.file.write(bytes.substr(over));
  } catch (...) {
    file.failure = std::current_exception();
    return 0;
  }
  file.at += count;
  file.size = std::max(file.size, file.at);
  return count;
}

bool is_flac(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  if (name.find('.') == std::string::npos) return false;
  try {
    const Format format = format_of(path);
    if (format == Format::Wav || format == Format::Flac) return format == Format::Flac;
  } catch (const DataError&) {  // no format at all: the same advice
  }
  throw DataError(path + ": sound is written as .wav or .flac; give the output such a name");
}

}  // namespace

void check_sound_name(const std::string& path) { is_flac(path); }

SampleFormat written_format(SampleFormat sound, bool flac) {
  switch (sound) {
    case SampleFormat::UInt8:
    case SampleFormat::Int16:
      return SampleFormat::Int16;
    case SampleFormat::Int24:
      return SampleFormat::Int24;
    case SampleFormat::Int32:
      return flac ? SampleFormat::Int24 : SampleFormat::Int32;
    default:
      return flac ? SampleFormat::Int24 : SampleFormat::Float32;
  }
}

struct SoundWriter::Impl {
  std::string path;
  bool flac;
  SoundInfo sound;
  std::uint64_t clipped = 0;
  std::uint64_t written = 0;  // bytes of samples
  std::string bytes;
  AtomicFile file;
  EncodedFile encoded_file{file};
  std::unique_ptr<SNDFILE, CloseEncoder> encoder;

  Impl(const std::string& name, const SoundInfo& info)
      : path(name), flac(is_flac(name)), sound(info), file(name) {
    sound.format = written_format(info.format, flac);
    if (!flac) {
      file.write(wav_header_bytes(header(sound.steps)));
      return;
    }
    SF_INFO format = {};
    format.samplerate = sound.rate;
    format.channels = sound.channels;
    format.format = SF_FORMAT_FLAC |
                    (sound.format == SampleFormat::Int16 ? SF_FORMAT_PCM_16 : SF_FORMAT_PCM_24);
    if (sf_format_check(&format) == 0)
      throw DataError(path + ": " + std::to_string(sound.channels) + " channels at " +
                      std::to_string(sound.rate) +
                      " samples a second, but FLAC holds 8 and 655350 at most; use .wav");
    if (!file.can_overwrite())
      throw DataError(path + ": FLAC cannot be written into a pipe; use a file, or WAV");
    SF_VIRTUAL_IO io{&encoded_size, &encoded_seek, &read_nothing, &write_bytes, &encoded_tell};
    encoder.reset(sf_open_virtual(&io, SFM_WRITE, &format, &encoded_file));
    check_encoder(encoder != nullptr);
  }

  WavHeader header(const std::optional<std::uint64_t>& steps) const {
    WavHeader made;
    made.rate = sound.rate;
    made.channels = sound.channels;
    made.format = sound.format;
    made.speakers = sound.speakers;
    if (steps) made.bytes = *steps * made.bytes_per_step();
    return made;
  }

  void check_encoder(bool good) const {
    if (encoded_file.failure) std::rethrow_exception(encoded_file.failure);
    if (!good) throw DataError(path + ": " + sf_strerror(encoder.get()));
  }

  void encode() {
    // Left-justified, as libsndfile has whole numbers.
    const auto width = static_cast<std::size_t>(sample_bytes(sound.format));
    std::vector<int> numbers(bytes.size() / width);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      std::uint32_t upper = 0;
      for (std::size_t b = 0; b < width; ++b)
        upper |= std::uint32_t{static_cast<unsigned char>(bytes[i * width + b])}
                 << (8 * (4 - width + b));
      numbers[i] = static_cast<int>(upper);
    }
    const auto count = static_cast<sf_count_t>(numbers.size());
    check_encoder(sf_write_int(encoder.get(), numbers.data(), count) == count);
  }
};

SoundWriter::SoundWriter(const std::string& path, const SoundInfo& sound)
    : impl_(std::make_unique<Impl>(path, sound)) {}

SoundWriter::~SoundWriter() = default;

void SoundWriter::write(std::span<const float> samples) {
  impl_->bytes.clear();
  impl_->clipped += encode_samples(impl_->sound.format, samples, impl_->bytes);
  impl_->written += impl_->bytes.size();
  if (impl_->flac)
    impl_->encode();
  else
    impl_->file.write(impl_->bytes);
}

void SoundWriter::flush() { impl_->file.flush(); }

void SoundWriter::commit() {
  if (impl_->flac) {
    const bool closed = sf_close(impl_->encoder.release()) == 0;
    impl_->check_encoder(closed);
  } else {
    if (impl_->written % 2 != 0) impl_->file.write(std::string_view("\0", 1));
    WavHeader header = impl_->header({});
    const std::uint64_t steps = impl_->written / header.bytes_per_step();
    if (impl_->file.can_overwrite() && impl_->sound.steps != steps)
      impl_->file.overwrite(0, wav_header_bytes(impl_->header(steps)));
  }
  impl_->file.commit();
}

std::uint64_t SoundWriter::clipped() const { return impl_->clipped; }

}  // namespace kalmia::data
