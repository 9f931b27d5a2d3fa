// The public Model: files, and estimates in the user's units.
#include "kalmia/model.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/atomic_file.hpp"
#include "data/file_bytes.hpp"
#include "infer/filter_pass.hpp"
#include "infer/model_impl.hpp"
#include "infer/stream_impl.hpp"
#include "kalman/classical_batch.hpp"
#include "model/model_file.hpp"

namespace kalmia {
namespace {

using infer::FilterPass;
using infer::Piece;
using kalman::row_at;

// Steps that are worked on at a time, so that memory stays bounded for any number of series.
constexpr std::size_t kChunkSteps = std::size_t{1} << 21;

// The measurements of a data set in the model's units, checked against the model.
class ScaledSeries {
 public:
  ScaledSeries(const model::LearnedModel<float>& model, const Dataset& data) : data_(data) {
    const auto M = static_cast<std::size_t>(model.meas_dim());
    if (data.y_names.size() != M)
      throw DataError((data.source.empty() ? "" : data.source + ": ") + "the data have " +
                      std::to_string(data.y_names.size()) +
                      " measured columns, but the model has " + std::to_string(M) +
                      list(model.description().measured_names) + "; name them with --measure");
    const model::Units& units = model.description().units;
    for (const Series& series : data.series) {
      if (series.y.size() != static_cast<std::size_t>(series.steps) * M)
        throw DataError("series \"" + series.key + "\" has " + std::to_string(series.y.size()) +
                        " values, but " + std::to_string(series.steps) + " steps of " +
                        std::to_string(M) + " channels");
      std::vector<double>& y = y_.emplace_back(series.y);
      for (std::size_t i = 0; i < y.size(); ++i) {
        if (std::isinf(y[i]))
          throw DataError(name(static_cast<int>(y_.size()) - 1) + ", step " +
                          std::to_string(i / M + 1) + ", column " + data.y_names[i % M] +
                          ": the value is infinite; leave it empty to mark it as missing");
        if (std::isnan(y[i])) continue;
        y[i] = (y[i] - units.y_offset[i % M]) / units.y_scale[i % M];
        log_units_ += std::log(units.y_scale[i % M]);
        ++measured_;
      }
    }
  }

  Piece piece(int series) const {
    return {y_[static_cast<std::size_t>(series)].data(),
            data_.series[static_cast<std::size_t>(series)].steps};
  }
  const std::vector<double>& y(int series) const { return y_[static_cast<std::size_t>(series)]; }
  std::string name(int series) const {
    const std::string& key = data_.series[static_cast<std::size_t>(series)].key;
    return (data_.source.empty() ? "the data" : data_.source) +
           (key.empty() ? "" : ", series \"" + key + "\"");
  }
  std::size_t measured() const { return measured_; }
  /// The log-likelihood in the user's units from the engine's sum of nll.
  double log_likelihood(double nll) const {
    return -0.5 * (nll + static_cast<double>(measured_) * std::log(2 * std::numbers::pi)) -
           log_units_;
  }

  // Series of similar length, about kChunkSteps together.
  std::vector<std::vector<int>> chunks() const {
    std::vector<int> order(y_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return piece(a).steps > piece(b).steps; });
    // A chunk is as wide as its longest series, which comes first.
    std::vector<std::vector<int>> result;
    for (const int s : order) {
      if (result.empty() ||
          (result.back().size() + 1) * static_cast<std::size_t>(piece(result.back()[0]).steps) >
              kChunkSteps)
        result.emplace_back();
      result.back().push_back(s);
    }
    return result;
  }

 private:
  static std::string list(const std::vector<std::string>& names) {
    std::string text = " (";
    for (std::size_t i = 0; i < names.size(); ++i) text += (i > 0 ? ", " : "") + names[i];
    return text + ")";
  }

