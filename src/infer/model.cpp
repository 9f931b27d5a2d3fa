// The public Model: its file and what it says of itself.
#include "kalmia/model.hpp"

#include "base/atomic_file.hpp"
#include "data/file.hpp"
#include "infer/combined.hpp"
#include "infer/measured_map.hpp"
#include "infer/mixture.hpp"
#include "infer/model_impl.hpp"
#include "infer/stream.hpp"
#include "infer/usable.hpp"
#include "kalman/student.hpp"
#include "model/model_file.hpp"

namespace kalmia {

Model::Model(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Model Model::load(const std::string& path) {
  return Model(std::make_shared<Impl>(
      model::parse_model_file(data::read_file_bytes(path), data::source_name(path))));
}

void Model::save(const std::string& path) const {
  write_file_atomically(path, model::model_file_bytes(*impl_));
}

int Model::state_dim() const { return impl_->first().state_dim(); }
int Model::meas_dim() const { return impl_->first().meas_dim(); }
const std::vector<std::string>& Model::state_names() const {
  return impl_->first().expert().state_names;
}
const std::vector<std::string>& Model::measured_names() const {
  return impl_->first().description().measured_names;
}
const std::vector<std::string>& Model::input_names() const {
  return impl_->first().description().input_names;
}
std::vector<double> Model::emission(std::span<const double> x) const {
  if (x.size() != static_cast<std::size_t>(state_dim()))
    throw ConfigError("the state has " + std::to_string(x.size()) + " numbers, but the model has " +
                      std::to_string(state_dim()) + " states");
  std::vector<double> y(static_cast<std::size_t>(meas_dim())), H(y.size() * x.size());
  infer::MeasuredMap(impl_->first()).at(x.data(), y.data(), H.data());
  return H;
}

Estimates Model::measured(const Estimates& states) const {
  const infer::MeasuredMap map(impl_->first());
  const auto N = static_cast<std::size_t>(state_dim()), M = static_cast<std::size_t>(meas_dim());
  Estimates result = states;
  result.state_names = measured_names();
  result.measured_columns = M;
  for (std::size_t s = 0; s < states.series.size(); ++s) {
    const StateEstimates& from = states.series[s];
    StateEstimates& to = result.series[s];
    const auto steps = static_cast<std::size_t>(from.steps);
    to.mean.assign(steps * M, 0.0);
    to.covariance.assign(from.covariance.empty() ? 0 : steps * M * M, 0.0);
    for (std::size_t k = 0; k < steps; ++k)
      if (from.covariance.empty())
        map.at(from.mean.data() + k * N, to.mean.data() + k * M, nullptr);
      else
        map.moments(from.mean.data() + k * N, from.covariance.data() + k * N * N,
                    to.mean.data() + k * M, to.covariance.data() + k * M * M);
  }
  infer::require_usable("what is measured of the states", result);
  return result;
}

// The noise of a mixture is the mean of its members'. All have the same tails.
std::vector<double> Model::noise() const {
  std::vector<double> R;
  int count = 0;
  for (const auto& member : impl_->members) {
    R.resize(member->emission().R().size());
    infer::add_to_mean(++count, member->emission().R(), R);
  }
  const model::ModelDescription& description = impl_->first().description();
  if (description.tails > 0) R = kalman::student_covariance(description.tails, R);
  const std::vector<double>& scale = description.units.y_scale;
  for (std::size_t i = 0; i < scale.size(); ++i)
    for (std::size_t j = 0; j < scale.size(); ++j) R[i * scale.size() + j] *= scale[i] * scale[j];
  return R;
}

std::string Model::info_json() const { return model::description_json(*impl_); }
bool Model::gains_by_iterations() const {
  const prior::Expert& expert = impl_->first().expert();
  return !expert.linear || expert.emission != nullptr || impl_->first().description().tails > 0;
}
bool Model::smooths_by_map(const SmoothOptions& options) const {
  if (!impl_->first().description().recursive()) return false;
  const model::SmootherEntry* trained = model::find_smoother(impl_->trained_smoother());
  return trained == nullptr || trained->head != heads::HeadKind::Direct ||
         !infer::smooths_by_networks(*impl_, options, false);
}
const DataOptions& Model::data_options() const { return impl_->data; }

Stream Model::stream() const { return Stream(std::make_unique<Stream::Impl>(impl_)); }

}  // namespace kalmia
