#include "kalmia/denoise.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <utility>

#include "audio/denoise_scores.hpp"
#include "audio/denoiser.hpp"
#include "audio/gain_file.hpp"
#include "audio/gain_fit.hpp"
#include "audio/shipped_gains.hpp"
#include "base/atomic_file.hpp"
#include "base/threads.hpp"
#include "data/file.hpp"
#include "data/sound_reader.hpp"
#include "data/sound_writer.hpp"
#include "kalmia/option_rules.hpp"

namespace kalmia {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kReadSteps = 1 << 14;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

bool has_networks(const DenoiseOptions& options) { return options.method == "networks"; }

std::unique_ptr<audio::GainModel> load_networks(const DenoiseOptions& options) {
  if (!has_networks(options)) return nullptr;
  if (options.model.empty()) return audio::shipped_gains();
  return audio::parse_gain_file(data::read_file_bytes(options.model), options.model);
}

audio::DenoiserOptions denoiser_options(int rate, int channels, const DenoiseOptions& options) {
  audio::DenoiserOptions made;
  made.rate = rate;
  made.channels = channels;
  made.suppress.strength = options.strength;
  made.suppress.least_gain = std::pow(10, -options.most_reduction / 20);
  made.look_ahead = options.look_ahead;
  return made;
}

std::optional<data::RawSound> raw_sound(const DenoiseOptions& options) {
  if (options.raw_rate == 0) return std::nullopt;
  return data::RawSound{options.raw_rate, options.raw_channels};
}

bool is_regular(const std::string& path) {
  std::error_code error;
  return path != "-" && std::filesystem::is_regular_file(path, error);
}

bool can_be_file(const std::string& path) {
  std::error_code error;
  return path != "-" && (!std::filesystem::exists(path, error) || is_regular(path));
}

// What is read twice must be a file, and the output is never one that is read.
void check_files(const std::string& input, const std::string& output,
                 const DenoiseOptions& options) {
  data::check_sound_name(output);
  for (const auto& [used, option] :
       {std::pair{options.fit, "fit"}, {!options.clean.empty(), "clean"}})
    if (used && !is_regular(input))
      throw ConfigError(
          fmt::format("{} reads the recording twice, but {} is no file; save it first", option,
                      data::source_name(input)));
  if (!options.clean.empty() && !can_be_file(output))
    throw ConfigError("clean reads what was written, but the output is no file; give one");
  if (!options.clean.empty() && !can_be_file(options.clean))
    throw ConfigError(
        fmt::format("clean: {} is read twice, but it is no file; save it first", options.clean));
  if (options.save_model == "-")
    throw ConfigError("save_model: networks are written to a file, but it is -; give a name");
  std::error_code error;
  if (!options.save_model.empty() && std::filesystem::weakly_canonical(options.save_model, error) ==
                                         std::filesystem::weakly_canonical(output, error))
    throw ConfigError(output + ": is for both sound and networks; give one of them another name");
  for (const std::string& written : {output, options.save_model}) {
    if (!is_regular(written)) continue;
    for (const std::string& read : {input, options.clean, options.model})
      if (is_regular(read) && std::filesystem::equivalent(written, read, error))
        throw ConfigError(written + ": is both input and output; give the output another name");
  }
}

// The sums of squares of what goes in and comes out.
struct Level {
  double sum = 0;
  std::uint64_t count = 0;
  void add(std::span<const float> samples) {
    for (const float x : samples) sum += static_cast<double>(x) * x;
    count += samples.size();
  }
  double db() const { return 10 * std::log10(sum / static_cast<double>(count)); }
};

class FileDenoiser {
 public:
  FileDenoiser(const std::string& input, const std::string& output, const DenoiseOptions& options,
               const std::function<bool(const DenoiseProgress&)>& progress)
      : input_(input),
        output_(output),
        options_(options),
        progress_(progress),
        team_(options.threads) {
    report_.input = input;
    report_.output = output;
    report_.method = options.method;
  }

