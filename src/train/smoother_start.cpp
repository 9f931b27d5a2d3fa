#include "train/smoother_start.hpp"

#include <algorithm>
#include <cmath>

#include "nn/softplus.hpp"

namespace kalmia::train {
namespace {

constexpr std::ptrdiff_t kMostSteps = 1 << 16;
// Of the mean square about the centre at least this share is not noise.
constexpr double kLeastShare = 0.1;

const nn::ParameterView* find(const heads::Architecture& architecture, const std::string& name) {
  for (const nn::ParameterView& view : architecture.parameters.views())
    if (view.name == name) return &view;
  return nullptr;
}

// Copies the filter's parameters of the same name and shape; of a first layer that reads both
// directions the columns of the forward one, the others are cleared.
class Copier {
 public:
  Copier(const model::LearnedModel<float>& filter, const heads::Architecture& to,
         std::vector<float>& parameters)
      : from_(filter.architecture()), values_(filter.parameters()), to_(to), out_(parameters) {}

  bool fits(const std::string& prefix) const {
    return std::ranges::all_of(to_.parameters.views(), [&](const nn::ParameterView& view) {
      if (!view.name.starts_with(prefix)) return true;
      const nn::ParameterView* same = find(from_, view.name);
      const bool first = view.name == "decoder.0.weight";
      return same != nullptr && same->rows == view.rows &&
             (first ? to_.directions() : 1) * same->cols == view.cols;
    });
  }
  void copy(const std::string& prefix) const {
    for (const nn::ParameterView& view : to_.parameters.views())
      if (const nn::ParameterView* same = find(from_, view.name);
          same != nullptr && view.name.starts_with(prefix))
        copy(*same, view);
  }

 private:
  void copy(const nn::ParameterView& from, const nn::ParameterView& to) const {
    for (int row = 0; row < to.rows; ++row)
      for (int col = 0; col < to.cols; ++col)
        out_[static_cast<std::size_t>(to.offset + static_cast<std::ptrdiff_t>(row) * to.cols +
                                      col)] =
            col < from.cols ? values_[static_cast<std::size_t>(
                                  from.offset + static_cast<std::ptrdiff_t>(row) * from.cols + col)]
                            : 0.0f;
  }

  const heads::Architecture& from_;
  std::span<const float> values_;
  const heads::Architecture& to_;
  std::vector<float>& out_;
};

// Of the decoder's last layer the rows of G.
void clear_gain(const heads::Architecture& architecture, std::vector<float>& parameters) {
  const int rows = architecture.e_row();
  const auto last = static_cast<std::ptrdiff_t>(architecture.decoder.widths.size()) - 2;
  const std::ptrdiff_t columns = architecture.decoder.widths[static_cast<std::size_t>(last)];
  std::fill_n(parameters.begin() + architecture.decoder.weight.back(), rows * columns, 0.0f);
  std::fill_n(parameters.begin() + architecture.decoder.bias.back(), rows, 0.0f);
}

}  // namespace

std::vector<double> deviations_from_centre(const model::FeatureSpec& features,
                                           const std::vector<double>& R, const ScaledData& data,
                                           const std::vector<StepRange>& training, bool two_sided) {
  const auto M = static_cast<std::size_t>(features.meas_dim());
  std::vector<double> square(M), count(M);
  std::ptrdiff_t left = kMostSteps;
  for (const StepRange& stretch : training) {
    for (int k = stretch.begin + 1; k + 1 < stretch.end && left > 0; ++k, --left)
      for (std::size_t c = 0; c < M; ++c) {
        const double before = data.at(stretch.series, k - 1)[c];
        const double after = data.at(stretch.series, k + 1)[c];
        const double d =
            data.at(stretch.series, k)[c] - (two_sided ? 0.5 * (before + after) : before);
        if (std::isnan(d)) continue;
        square[c] += d * d;
        count[c] += 1;
      }
  }
  std::vector<double> deviations(static_cast<std::size_t>(features.state_dim()));
  for (std::size_t c = 0; c < M; ++c) {
    if (features.measured_state[c] < 0 || count[c] == 0) continue;
    const double mean = square[c] / count[c];
    deviations[static_cast<std::size_t>(features.measured_state[c])] =
        std::sqrt(std::max(mean - R[c * (M + 1)], kLeastShare * mean));
  }
  return deviations;
}

void put_deviations(const heads::Architecture& architecture, const std::vector<double>& deviations,
                    float* parameters) {
  for (int n = 0; n < architecture.state_dim(); ++n) {
    const int entry = lanes::triangle_index(n, n);
    const double deviation = deviations[static_cast<std::size_t>(n)];
    parameters[architecture.decoder.bias.back() + architecture.deviation_row(n)] =
        deviation > 0 ? static_cast<float>(nn::inverse_softplus(deviation))
                      : parameters[architecture.initial_L + entry];
  }
}

std::vector<float> starting_networks(const model::LearnedModel<float>& filter,
                                     const model::SmootherSizes& sizes, const ScaledData& data,
                                     const Split& split, std::uint64_t seed) {
  const heads::Architecture architecture(
      model::smoother_options(filter.description(), filter.expert(), sizes));
  std::vector<float> parameters(static_cast<std::size_t>(architecture.parameters.size()));
  heads::initialise<float>(architecture, seed, 1, 1, parameters.data());
  const Copier copier(filter, architecture, parameters);
  copier.copy("initial.");
  const std::string encoder = std::string(nn::encoder_name(architecture.options.encoder)) + "_fwd";
  if (copier.fits(encoder)) copier.copy(encoder);
  if (!architecture.options.recursive() || !filter.description().recursive()) {
    put_deviations(architecture,
                   deviations_from_centre(filter.description().features, filter.emission().R(),
                                          data, split.training, true),
                   parameters.data());
  } else if (copier.fits("decoder.") && copier.fits(encoder)) {
    copier.copy("decoder.");
  } else {  // what a static model puts out
    const heads::Architecture& from = filter.architecture();
    std::copy_n(filter.parameters().begin() + from.decoder.bias.back(), from.output_rows(),
                parameters.begin() + architecture.decoder.bias.back());
  }
  if (architecture.options.transition == heads::TransitionRule::TowardCentre)
    clear_gain(architecture, parameters);
  return parameters;
}

}  // namespace kalmia::train
