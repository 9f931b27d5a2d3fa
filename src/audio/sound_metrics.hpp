// How near an estimate of a sound is to the clean one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kalmia::audio {

/// Where a clean recording is not silent: whole frames of `frame` samples whose root mean square is
/// above a tenth of the loudest frame's. What is left at the end is silent. 1: heard.
std::vector<std::uint8_t> heard(std::span<const float> clean, int frame);

/// Mean square of estimate - clean where it is heard (everywhere, if `where` is empty). NaN if that
/// is nowhere.
double mean_square_error(std::span<const float> estimate, std::span<const float> clean,
                         std::span<const std::uint8_t> where = {});

/// 10 log10 of the clean energy over that of the error, in dB, where it is heard.
double snr_db(std::span<const float> estimate, std::span<const float> clean,
              std::span<const std::uint8_t> where = {});

/// Mean over frames in which something is heard of their signal-to-noise ratios, each within
/// -10..35 dB.
double segmental_snr_db(std::span<const float> estimate, std::span<const float> clean, int frame,
                        std::span<const std::uint8_t> where = {});

/// Scale-invariant signal-to-distortion ratio in dB: what of the estimate is parallel to the clean
/// signal over what is not, both without their means. Reference: Le Roux et al. (2019).
double si_sdr_db(std::span<const float> estimate, std::span<const float> clean);

}  // namespace kalmia::audio
