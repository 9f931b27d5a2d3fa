#include "kalmia/denoise.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "audio/denoise_scores.hpp"
#include "audio/sound_cases.hpp"
#include "data/sound_writer.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::test {
namespace {

using data::SampleFormat;

std::string write(const ScratchFolder& folder, const std::string& name,
                  const std::vector<float>& sound, SampleFormat format = SampleFormat::Int16,
                  int channels = 1, int rate = 16000) {
  data::SoundWriter writer(folder.file(name), {rate, channels, format, 0, {}});
  writer.write(sound);
  writer.commit();
  return folder.file(name);
}

std::vector<float> scaled(std::vector<float> sound, float factor) {
  for (float& x : sound) x *= factor;
  return sound;
}

std::vector<float> words(int count) {
  std::vector<float> sound;
  for (int i = 0; i < count; ++i)
    for (const float x : voice(16000, static_cast<std::uint64_t>(i + 1))) sound.push_back(x);
  return scaled(sound, 0.1f);
}

TEST(Denoise, FileToFile) {
  const ScratchFolder folder;
  const std::vector<float> clean = words(4);
  const std::string truth = write(folder, "clean.wav", clean);
  const std::string noisy =
      write(folder, "noisy.wav", sum(clean, white_noise(static_cast<int>(clean.size()), 0.02, 1)));
  for (const char* method : {"networks", "wiener"})
    for (const char* name : {"out.wav", "out.flac"}) {
      DenoiseOptions options;
      options.method = method;
      options.clean = truth;
      const DenoiseReport report = denoise(noisy, folder.file(name), options);
      EXPECT_TRUE(report.complete);
      EXPECT_EQ(report.samples, clean.size());
      EXPECT_EQ(report.rate, 16000);
      EXPECT_EQ(report.channels, 1);
      EXPECT_DOUBLE_EQ(report.seconds, 4);
      EXPECT_GT(report.times_real_time, 0);
      EXPECT_EQ(report.clipped, 0U);
      EXPECT_FALSE(report.cut_off);
      EXPECT_LT(report.level_after_db, report.level_before_db);
      ASSERT_TRUE(report.before && report.after);
      EXPECT_GT(report.after->snr_db, report.before->snr_db + 2) << method;
      EXPECT_EQ(audio::read_whole_sound(folder.file(name)).channels[0].size(), clean.size());
      const nlohmann::json json = nlohmann::json::parse(report.to_json());
      EXPECT_EQ(json["after"]["snr_db"], report.after->snr_db);
      EXPECT_EQ(json["samples"], clean.size());
      EXPECT_EQ(json["method"], method);
      EXPECT_TRUE(json["fit"].is_null());
      EXPECT_NE(report.to_text().find("after"), std::string::npos);
    }
}

TEST(Denoise, AStreamIsTheFile) {
  const ScratchFolder folder;
  const std::vector<float> noisy = sum(words(6), white_noise(96000, 0.02, 1));
  denoise(write(folder, "in.wav", noisy, SampleFormat::Float32), folder.file("out.wav"));
  DenoiseStream stream(16000, 1);
  std::vector<float> found;
  for (std::size_t n = 0; n < noisy.size(); n += 4000) {
    for (const float x : stream.push(std::span(noisy).subspan(n, 4000))) found.push_back(x);
    EXPECT_GE(found.size() + static_cast<std::size_t>(stream.delay()), n + 4000);
  }
  EXPECT_GT(found.size(), 0U);
  for (const float x : stream.finish()) found.push_back(x);
  EXPECT_EQ(found, audio::read_whole_sound(folder.file("out.wav")).channels[0]);
}

TEST(Denoise, SaysWhatWasClippedAndCutOff) {
  const ScratchFolder folder;
  const std::vector<float> loud = scaled(sum(words(2), white_noise(32000, 0.02, 1)), 4);
  const std::string whole = write(folder, "in.wav", loud);
  std::string bytes = folder.content("in.wav");
  bytes.resize(bytes.size() - 1000);
  DenoiseOptions options;
  options.strength = 0;
  const DenoiseReport report =
      denoise(folder.file("cut.wav", bytes), folder.file("out.wav"), options);
  EXPECT_TRUE(report.cut_off);
  EXPECT_EQ(report.samples, 31500U);
  EXPECT_NE(report.to_text().find("cut off"), std::string::npos);
  // 16 bits hold what was clipped already; a whole float file that is too loud is not clipped.
  const std::string floats = write(folder, "float.wav", loud, SampleFormat::Float32);
  EXPECT_EQ(denoise(floats, folder.file("out.wav"), options).clipped, 0U);
  const DenoiseReport clipped = denoise(floats, folder.file("out.flac"), options);
  EXPECT_GT(clipped.clipped, 0U);
  EXPECT_NE(clipped.to_text().find("clipped"), std::string::npos);
}

TEST(Denoise, NetworksAreSavedAndLoaded) {
  const ScratchFolder folder;
  const std::string noisy =
      write(folder, "in.wav", sum(words(8), white_noise(128000, 0.02, 1)), SampleFormat::Float32);
  DenoiseOptions options;
  options.fit = true;
  options.fit_seconds = 0.1;
  options.save_model = folder.file("mine.kalmia-gains");
  const DenoiseReport fitted = denoise(noisy, folder.file("a.wav"), options);
  ASSERT_TRUE(fitted.fit);
  EXPECT_EQ(fitted.model, fitted.fit->kept ? "shipped, fitted" : "shipped");
  EXPECT_NE(fitted.to_text().find("fit: "), std::string::npos);
  DenoiseOptions loading;
  loading.model = options.save_model;
  denoise(noisy, folder.file("b.wav"), loading);
  const auto a = audio::read_whole_sound(folder.file("a.wav")).channels[0];
  const auto b = audio::read_whole_sound(folder.file("b.wav")).channels[0];
  for (std::size_t n = 0; n < a.size(); ++n) ASSERT_NEAR(a[n], b[n], 1e-3);
  loading.model = noisy;
  EXPECT_THROW(denoise(noisy, folder.file("b.wav"), loading), DataError);
}

TEST(Denoise, StoppedItLeavesNothing) {
  const ScratchFolder folder;
  const std::string noisy = write(folder, "in.wav", sum(words(4), white_noise(64000, 0.02, 1)));
  const DenoiseReport report =
      denoise(noisy, folder.file("out.wav"), {}, [](const DenoiseProgress& progress) {
        EXPECT_EQ(progress.stage, "denoise");
        EXPECT_GT(progress.share.value_or(0), 0);
        return false;
      });
  EXPECT_FALSE(report.complete);
  EXPECT_EQ(folder.files(), 1U);
}

TEST(Denoise, NamesEveryRuleThatIsBroken) {
  DenoiseOptions options;
  options.method = "magic";
  options.strength = 2;
  options.most_reduction = -1;
  options.look_ahead = 100;
  options.fit_seconds = 0;
  options.raw_rate = -1;
  options.raw_channels = 0;
  options.threads = -1;
  const std::string all = message_of<ConfigError>([&] { options.validate(); });
  for (const char* name : {"method", "strength", "most_reduction", "look_ahead", "fit_seconds",
                           "raw_rate", "raw_channels", "threads"})
    EXPECT_NE(all.find("  " + std::string(name) + " = "), std::string::npos) << name << all;
  DenoiseOptions wiener;
  wiener.method = "wiener";
  wiener.fit = true;
  EXPECT_THROW(wiener.validate(), ConfigError);
}

TEST(Denoise, NoInputIsOverwritten) {
  const ScratchFolder folder;
  const std::string noisy = write(folder, "in.wav", words(1));
  const std::string bytes = folder.content("in.wav");
  DenoiseOptions options;
  EXPECT_THROW(denoise(noisy, noisy, options), ConfigError);
  options.save_model = noisy;
  EXPECT_THROW(denoise(noisy, folder.file("out.wav"), options), ConfigError);
  EXPECT_EQ(folder.content("in.wav"), bytes);
  EXPECT_EQ(folder.files(), 1U);
}

TEST(Denoise, OneFileIsNotForTwoThings) {
  const ScratchFolder folder;
  const std::string noisy = write(folder, "in.wav", words(1));
  DenoiseOptions options;
  for (const std::string& name : {folder.file("out.wav"), folder.file("./out.wav")}) {
    options.save_model = name;
    EXPECT_THROW(denoise(noisy, folder.file("out.wav"), options), ConfigError) << name;
  }
  options.save_model = "-";
  EXPECT_THROW(denoise(noisy, folder.file("out.wav"), options), ConfigError);
  options.save_model.clear();
  options.clean = "-";
  EXPECT_THROW(denoise(noisy, folder.file("out.wav"), options), ConfigError);
  EXPECT_EQ(folder.files(), 1U);
}

}  // namespace
}  // namespace kalmia::test