  DenoiseReport run() {
    model_ = load_networks(options_);
    if (model_) report_.model = options_.model.empty() ? "shipped" : options_.model;
    if (!options_.clean.empty()) check_clean();
    if (options_.fit && !fit()) return report_;
    if (!clean()) return report_;
    if (!options_.save_model.empty())
      write_file_atomically(options_.save_model, audio::gain_file_bytes(*model_));
    report_.complete = true;
    if (!options_.clean.empty()) add_scores();
    return report_;
  }

 private:
  bool told(const char* stage, std::optional<double> share, double sound_seconds,
            Clock::time_point start) {
    if (!progress_) return true;
    const double left =
        share && *share > 0 ? seconds_since(start) * (1 / *share - 1) : std::nan("");
    return progress_({stage, share, sound_seconds, left});
  }

  // The header of the clean recording is enough to know whether it can be used.
  void check_clean() {
    const data::SoundInfo truth = data::SoundReader(options_.clean).info();
    const data::SoundInfo noisy = data::SoundReader(input_, raw_sound(options_)).info();
    if (truth.rate != noisy.rate || truth.channels != noisy.channels)
      throw DataError(fmt::format(
          "{}: {} channels at {} Hz, but {} has {} at {} Hz; scores need "
          "the same recording without noise",
          options_.clean, truth.channels, truth.rate, input_, noisy.channels, noisy.rate));
  }

  bool fit() {
    data::SoundReader reader(input_, raw_sound(options_));
    const Clock::time_point start = Clock::now();
    // Refuses rates and channels that cannot be worked on.
    const audio::Denoiser denoiser = make_denoiser(reader.info());
    bool goes_on = true;
    report_.fit = audio::fit_gains(
        *model_, input_, reader, denoiser.window(), {options_.fit_seconds, options_.seed}, team_,
        [&](double share) { return goes_on = told("fit", share, 0, start); });
    if (report_.fit->kept) report_.model += ", fitted";
    return goes_on;
  }

  audio::Denoiser make_denoiser(const data::SoundInfo& info) {
    try {
      return audio::Denoiser(denoiser_options(info.rate, info.channels, options_), model_.get(),
                             team_);
    } catch (const ConfigError& error) {
      throw DataError(data::source_name(input_) + ": " + error.what());
    }
  }

  bool clean() {
    data::SoundReader reader(input_, raw_sound(options_));
    const data::SoundInfo& info = reader.info();
    audio::Denoiser denoiser = make_denoiser(info);
    const auto channels = static_cast<std::size_t>(info.channels);
    std::vector<float> block(kReadSteps * channels);
    std::size_t got = reader.read(block);
    if (got == 0) throw DataError(data::source_name(input_) + ": the recording is empty");
    data::SoundWriter writer(output_, info);
    Level before, after;
    const Clock::time_point start = Clock::now();
    const auto put = [&](const std::vector<float>& samples) {
      after.add(samples);
      writer.write(samples);
    };
    for (; got > 0; got = reader.read(block)) {
      const auto samples = std::span<const float>(block).first(got);
      before.add(samples);
      put(push(denoiser, samples));
      if (reader.would_wait()) {
        put(denoiser.catch_up());
        writer.flush();
      }
      const double steps = static_cast<double>(before.count / channels);
      std::optional<double> share;
      if (info.steps) share = steps / static_cast<double>(*info.steps);
      if (!told("denoise", share, steps / info.rate, start)) return false;
    }
    put(denoiser.finish());
    writer.commit();
    report_.rate = info.rate;
    report_.channels = info.channels;
    report_.samples = before.count / channels;
    report_.seconds = static_cast<double>(report_.samples) / info.rate;
    report_.work_seconds = seconds_since(start);
    report_.times_real_time = report_.seconds / report_.work_seconds;
    report_.level_before_db = before.db();
    report_.level_after_db = after.db();
    report_.clipped = writer.clipped();
    report_.cut_off = reader.cut_off();
    return true;
  }

