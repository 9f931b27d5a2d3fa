#include "train/fit_context.hpp"

#include <string>

#include "base/random.hpp"
#include "model/outliers.hpp"
#include "train/first_description.hpp"

namespace kalmia::train {
namespace {

// Under heavy tails scales, starts and limits are those of the measurements without their outliers.
// The statistics of all are computed in any case: they refuse data that cannot be used.
std::vector<model::ChannelStatistics> statistics_of(const Dataset& data,
                                                    const model::Tails& tails) {
  std::vector<model::ChannelStatistics> all = model::channel_statistics(data);
  if (model::is_gaussian(tails)) return all;
  return model::channel_statistics(model::without_outliers(data));
}

// Reports progress with the number of the member in training, and how many there are.
Report numbered(const Report& progress, int number, int count) {
  if (count == 1 || !progress) return progress;
  return [=](FitProgress& now) {
    FitProgress named = now;
    named.stage += ' ' + std::to_string(number) + '/' + std::to_string(count);
    return progress(named);
  };
}

}  // namespace

FitContext::FitContext(const FitData& fit_data, const FitSpec& fit_spec, const DataOptions& columns,
                       ThreadTeam& threads, ProgressReport& progress)
    : data(fit_data),
      spec(fit_spec),
      data_options(columns),
      team(threads),
      channels(statistics_of(data.training(), spec.model.tails)),
      noise(noise_of(data.training(), spec.model)),
      holdout(choose_holdout(data, channels, spec.train)),
      report(progress) {}

namespace {

// A covariance's channels are searched for as if they were independent.
model::NoiseSpec noise_of_channel(const model::NoiseSpec& noise, std::size_t channel,
                                  std::size_t channels) {
  model::NoiseSpec one = noise;
  if (one.kind == model::NoiseSpec::Kind::LearnFull)
    one.kind = model::NoiseSpec::Kind::LearnDiagonal;
  if (!noise.R.empty()) one.R = {noise.R[channel * (channels + 1)]};
  return one;
}

Holdout with_values(Holdout holdout, const std::vector<model::ChannelStatistics>& channels) {
  holdout.values = 0;
  for (const auto& channel : channels) holdout.values += static_cast<double>(channel.measured);
  return holdout;
}

}  // namespace

FitContext::FitContext(const FitContext& whole, const FitData& channel_data, std::size_t channel)
    : data(channel_data),
      spec(whole.spec),
      data_options(whole.data_options),
      team(whole.team),
      channels(statistics_of(data.training(), spec.model.tails)),
      noise(noise_of_channel(whole.noise, channel, whole.channels.size())),
      holdout(with_values(whole.holdout, channels)),
      report(whole.report) {}

TrainingContext TrainingContext::of_member(int index, int number, int count) const {
  TrainingContext own = *this;
  own.spec.train.seed = member_seed(spec.train.seed, index);
  own.progress = numbered(progress, number, count);
  return own;
}

std::uint64_t member_seed(std::uint64_t seed, int member) {
  return member == 0 ? seed
                     : RandomStream(seed, "member", static_cast<std::uint64_t>(member)).bits();
}

}  // namespace kalmia::train
