#include "audio/block_channel.hpp"

#include <gtest/gtest.h>

#include "audio/sound_cases.hpp"

namespace kalmia::test {
namespace {

using audio::BlockChannel;
using audio::BlockSizes;
using audio::Stft;

constexpr int kWindow = 32;
const BlockSizes kSizes{8, 4, 6, 40};

TEST(BlockChannel, BlocksAreFramesOfTheRecordingWithTheirContext) {
  const std::vector<float> sound = white_noise(1003, 1, 1);
  Stft stft(kWindow);
  const audio::Spectrogram all = stft.forward(sound);
  BlockChannel channel(kWindow, kSizes, {});
  channel.push(sound);
  channel.finish();
  int at = 0;
  while (channel.ready() > 0) {
    const BlockChannel::ContextBlock block = channel.take_block();
    EXPECT_EQ(block.first, std::min(at, 4));
    EXPECT_EQ(block.count, std::min(8, all.frames - at));
    const int begin = at - block.first;
    EXPECT_EQ(begin + block.frames.frames, std::min(all.frames, at + 12));
    for (int t = 0; t < block.frames.frames; ++t)
      for (std::size_t f = 0; f < 17; ++f)
        EXPECT_EQ(block.frames.frame(t)[f], all.frame(begin + t)[f]) << begin << " " << t;
    at += block.count;
  }
  EXPECT_EQ(at, all.frames);
}

TEST(BlockChannel, UnchangedBlocksAreTheRecording) {
  for (const int samples : {0, 1, 7, 8, 9, 31, 32, 33, 64, 500, 1003}) {
    const std::vector<float> sound = white_noise(samples, 1, 2);
    BlockChannel channel(kWindow, kSizes, {});
    std::vector<float> back;
    const auto work = [&] {
      while (channel.ready() > 0) channel.put_block(channel.take_block());
      for (const float x : channel.take_samples()) back.push_back(x);
    };
    for (std::size_t n = 0; n < sound.size(); n += 13) {
      channel.push(std::span(sound).subspan(n, std::min<std::size_t>(13, sound.size() - n)));
      work();
    }
    channel.finish();
    work();
    ASSERT_EQ(back.size(), sound.size());
    for (std::size_t n = 0; n < sound.size(); ++n) EXPECT_NEAR(back[n], sound[n], 2e-6) << n;
  }
}

TEST(BlockChannel, ABlockIsReadyAsSoonAsItsLookAheadIs) {
  BlockChannel channel(kWindow, kSizes, {});
  const std::vector<float> sound = white_noise(8 * 14, 1, 3);
  channel.push(std::span(sound).first(8 * 14 - 1));
  EXPECT_EQ(channel.ready(), 0);
  channel.push(std::span(sound).last(1));
  EXPECT_EQ(channel.ready(), 1);
}

TEST(BlockChannel, NoiseIsKnownOrTakenFromWhatWasHeard) {
  const std::vector<float> sound = white_noise(2000, 1, 4);
  BlockChannel finding(kWindow, kSizes, {}), knowing(kWindow, kSizes, std::vector<float>(17, 5));
  for (BlockChannel* channel : {&finding, &knowing}) channel->push(sound);
  double mean = 0;
  for (const float p : finding.take_block().noise_power) mean += p / 17;
  EXPECT_NEAR(mean, 16, 8);
  EXPECT_EQ(knowing.take_block().noise_power, std::vector<float>(17, 5));
}

}  // namespace
}  // namespace kalmia::test