  const Dataset& data_;
  std::vector<std::vector<double>> y_;
  double log_units_ = 0;
  std::size_t measured_ = 0;
};

void to_user_units(const model::Units& units, std::span<const double> x, std::span<const double> P,
                   double* mean, double* covariance) {
  const std::size_t N = units.x_scale.size();
  for (std::size_t i = 0; i < N; ++i) {
    mean[i] = units.x_offset[i] + units.x_scale[i] * x[i];
    for (std::size_t j = 0; j < N; ++j)
      covariance[i * N + j] = units.x_scale[i] * units.x_scale[j] * P[i * N + j];
  }
}

Estimates empty_estimates(const model::LearnedModel<float>& model, const Dataset& data) {
  Estimates estimates;
  estimates.state_names = model.expert().state_names;
  estimates.key_name = data.key_name;
  estimates.time_name = data.time_name;
  estimates.time_kind = data.time_kind;
  return estimates;
}

StateEstimates room_for(const Series& series, int steps, std::size_t N) {
  StateEstimates result;
  result.key = series.key;
  result.steps = steps;
  result.mean.resize(static_cast<std::size_t>(steps) * N);
  result.covariance.resize(static_cast<std::size_t>(steps) * N * N);
  return result;
}

using Name = std::function<std::string(int piece)>;

// Filters all series, chunk by chunk, and hands each pass to `take(pass, series in it, their
// names)`.
void for_each_pass(
    const model::LearnedModel<float>& model, const ScaledSeries& scaled,
    const infer::Wanted& wanted, ThreadTeam& team,
    const std::function<void(FilterPass&, const std::vector<int>&, const Name&)>& take) {
  for (const std::vector<int>& chunk : scaled.chunks()) {
    std::vector<Piece> pieces;
    for (const int s : chunk) pieces.push_back(scaled.piece(s));
    const Name name = [&](int piece) {
      return scaled.name(chunk[static_cast<std::size_t>(piece)]);
    };
    FilterPass pass = infer::run_pass(model, pieces, wanted, team, name);
    take(pass, chunk, name);
  }
}

// Filter and smoother: their moments in the user's units.
Estimates estimate(const model::LearnedModel<float>& model, const Dataset& data, int threads,
                   bool smooth) {
  const ScaledSeries scaled(model, data);
  Estimates estimates = empty_estimates(model, data);
  estimates.series.resize(data.series.size());
  estimates.measured_values = scaled.measured();
  ThreadTeam team(threads);
  const int N = model.state_dim();
  double nll = 0;
  const infer::Wanted wanted{smooth, true, smooth};
  for_each_pass(model, scaled, wanted, team,
                [&](FilterPass& pass, const std::vector<int>& chunk, const Name& name) {
                  if (smooth) infer::smooth_pass(pass, team, name);
                  const Moments& moments = smooth ? pass.moments.smoothed : pass.moments.filtered;
                  for (std::size_t i = 0; i < chunk.size(); ++i) {
                    const Series& series = data.series[static_cast<std::size_t>(chunk[i])];
                    StateEstimates& out = estimates.series[static_cast<std::size_t>(chunk[i])];
                    out = room_for(series, series.steps, static_cast<std::size_t>(N));
                    out.t = series.t;
                    for (int k = 0; k < series.steps; ++k) {
                      const std::size_t x = row_at(pass.moments, static_cast<int>(i), k, N);
                      const std::size_t P = row_at(pass.moments, static_cast<int>(i), k, N * N);
                      to_user_units(
                          model.description().units,
                          {moments.mean.data() + x, static_cast<std::size_t>(N)},
                          {moments.covariance.data() + P, static_cast<std::size_t>(N * N)},
                          out.mean.data() + static_cast<std::ptrdiff_t>(k) * N,
                          out.covariance.data() + static_cast<std::ptrdiff_t>(k) * N * N);
                    }
                    nll += pass.moments.log_likelihood[i];
                  }
                });
  estimates.log_likelihood = scaled.log_likelihood(nll);
  return estimates;
}

// Time between steps: that of the data, or the model's where no series has two of them.
double step_size(const Dataset& data, const model::ModelDescription& description) {
  for (const Series& series : data.series)
    if (series.t.size() > 1) return data.step_size();
  return description.dt;
}

// Times of the steps after the end of a series; NaN for one that never began.
std::vector<double> times_after(const Dataset& data, const Series& series, double dt, int horizon) {
  std::vector<double> t;
  if (data.time_kind == TimeKind::None) return t;
  const double last = series.t.empty() ? std::nan("") : series.t.back();
  for (int i = 1; i <= horizon; ++i) t.push_back(last + i * dt);
  return t;
}

}  // namespace