  std::vector<float> push(audio::Denoiser& denoiser, std::span<const float> samples) {
    try {
      return denoiser.push(samples);
    } catch (const DataError& error) {
      throw DataError(data::source_name(input_) + ": " + error.what());
    }
  }

  void add_scores() {
    const audio::WholeSound truth = audio::read_whole_sound(options_.clean);
    const audio::WholeSound noisy = audio::read_whole_sound(input_, raw_sound(options_));
    report_.before = audio::score(noisy, truth);
    report_.after = audio::score(audio::read_whole_sound(output_), truth);
  }

  const std::string& input_;
  const std::string& output_;
  const DenoiseOptions& options_;
  const std::function<bool(const DenoiseProgress&)>& progress_;
  ThreadTeam team_;
  std::unique_ptr<audio::GainModel> model_;
  DenoiseReport report_;
};

}  // namespace

void DenoiseOptions::validate() const {
  std::string broken;
  const auto rule = [&](bool good, const std::string& text) {
    if (!good) broken += "\n  " + text;
  };
  rule(method == "networks" || method == "wiener",
       "method = " + method + ", but it must be networks or wiener");
  rule(strength >= 0 && strength <= 1,
       fmt::format("strength = {}, but it must be 0 to 1", strength));
  rule(most_reduction >= 0,
       fmt::format("most_reduction = {} dB, but it must be >= 0", most_reduction));
  rule(look_ahead >= 0 && look_ahead <= 60,
       fmt::format("look_ahead = {} s, but it must be 0 to 60", look_ahead));
  rule(fit_seconds > 0, fmt::format("fit_seconds = {}, but it must be > 0", fit_seconds));
  rule(raw_rate >= 0, fmt::format("raw_rate = {}, but it must be >= 1, or 0: not raw", raw_rate));
  rule(raw_channels >= 1, fmt::format("raw_channels = {}, but it must be >= 1", raw_channels));
  rule(kThreadsRange.holds(threads),
       fmt::format("threads = {}, but it must be {}", threads, kThreadsRange.text()));
  const bool networks = method != "wiener";
  rule(networks || !fit, "fit trains networks, but the method is wiener");
  rule(networks || model.empty(), "model names networks, but the method is wiener");
  rule(networks || save_model.empty(), "save_model writes networks, but the method is wiener");
  if (!broken.empty()) throw ConfigError("options that cannot be used:" + broken);
}

DenoiseReport denoise(const std::string& input, const std::string& output,
                      const DenoiseOptions& options,
                      const std::function<bool(const DenoiseProgress&)>& progress) {
  options.validate();
  check_files(input, output, options);
  return FileDenoiser(input, output, options, progress).run();
}

struct DenoiseStream::Impl {
  ThreadTeam team;
  std::unique_ptr<audio::GainModel> model;
  audio::Denoiser denoiser;

  Impl(int rate, int channels, const DenoiseOptions& options)
      : team(options.threads),
        model(load_networks(options)),
        denoiser(live(rate, channels, options), model.get(), team) {}

  static audio::DenoiserOptions live(int rate, int channels, const DenoiseOptions& options) {
    audio::DenoiserOptions made = denoiser_options(rate, channels, options);
    made.together = 1;
    return made;
  }
};

DenoiseStream::DenoiseStream(int rate, int channels, const DenoiseOptions& options) {
  options.validate();
  impl_ = std::make_unique<Impl>(rate, channels, options);
}
DenoiseStream::~DenoiseStream() = default;
DenoiseStream::DenoiseStream(DenoiseStream&&) noexcept = default;
DenoiseStream& DenoiseStream::operator=(DenoiseStream&&) noexcept = default;

int DenoiseStream::delay() const { return impl_->denoiser.delay(); }
std::vector<float> DenoiseStream::push(std::span<const float> samples) {
  return impl_->denoiser.push(samples);
}
std::vector<float> DenoiseStream::finish() { return impl_->denoiser.finish(); }

}  // namespace kalmia
