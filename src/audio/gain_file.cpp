#include "audio/gain_file.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "base/json.hpp"
#include "kalmia/error.hpp"
#include "model/tensor_file.hpp"

namespace kalmia::audio {
namespace {

using Eigen::half;

constexpr model::TensorFormat kFormat{"kalmia-gains", "a file of denoising networks", 1, 1,
                                      "update, or make the file again by kalmia denoise --fit"};
constexpr float kLargestHalf = 65504;
// No window of sound is longer; larger sizes are damage, and must not be laid out.
constexpr int kLargestSize = 1 << 16;

void check_sizes(const GainSizes& sizes, const model::TensorReader& file) {
  std::vector<int> all = sizes.decoder;
  all.insert(all.end(), {sizes.window, sizes.width, sizes.reach, sizes.sections, sizes.hidden});
  for (const int each : all)
    if (each < 1 || each > kLargestSize ||
        static_cast<std::size_t>(each) > file.size() / sizeof(half))
      file.refuse("a network of size " + std::to_string(each) +
                  ", but sizes must be >= 1 and fit the numbers in the file; it is damaged");
  if (sizes.window < 8 || sizes.window % Stft::kOverlap != 0 || sizes.width > sizes.window / 2 + 1)
    file.refuse("frames of " + std::to_string(sizes.window) + " samples and bands of " +
                std::to_string(sizes.width) + " bins, which do not fit; it is damaged");
  // The parameters of encoders and decoder, without their smaller parts.
  const double hidden = sizes.hidden;
  double numbers = 6 * hidden * hidden, rows = 2 * hidden;
  for (const int each : sizes.decoder) {
    numbers += rows * each;
    rows = each;
  }
  if (numbers * sizeof(half) > static_cast<double>(file.size()))
    file.refuse("networks of more numbers than the file has; it is damaged");
}

std::unique_ptr<GainModel> parse(std::string_view bytes, const std::string& source) {
  const model::TensorReader file(kFormat, bytes, source);
  const model::OrderedJson json = file.description();
  const int features = whole_number(json, "features");
  if (features != GainModel::kFeatures)
    file.refuse("its networks read features of version " + std::to_string(features) +
                ", but those of this build read version " + std::to_string(GainModel::kFeatures) +
                "; " + kFormat.remedy);
  const auto size = [&](const char* name) { return whole_number(json, name); };
  const GainSizes sizes{size("window"),   size("width"),  size("reach"),
                        size("sections"), size("hidden"), whole_numbers(json, "decoder")};
  check_sizes(sizes, file);
  auto model = std::make_unique<GainModel>(sizes, std::uint64_t{0});
  std::vector<float> parameters(model->parameters().size());
  for (const nn::ParameterView& view : model->architecture().parameters.views()) {
    std::vector<half> numbers(static_cast<std::size_t>(view.size()));
    const std::string_view found =
        file.tensor(view.name, "F16", model::tensor_shape(view), numbers.size() * sizeof(half));
    std::ranges::copy(found, reinterpret_cast<char*>(numbers.data()));
    float* to = parameters.data() + view.offset;
    for (const half number : numbers) {
      if (!Eigen::numext::isfinite(number))
        file.refuse("tensor " + view.name + " holds a number that is not finite; make it again");
      *to++ = static_cast<float>(number);
    }
  }
  model->set_parameters(parameters);
  return model;
}

}  // namespace

std::string gain_file_bytes(const GainModel& model) {
  model::TensorWriter file;
  for (const nn::ParameterView& view : model.architecture().parameters.views()) {
    std::vector<half> numbers;
    for (const float number : model.parameters().subspan(static_cast<std::size_t>(view.offset),
                                                         static_cast<std::size_t>(view.size())))
      numbers.emplace_back(std::clamp(number, -kLargestHalf, kLargestHalf));
    file.add(view.name, "F16", model::tensor_shape(view), numbers.data(),
             numbers.size() * sizeof(half));
  }
  const GainSizes& sizes = model.sizes();
  return file.bytes(kFormat, {{"window", sizes.window},
                              {"width", sizes.width},
                              {"reach", sizes.reach},
                              {"sections", sizes.sections},
                              {"hidden", sizes.hidden},
                              {"decoder", sizes.decoder},
                              {"features", GainModel::kFeatures}});
}

std::unique_ptr<GainModel> parse_gain_file(std::string_view bytes, const std::string& source) {
  try {
    return parse(bytes, source);
  } catch (const nlohmann::json::exception& error) {
    throw DataError(source + ": its header is damaged (" + error.what() + ")");
  } catch (const ConfigError& error) {
    throw DataError(source + ": the file contradicts itself (" + error.what() + ")");
  }
}

}  // namespace kalmia::audio