Model::Model(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Model Model::load(const std::string& path) {
  auto impl = std::make_shared<Impl>();
  impl->learned = model::parse_model_file(data::read_file_bytes(path), data::source_name(path));
  return Model(std::move(impl));
}

void Model::save(const std::string& path) const {
  write_file_atomically(path, model::model_file_bytes(*impl_->learned));
}

int Model::state_dim() const { return impl_->learned->state_dim(); }
int Model::meas_dim() const { return impl_->learned->meas_dim(); }
const std::vector<std::string>& Model::state_names() const {
  return impl_->learned->expert().state_names;
}
const std::vector<std::string>& Model::measured_names() const {
  return impl_->learned->description().measured_names;
}
std::vector<double> Model::emission() const { return impl_->learned->emission().H(); }

std::vector<double> Model::noise() const {
  std::vector<double> R = impl_->learned->emission().R();
  const std::vector<double>& scale = impl_->learned->description().units.y_scale;
  for (std::size_t i = 0; i < scale.size(); ++i)
    for (std::size_t j = 0; j < scale.size(); ++j) R[i * scale.size() + j] *= scale[i] * scale[j];
  return R;
}

std::string Model::info_json() const { return model::description_json(*impl_->learned); }
const DataOptions& Model::data_options() const { return impl_->learned->description().data; }

Estimates Model::filter(const Dataset& data, int threads) const {
  return estimate(*impl_->learned, data, threads, false);
}

Estimates Model::smooth(const Dataset& data, int threads) const {
  return estimate(*impl_->learned, data, threads, true);
}

Estimates Model::sample(const Dataset& data, int count, std::uint64_t seed, int threads) const {
  if (count < 1) throw ConfigError("count = " + std::to_string(count) + ", but it must be >= 1");
  const model::LearnedModel<float>& model = *impl_->learned;
  const ScaledSeries scaled(model, data);
  Estimates estimates = empty_estimates(model, data);
  if (estimates.key_name.empty()) estimates.key_name = "sample";
  const auto samples = static_cast<std::size_t>(count);
  estimates.series.resize(data.series.size() * samples);
  estimates.measured_values = scaled.measured();
  ThreadTeam team(threads);
  const auto N = static_cast<std::size_t>(model.state_dim());
  const model::Units& units = model.description().units;
  double nll = 0;
  for_each_pass(
      model, scaled, {true, true, true}, team,
      [&](FilterPass& pass, const std::vector<int>& chunk, const Name&) {
        team.run(static_cast<int>(chunk.size()), [&](int i, int) {
          const auto s = static_cast<std::size_t>(chunk[static_cast<std::size_t>(i)]);
          const Series& series = data.series[s];
          std::vector<RandomStream> random;
          for (std::size_t c = 0; c < samples; ++c)
            random.emplace_back(seed, "samples of series " + std::to_string(s), c);
          const std::size_t size = static_cast<std::size_t>(series.steps) * N;
          std::vector<double> paths(samples * size);
          infer::sample_pass(pass, i, random, paths);
          for (std::size_t c = 0; c < samples; ++c) {
            StateEstimates& out = estimates.series[s * samples + c];
            out.key = (series.key.empty() ? "" : series.key + "#") + std::to_string(c + 1);
            out.steps = series.steps;
            out.t = series.t;
            out.mean.resize(size);
            for (std::size_t j = 0; j < size; ++j)
              out.mean[j] = units.x_offset[j % N] + units.x_scale[j % N] * paths[c * size + j];
          }
        });
        for (const double each : pass.moments.log_likelihood) nll += each;
      });
  estimates.log_likelihood = scaled.log_likelihood(nll);
  return estimates;
}

std::vector<Innovations> Model::innovations(const Dataset& data, int threads) const {
  const model::LearnedModel<float>& model = *impl_->learned;
  const ScaledSeries scaled(model, data);
  std::vector<Innovations> result(data.series.size());
  ThreadTeam team(threads);
  const int N = model.state_dim();
  const auto M = static_cast<std::size_t>(model.meas_dim());
  const std::vector<double> R = noise();
  const std::vector<int>& measured = model.expert().measured_state;
  const model::Units& units = model.description().units;
  for_each_pass(
      model, scaled, {true, false, false}, team,
      [&](FilterPass& pass, const std::vector<int>& chunk, const Name&) {
        for (std::size_t i = 0; i < chunk.size(); ++i) {
          const auto s = static_cast<std::size_t>(chunk[i]);
          const auto steps = static_cast<std::size_t>(data.series[s].steps);
          result[s].residual.resize(steps * M);
          result[s].covariance.resize(steps * M * M);
          for (std::size_t k = 0; k < steps; ++k) {
            const double* x = pass.moments.predicted.mean.data() +
                              row_at(pass.moments, static_cast<int>(i), static_cast<int>(k), N);
            const double* P = pass.moments.predicted.covariance.data() +
                              row_at(pass.moments, static_cast<int>(i), static_cast<int>(k), N * N);
            for (std::size_t m = 0; m < M; ++m) {
              result[s].residual[k * M + m] =
                  units.y_scale[m] * (scaled.y(chunk[i])[k * M + m] - x[measured[m]]);
              for (std::size_t l = 0; l < M; ++l)
                result[s].covariance[(k * M + m) * M + l] =
                    units.y_scale[m] * units.y_scale[l] * P[measured[m] * N + measured[l]] +
                    R[m * M + l];
            }
          }
        }
      });
  return result;
}

Estimates Model::forecast(const Dataset& data, int horizon, int threads) const {
  if (horizon < 1)
    throw ConfigError("horizon = " + std::to_string(horizon) + ", but it must be >= 1");
  const model::LearnedModel<float>& model = *impl_->learned;
  const ScaledSeries scaled(model, data);
  Estimates estimates = empty_estimates(model, data);
  estimates.measured_values = scaled.measured();
  estimates.series.resize(data.series.size());
  const auto N = static_cast<std::size_t>(model.state_dim());
  const auto M = static_cast<std::size_t>(model.meas_dim());
  const double dt = step_size(data, model.description());
  ThreadTeam team(threads);
  std::vector<std::unique_ptr<Stream::Impl>> streams(static_cast<std::size_t>(team.size()));
  std::vector<double> nll(data.series.size());
  team.run(static_cast<int>(data.series.size()), [&](int s, int thread) {
    auto& stream = streams[static_cast<std::size_t>(thread)];
    if (stream)
      stream->restart();
    else
      stream = std::make_unique<Stream::Impl>(impl_);
    const Series& series = data.series[static_cast<std::size_t>(s)];
    StateEstimates& out = estimates.series[static_cast<std::size_t>(s)];
    out = room_for(series, horizon, N);
    out.t = times_after(data, series, dt, horizon);
    // Beyond the data the prediction of y takes its place (paper, Sec. 5).
    std::vector<double> shown(M), missing(M, std::numeric_limits<double>::quiet_NaN());
    for (int k = 0; k < series.steps + horizon; ++k) {
      const bool given = k < series.steps;
      const double* y = given ? scaled.y(s).data() +
                                    static_cast<std::ptrdiff_t>(k) * static_cast<std::ptrdiff_t>(M)
                              : missing.data();
      const model::StreamResult step = stream->step(y);
      if (step.failed || !stream->finite())
        throw NumericalError(scaled.name(s) + ", step " + std::to_string(k + 1) + ": the " +
                             (given ? "likelihood" : "forecast") + " is not finite");
      nll[static_cast<std::size_t>(s)] += step.nll;
      for (std::size_t m = 0; m < M; ++m)
        shown[m] =
            given ? y[m]
                  : stream->state.x[static_cast<std::size_t>(model.expert().measured_state[m])];
      stream->show(shown.data());
      if (given) continue;
      const auto h = static_cast<std::size_t>(k - series.steps);
      to_user_units(model.description().units, stream->state.x, stream->state.P,
                    out.mean.data() + h * N, out.covariance.data() + h * N * N);
    }
  });
  estimates.log_likelihood = scaled.log_likelihood(std::accumulate(nll.begin(), nll.end(), 0.0));
  return estimates;
}

Stream Model::stream() const { return Stream(std::make_unique<Stream::Impl>(impl_)); }

}  // namespace kalmia
