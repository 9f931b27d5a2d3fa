#include "audio/gain_file.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "audio/noise_power.hpp"
#include "audio/sound_cases.hpp"
#include "kalmia/error.hpp"
#include "model/tensor_file.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::test {
namespace {

using audio::GainModel;

const audio::GainSizes kSmall{32, 4, 3, 2, 5, {6}};

std::unique_ptr<GainModel> random_model() {
  auto model = std::make_unique<GainModel>(kSmall, std::uint64_t{1});
  RandomStream random(7, "gain file");
  std::vector<float> parameters(model->parameters().size());
  for (float& p : parameters) p = static_cast<float>(0.3 * random.normal());
  model->set_parameters(parameters);
  return model;
}

std::string refusal(const std::string& bytes) {
  return message_of<DataError>([&] { audio::parse_gain_file(bytes, "g"); });
}

TEST(GainFile, BackAreTheSameNetworks) {
  const auto model = random_model();
  const std::string bytes = gain_file_bytes(*model);
  const auto back = audio::parse_gain_file(bytes, "g");
  EXPECT_EQ(back->sizes().window, 32);
  EXPECT_EQ(back->sizes().hidden, 5);
  EXPECT_EQ(back->sizes().decoder, std::vector<int>{6});
  ASSERT_EQ(back->parameters().size(), model->parameters().size());
  for (std::size_t i = 0; i < back->parameters().size(); ++i)
    EXPECT_NEAR(back->parameters()[i], model->parameters()[i],
                5e-4 * std::abs(model->parameters()[i]) + 1e-7);
  // Rounded once, nothing changes any more.
  EXPECT_EQ(gain_file_bytes(*back), bytes);
}

TEST(GainFile, RoundingIsNotHeard) {
  const auto model = random_model();
  const auto back = audio::parse_gain_file(gain_file_bytes(*model), "g");
  audio::Stft stft(32);
  ThreadTeam team(1);
  std::vector<audio::Spectrogram> a{stft.forward(sum(voice(2000, 1), white_noise(2000, 0.3, 1)))};
  const std::vector<std::vector<float>> power{mean_power(a[0], quiet_frames(a[0]))};
  std::vector<audio::Spectrogram> b = a;
  apply_gains(*model, a, power, team);
  apply_gains(*back, b, power, team);
  double energy = 0, error = 0;
  for (std::size_t i = 0; i < a[0].values.size(); ++i) {
    energy += std::norm(a[0].values[i]);
    error += std::norm(a[0].values[i] - b[0].values[i]);
  }
  EXPECT_GT(error, 0);
  EXPECT_LT(10 * std::log10(error / energy), -60);
}

TEST(GainFile, EveryAlteredByteIsNoticed) {
  const std::string bytes = gain_file_bytes(*random_model());
  for (std::size_t i = 0; i < bytes.size(); i += 11) {
    std::string altered = bytes;
    altered[i] = static_cast<char>(altered[i] ^ 4);
    EXPECT_THROW(audio::parse_gain_file(altered, "g"), DataError) << i;
  }
  for (std::size_t size = 0; size < bytes.size(); size += 101)
    EXPECT_THROW(audio::parse_gain_file(bytes.substr(0, size), "g"), DataError) << size;
}

// Files whose checksums are right.
TEST(GainFile, SizesThatDoNotFitAreRefusedBeforeTheyAreLaidOut) {
  const auto with = [](int window, int width, int hidden) {
    model::TensorWriter file;
    const std::vector<char> zeros(60000);
    file.add("zeros", "F16", {30000}, zeros.data(), zeros.size());
    return refusal(file.bytes({"kalmia-gains", "a file of denoising networks", 1, 1, ""},
                              {{"window", window},
                               {"width", width},
                               {"reach", 3},
                               {"sections", 2},
                               {"hidden", hidden},
                               {"decoder", {6}},
                               {"features", GainModel::kFeatures}}));
  };
  EXPECT_NE(with(32, 4, 20000).find("more numbers than the file has"), std::string::npos);
  EXPECT_NE(with(32, 4, 40000).find("size 40000"), std::string::npos);
  EXPECT_NE(with(30, 4, 5).find("frames of 30 samples"), std::string::npos);
  EXPECT_NE(with(32, 18, 5).find("bands of 18 bins"), std::string::npos);
}

TEST(GainFile, OtherFilesAreRefused) {
  EXPECT_NE(refusal("RIFF and so on: a sound").find("g: not a file of denoising networks"),
            std::string::npos);
  EXPECT_NE(refusal("").find("0 bytes"), std::string::npos);
}

}  // namespace
}  // namespace kalmia::test
