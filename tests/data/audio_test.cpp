#include "data/audio.hpp"

#include "support/dataset_equal.hpp"
#include "support/hex.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::data {
namespace {

constexpr double kSilence = std::numeric_limits<double>::quiet_NaN();
using Names = std::vector<std::string>;

// RIFF/WAVE, 16 bits, 8000 samples a second: three frames of two channels.
const std::string kStereo = from_hex(
    "524946463000000057415645666d74201000000001000200401f0000007d00000400100064617461"
    "0c0000000040000000c0ff7f00800100");

std::string audio_of(Format format, const auto& data) {
  const ScratchFolder folder;
  AtomicFile file(folder.file("a"));
  write_audio("a.audio", format, data, file);
  file.commit();
  return folder.content("a");
}

Dataset sound(std::vector<double> values, std::size_t channels, double rate) {
  Dataset data;
  data.time_name = "t";
  data.time_kind = TimeKind::Number;
  data.y_names = channels == 1 ? Names({"y"}) : Names({"channel1", "channel2"});
  Series series;
  series.steps = static_cast<int>(values.size() / channels);
  series.y = std::move(values);
  for (int k = 0; k < series.steps; ++k) series.t.push_back(k / rate);
  data.series = {series};
  return data;
}

TEST(Audio, ReadsChannelsAndTime) {
  const Dataset data = read_audio("a.wav", kStereo, {});
  EXPECT_EQ(data.y_names, Names({"channel1", "channel2"}));
  EXPECT_EQ(data.time_name, "t");
  EXPECT_EQ(data.series[0].steps, 3);
  expect_equal(data.series[0].y, {0.5, 0, -0.5, 32767.0 / 32768, -1, 1.0 / 32768}, "y");
  expect_equal(data.series[0].t, {0, 1.0 / 8000, 2.0 / 8000}, "t");
  DataOptions options;
  options.measure = {"channel2"};
  expect_equal(read_audio("a.wav", kStereo, options).series[0].y, {0, 32767.0 / 32768, 1.0 / 32768},
               "y");
}

// 32-bit floats hold values beyond full scale, and missing ones.
TEST(Audio, WavHoldsAnyValue) {
  const Dataset mono = sound({0.25, -3, kSilence, 1e30F}, 1, 16000);
  expect_equal(read_audio("a.wav", audio_of(Format::Wav, mono), {}), mono);
  const Dataset stereo = sound({0.25, -0.5, 1, -1, 0, 0.125}, 2, 44100);
  expect_equal(read_audio("a.wav", audio_of(Format::Wav, stereo), {}), stereo);
}

TEST(Audio, FlacHoldsFullScale) {
  const Dataset data = sound({0.25, -0.5, 0.75, -1, 0, 0.125}, 2, 44100);
  expect_equal(read_audio("a.flac", audio_of(Format::Flac, data), {}), data);
  // The largest 24-bit number is a little below 1, to which 1 is rounded instead of around to -1.
  const Dataset full = sound({1, -1}, 1, 8000);
  expect_equal(read_audio("a.flac", audio_of(Format::Flac, full), {}).series[0].y,
               {8388607.0 / 8388608, -1}, "y");
  EXPECT_EQ(
      message_of<DataError>([&] {
        audio_of(Format::Flac, sound({0, 1.5}, 1, 8000));
      }),
      "a.audio: step 1, channel 1: value 1.5, but FLAC holds values within -1 and 1; use .wav");
  EXPECT_EQ(message_of<DataError>([&] {
              audio_of(Format::Flac, sound({0, kSilence}, 1, 8000));
            }),
            "a.audio: step 1, channel 1: a missing value, but FLAC cannot hold any; use .wav");
}

TEST(Audio, LongRecordings) {
  std::vector<double> values(100000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 4096) / 4096;
  const Dataset data = sound(values, 2, 48000);
  expect_equal(read_audio("a.flac", audio_of(Format::Flac, data), {}), data);
}

TEST(Audio, EqualDataGiveEqualFiles) {
  const Dataset data = sound({0.25, -0.5}, 1, 8000);
  const std::string bytes = audio_of(Format::Wav, data);
  EXPECT_EQ(bytes, audio_of(Format::Wav, data));
  // Nor is the time of writing in it, which equal files within one second do not show.
  EXPECT_EQ(bytes.find("PEAK"), std::string::npos);
}

TEST(Audio, WritesWhatIsMeasured) {
  Estimates estimates;
  estimates.state_names = {"y", "z_rate", "y_rate", "z"};
  estimates.time_kind = TimeKind::Number;
  StateEstimates series;
  series.steps = 2;
  series.t = {0, 0.001};
  series.mean = {0.5, -0.5, 9, 9, 0.25, 0, 9, 9};
  estimates.measured_columns = 2;
  estimates.series = {series};
  const Dataset data = read_audio("a.wav", audio_of(Format::Wav, estimates), {});
  expect_equal(data.series[0].y, {0.5, -0.5, 0.25, 0}, "y");
  expect_equal(data.series[0].t, {0, 0.001}, "t");
  // States alone are all written.
  estimates.measured_columns = 0;
  EXPECT_EQ(read_audio("a.wav", audio_of(Format::Wav, estimates), {}).y_names.size(), 4u);
}

TEST(Audio, RefusesWhatIsNoSound) {
  EXPECT_EQ(message_of<DataError>([] { audio_of(Format::Wav, example_dataset()); }),
            "a.audio: 2 series, but an audio file holds exactly one");
  EXPECT_EQ(message_of<DataError>([] {
              audio_of(Format::Wav, sound({0, 1, 0}, 1, 0.5));
            }),
            "a.audio: steps of 2 s, but audio needs a whole number of samples a second");
  message_of<DataError>([] { audio_of(Format::Wav, sound({0, 1, 0}, 1, 2.5)); });
  EXPECT_NE(message_of<DataError>([] {
              read_audio("a.wav", "t,y\n1,2\n", {});
            }).find("a.wav: not audio that can be read"),
            std::string::npos);
  EXPECT_EQ(message_of<DataError>([] { read_audio("a.wav", kStereo.substr(0, 44), {}); }),
            "a.wav: the recording is empty");
  Dataset infinite = sound({0, std::numeric_limits<double>::infinity()}, 1, 8000);
  const std::string bytes = audio_of(Format::Wav, infinite);
  EXPECT_EQ(
      message_of<DataError>([&] { read_audio("a.wav", bytes, {}); }),
      "a.wav: step 1, channel 1: value inf, but values must lie within -1e100 and 1e100 (leave "
      "missing ones empty)");
}

}  // namespace
}  // namespace kalmia::data
