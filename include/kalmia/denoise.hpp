/// \file
/// Takes the noise out of recordings, of any rate and length, and out of sound as it comes.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "kalmia/error.hpp"

namespace kalmia {

/// How noise is found and taken away.
struct DenoiseOptions {
  /// `networks`, which know speech, or `wiener`, the classical filter, which knows nothing.
  std::string method = "networks";
  /// File of networks (`save_model` makes one). Empty: those that come with the library.
  std::string model;
  /// 1: everything that is taken for noise goes; 0: nothing does. Between them a mixture.
  double strength = 1;
  /// Nothing is made quieter by more than this, in dB. Less of it leaves an even rest of the noise,
  /// in which remaining errors are not heard.
  double most_reduction = 60;
  /// Seconds of sound after a place that its noise is taken from. Sound comes out of a stream
  /// two seconds later than that.
  double look_ahead = 2;
  /// Train the networks on the recording itself first. Needs a file, of some seconds.
  bool fit = false;
  /// Seconds that this may take.
  double fit_seconds = 10;
  /// Where the networks that were used are written to. Empty: nowhere.
  std::string save_model;
  /// The same recording without noise, if there is one: for scores alone, after all is done.
  std::string clean;
  /// Samples a second of raw input: 16-bit whole numbers, little endian, no header. 0: not raw.
  int raw_rate = 0;
  /// Channels of raw input.
  int raw_channels = 1;
  /// Seed of `fit`.
  std::uint64_t seed = 1;
  /// 0: all the machine has. Results do not depend on it, but for `fit`, which trains by the clock.
  int threads = 0;

  /// Throws ConfigError that names every violated rule.
  void validate() const;
};

template <typename Options, typename Visitor>
requires std::same_as<std::remove_const_t<Options>, DenoiseOptions>
constexpr void visit_fields(Options& o, Visitor&& visit) {
  visit("method", o.method, "networks (they know speech) or wiener (the classical filter)");
  visit("model", o.model, "file of networks made by --save-model (default: those of the program)");
  visit("strength", o.strength, "1: all that is taken for noise goes; 0: nothing does");
  visit("most_reduction", o.most_reduction, "nothing gets quieter by more than this, in dB");
  visit("look_ahead", o.look_ahead,
        "seconds after a place that its noise is taken from; a stream comes out two seconds "
        "later than that");
  visit("fit", o.fit, "train the networks on the recording itself first");
  visit("fit_seconds", o.fit_seconds, "seconds that --fit may take");
  visit("save_model", o.save_model, "file that the networks are written to (default: none)");
  visit("clean", o.clean,
        "the recording without noise, for scores alone, after all is done (default: none)");
  visit("raw_rate", o.raw_rate,
        "samples a second of input without a header, 16-bit little endian (default: not raw)");
  visit("raw_channels", o.raw_channels, "channels of input without a header");
  visit("seed", o.seed, "seed of --fit");
  visit("threads", o.threads, "threads; 0: all the machine has");
}

/// How near a recording is to the clean one; means over channels.
struct SoundScores {
  double mse = 0;
  double snr_db = 0;
  double segmental_snr_db = 0;  ///< over frames of 32 ms in which something is heard
  double si_sdr_db = 0;         ///< scale-invariant signal-to-distortion ratio
};

/// What training on a recording did.
struct DenoiseFit {
  double seconds = 0;
  int updates = 0;
  bool kept = false;  ///< false: nothing was better on the parts of the recording held out
};

/// What was done.
struct DenoiseReport {
  std::string input, output;
  std::string method;
  std::string model;  ///< of networks: `shipped` or the file; with `, fitted` if they were
  int rate = 0;
  int channels = 0;
  std::uint64_t samples = 0;  ///< of a channel
  double seconds = 0;         ///< of sound
  double work_seconds = 0;    ///< that it took, without `fit`
  double times_real_time = 0;
  double level_before_db = 0, level_after_db = 0;  ///< root mean square over full scale
  std::uint64_t clipped = 0;                       ///< samples that were cut to full scale
  bool cut_off = false;   ///< the input ended before the length in its header
  bool complete = false;  ///< false: stopped on the way, and no file was written
  std::optional<DenoiseFit> fit;
  std::optional<SoundScores> before, after;

  std::string to_text() const;
  std::string to_json() const;
};

/// Where work stands.
struct DenoiseProgress {
  std::string stage;            ///< `fit` or `denoise`
  std::optional<double> share;  ///< of the stage, if it is known
  double sound_seconds = 0;     ///< of sound that are read
  double seconds_left = 0;      ///< of the stage, if the share is known
};

/// Reads `input` (WAV, FLAC and what else libsndfile knows; "-": WAV from standard input) and
/// writes `output` (.wav or .flac; "-": WAV to standard output, as it is finished): as many samples
/// and channels, at the same rate and level, without noise. Memory does not grow with the length,
/// but for scores. `progress` is called now and then; when it returns false, work ends without a
/// file. Throws ConfigError, DataError, IoError.
DenoiseReport denoise(const std::string& input, const std::string& output,
                      const DenoiseOptions& options = {},
                      const std::function<bool(const DenoiseProgress&)>& progress = {});

/// Sound as it comes. What comes out does not depend on the portions.
class DenoiseStream {
 public:
  /// Options of files (fit, save_model, clean, raw_...) do not count. Throws ConfigError, and what
  /// reading `model` throws.
  DenoiseStream(int rate, int channels, const DenoiseOptions& options = {});
  ~DenoiseStream();
  DenoiseStream(DenoiseStream&&) noexcept;
  DenoiseStream& operator=(DenoiseStream&&) noexcept;

  /// Samples of a channel that a sample waits for, at most.
  int delay() const;
  /// Takes samples, channels next to each other, within -1 and 1 at full scale, and returns those
  /// that are finished. Throws DataError for one that is not finite.
  std::vector<float> push(std::span<const float> samples);
  /// The rest; nothing may be pushed afterwards.
  std::vector<float> finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kalmia
