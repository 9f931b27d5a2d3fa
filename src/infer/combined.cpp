#include "infer/combined.hpp"

#include <cmath>
#include <numeric>

#include "infer/calibrated.hpp"
#include "infer/mixture.hpp"
#include "infer/series_run.hpp"
#include "infer/step_factors.hpp"
#include "infer/usable.hpp"
#include "kalman/classical/batch.hpp"
#include "kalman/student.hpp"
#include "model/filters.hpp"

namespace kalmia::infer {
namespace {

using kalman::row_at;

// What one member says, and what it takes to combine it with others.
struct MemberResult {
  RawAnalysis raw;
  // What innovations and left_out compare y with, of each series (steps, M), without the offset.
  std::vector<std::vector<double>> y_pred, y_left_out;
  std::vector<std::vector<double>> nll;  // of each series, step by step
};

// The moments of series `i` of a pass in the user's units.
StateEstimates in_user_units(const model::Units& units, const Moments& moments,
                             const FilterPass& pass, int i, const Series& series) {
  const int N = pass.moments.state_dim;
  StateEstimates out = room_for(series, series.steps, N);
  out.t = series.t;
  for (int k = 0; k < series.steps; ++k)
    units.to_user(moments.mean.data() + row_at(pass.moments, i, k, N),
                  moments.covariance.data() + row_at(pass.moments, i, k, N * N),
                  out.mean.data() + static_cast<std::ptrdiff_t>(k) * N,
                  out.covariance.data() + static_cast<std::ptrdiff_t>(k) * N * N);
  return out;
}

// What the update of step k of series `i` of a pass took; `weight`: of all its steps, or null.
StateUpdate update_of(const FilterPass& pass, int i, int k, const double* y, const double* weight,
                      int N, int M) {
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(k) * M;
  return {y + at, weight == nullptr ? nullptr : weight + at,
          pass.moments.predicted.mean.data() + row_at(pass.moments, i, k, N)};
}

// K R K' of `moments` of series `i` of a pass, in the user's units.
std::vector<double> noise_parts(const model::LearnedModel<float>& model, const Moments& moments,
                                const FilterPass& pass, int i, const double* y,
                                const double* weight) {
  const int N = model.state_dim(), M = model.meas_dim();
  const int steps = pass.lengths[static_cast<std::size_t>(i)];
  const auto NN = static_cast<std::size_t>(N * N);
  const std::vector<double>& scale = model.description().units.x_scale;
  std::vector<double> out(static_cast<std::size_t>(steps) * NN);
  for (int k = 0; k < steps; ++k) {
    double* part = out.data() + static_cast<std::size_t>(k) * NN;
    noise_part(model, moments.mean.data() + row_at(pass.moments, i, k, N),
               moments.covariance.data() + row_at(pass.moments, i, k, N * N),
               update_of(pass, i, k, y, weight, N, M), part);
    for (std::size_t n = 0; n < NN; ++n)
      part[n] *= scale[n / scale.size()] * scale[n % scale.size()];
  }
  return out;
}

// y - H x[k|<k] and H P[k|<k] H' + the noise's covariance of series `i` of a pass, in the user's
// units, and H x[k|<k] without its offset. `y`: the measurements in the model's units, where a
// large offset takes no digits; `weight`: those of their noise, or null.
Innovations innovations_of(const model::LearnedModel<float>& model, const FilterPass& pass, int i,
                           const double* y, const double* weight, std::vector<double>& y_pred) {
  const int N = model.state_dim();
  const auto M = static_cast<std::size_t>(model.meas_dim());
  const auto steps = static_cast<std::size_t>(pass.lengths[static_cast<std::size_t>(i)]);
  const std::vector<double>& unit = model.description().units.y_scale;
  const double tails = model.description().tails;
  const std::vector<double> R =
      tails > 0 ? kalman::student_covariance(tails, model.emission().R()) : model.emission().R();
  std::vector<double> HPH(M * M);
  Innovations out;
  out.residual.resize(steps * M);
  out.covariance.resize(steps * M * M);
  out.noise.resize(steps * M);
  y_pred.resize(steps * M);
  const auto R_at = [&](std::size_t k, std::size_t m, std::size_t l) {
    const double* w = weight + k * M;
    return weight == nullptr ? R[m * M + l] : R[m * M + l] / std::sqrt(w[m] * w[l]);
  };
  for (std::size_t k = 0; k < steps; ++k) {
    const Moments& predicted = pass.moments.predicted;
    double* here = y_pred.data() + k * M;
    predict_measurement(
        model, predicted.mean.data() + row_at(pass.moments, i, static_cast<int>(k), N),
        predicted.covariance.data() + row_at(pass.moments, i, static_cast<int>(k), N * N), here,
        HPH.data());
    for (std::size_t m = 0; m < M; ++m) {
      out.residual[k * M + m] = unit[m] * (y[k * M + m] - here[m]);
      here[m] *= unit[m];
      for (std::size_t l = 0; l < M; ++l) {
        const double scale = unit[m] * unit[l];
        out.covariance[(k * M + m) * M + l] = scale * HPH[m * M + l] + R_at(k, m, l) * scale;
      }
      out.noise[k * M + m] = R_at(k, m, m) * unit[m] * unit[m];
    }
  }
  return out;
}

// As innovations_of, for what the smoother says of each measurement from all others.
Innovations left_out_of(const model::LearnedModel<float>& model, const FilterPass& pass, int i,
                        const double* y, const double* weight, std::vector<double>& y_pred) {
  const int N = model.state_dim();
  const auto M = static_cast<std::size_t>(model.meas_dim());
  const auto steps = static_cast<std::size_t>(pass.lengths[static_cast<std::size_t>(i)]);
  const std::vector<double>& unit = model.description().units.y_scale;
  Innovations out;
  out.residual.resize(steps * M);
  out.covariance.resize(steps * M * M);
  out.noise.resize(steps * M);
  y_pred.resize(steps * M);
  for (std::size_t k = 0; k < steps; ++k) {
    const int at = static_cast<int>(k);
    const StateUpdate update = update_of(pass, i, at, y, weight, N, model.meas_dim());
    const double* z = pass.moments.smoothed.mean.data() + row_at(pass.moments, i, at, N);
    const double* G = pass.moments.smoothed.covariance.data() + row_at(pass.moments, i, at, N * N);
    double* here = y_pred.data() + k * M;
    double* S = out.covariance.data() + k * M * M;
    leave_out(model, z, G, update, here, S);
    const std::vector<double> R = noise_of_update(model, z, G, update);
    for (std::size_t m = 0; m < M; ++m) {
      out.residual[k * M + m] = unit[m] * (y[k * M + m] - here[m]);
      here[m] *= unit[m];
      out.noise[k * M + m] = R[m * (M + 1)] * unit[m] * unit[m];
      for (std::size_t l = 0; l < M; ++l) {
        const bool both = !std::isnan(y[k * M + m]) && !std::isnan(y[k * M + l]);
        S[m * M + l] = both ? (S[m * M + l] + R[m * M + l]) * unit[m] * unit[l] : 0;
      }
    }
  }
  return out;
}

MemberResult run_even(const model::LearnedModel<float>& model, const Dataset& data, int threads,
                      const RequestedResults& parts, const SmoothOptions& smoothing) {
  const bool noise = parts.noise;
  SeriesRun run(model, data, threads);
  MemberResult result;
  Analysis& analysis = result.raw.analysis;
  analysis = {run.empty_estimates(), run.empty_estimates(), {}};
  const std::size_t count = data.series.size();
  if (parts.filtered) analysis.filtered.series.resize(count);
  if (parts.smoothed) analysis.smoothed.series.resize(count);
  if (parts.innovations) {
    analysis.innovations.resize(count);
    result.y_pred.resize(count);
  }
  if (parts.left_out) {
    result.raw.left_out.resize(count);
    result.y_left_out.resize(count);
  }
  if (noise) result.raw.distances.resize(count);
  if (noise && parts.filtered) result.raw.filtered_noise.resize(count);
  if (noise && parts.smoothed) result.raw.smoothed_noise.resize(count);
  result.nll.resize(count);
  const model::Units& units = model.description().units;
  double nll = 0;
  run.for_each_pass(
      {parts.smoothed || parts.innovations || noise, parts.smoothed || parts.filtered,
       parts.smoothed},
      [&](FilterPass& pass, const std::vector<int>& chunk) {
        if (parts.smoothed) run.smooth(pass, chunk, smoothing);
        for (int i = 0; i < static_cast<int>(chunk.size()); ++i) {
          const int series_index = chunk[static_cast<std::size_t>(i)];
          const auto s = static_cast<std::size_t>(series_index);
          const Series& series = data.series[s];
          const FilterResult& moments = pass.moments;
          const double* y = run.y(series_index, 0);
          const double* weight = run.weight(series_index, 0);
          nll += moments.log_likelihood[static_cast<std::size_t>(i)];
          const auto first =
              pass.nll.begin() + static_cast<std::ptrdiff_t>(row_at(moments, i, 0, 1));
          result.nll[s].assign(first, first + series.steps);
          if (parts.filtered)
            analysis.filtered.series[s] = in_user_units(units, moments.filtered, pass, i, series);
          if (parts.smoothed)
            analysis.smoothed.series[s] = in_user_units(units, moments.smoothed, pass, i, series);
          if (noise && parts.filtered)
            result.raw.filtered_noise[s] = noise_parts(model, moments.filtered, pass, i, y, weight);
          if (noise && parts.smoothed)
            result.raw.smoothed_noise[s] = noise_parts(model, moments.smoothed, pass, i, y, weight);
          if (noise)
            result.raw.distances[s] = distances_of(run.view(series_index), model.meas_dim());
          if (parts.innovations)
            analysis.innovations[s] = innovations_of(model, pass, i, y, weight, result.y_pred[s]);
          if (parts.left_out)
            result.raw.left_out[s] = left_out_of(model, pass, i, y, weight, result.y_left_out[s]);
        }
      });
  analysis.filtered.log_likelihood = analysis.smoothed.log_likelihood = run.log_likelihood(nll);
  return result;
}

// The same for the data's own steps: long ones, which were cut up on the way, are whole again.
MemberResult run_member(const model::LearnedModel<float>& model, const Dataset& data, int threads,
                        const RequestedResults& parts, const SmoothOptions& smoothing) {
  const model::EvenSteps even = even_steps(model, data);
  MemberResult result = run_even(model, even.data(), threads, parts, smoothing);
  if (!even.changed()) return result;
  const auto N = static_cast<std::size_t>(model.state_dim());
  const auto M = static_cast<std::size_t>(model.meas_dim());
  const auto keep = [&](std::vector<std::vector<double>>& of_series, std::size_t width) {
    for (std::size_t s = 0; s < of_series.size(); ++s)
      of_series[s] = even.own_rows(s, of_series[s], width);
  };
  for (Estimates* estimates : {&result.raw.analysis.filtered, &result.raw.analysis.smoothed})
    for (std::size_t s = 0; s < estimates->series.size(); ++s) {
      StateEstimates& series = estimates->series[s];
      series.steps = data.series[s].steps;
      series.t = data.series[s].t;
      series.mean = even.own_rows(s, series.mean, N);
      series.covariance = even.own_rows(s, series.covariance, N * N);
    }
  for (std::vector<Innovations>* innovations :
       {&result.raw.analysis.innovations, &result.raw.left_out})
    for (std::size_t s = 0; s < innovations->size(); ++s) {
      Innovations& each = (*innovations)[s];
      each.residual = even.own_rows(s, each.residual, M);
      each.covariance = even.own_rows(s, each.covariance, M * M);
      each.noise = even.own_rows(s, each.noise, M);
    }
  keep(result.raw.filtered_noise, N * N);
  keep(result.raw.smoothed_noise, N * N);
  for (std::size_t s = 0; s < result.raw.distances.size(); ++s)
    for (std::vector<double>* each :
         {&result.raw.distances[s].since, &result.raw.distances[s].between})
      *each = even.own_rows(s, *each, M);
  keep(result.y_pred, M);
  keep(result.y_left_out, M);
  keep(result.nll, 1);
  return result;
}

// Adds estimates and their K R K' to a mixture as number `count`.
void add(int count, Estimates& mixed, std::vector<std::vector<double>>& mixed_noise,
         const Estimates& one, const std::vector<std::vector<double>>& noise) {
  for (std::size_t s = 0; s < one.series.size(); ++s) {
    StateEstimates& to = mixed.series[s];
    const StateEstimates& from = one.series[s];
    add_to_mixture(count, static_cast<int>(one.state_names.size()), from.mean, from.covariance,
                   to.mean, to.covariance);
    if (!noise.empty()) add_to_mean(count, noise[s], mixed_noise[s]);
  }
}

// Adds innovations, of predictions y_pred, to those of a mixture.
void add(int count, std::size_t M, std::vector<Innovations>& mixed,
         std::vector<std::vector<double>>& mixed_y_pred, const std::vector<Innovations>& one,
         const std::vector<std::vector<double>>& y_pred) {
  for (std::size_t s = 0; s < one.size(); ++s) {
    add_to_mixture(count, static_cast<int>(M), y_pred[s], one[s].covariance, mixed_y_pred[s],
                   mixed[s].covariance);
    add_to_mean(count, one[s].residual, mixed[s].residual);
    add_to_mean(count, one[s].noise, mixed[s].noise);
  }
}

// The nll of a mixture over all steps.
double mixed_nll(const std::vector<std::vector<std::vector<double>>>& of_members) {
  double sum = 0;
  std::vector<double> at_step(of_members.size());
  for (std::size_t s = 0; s < of_members[0].size(); ++s)
    for (std::size_t k = 0; k < of_members[0][s].size(); ++k) {
      for (std::size_t j = 0; j < at_step.size(); ++j) at_step[j] = of_members[j][s][k];
      sum += mixture_nll(at_step);
    }
  return sum;
}

}  // namespace

bool smooths_by_networks(const Model::Impl& model, const SmoothOptions& smoothing, bool weighted) {
  if (smoothing.method != "auto") return smoothing.method != "linearized";
  return smoothing.iterations == 0 && !weighted && !model.trained_smoother().empty();
}

RawAnalysis analyse_members(const Model::Impl& model, const Dataset& data, int threads,
                            const RequestedResults& parts, const SmoothOptions& smoothing) {
  smoothing.validate(model.trained_smoother());
  if (smoothing.iterations > 0 && !model.first().description().recursive())
    throw ConfigError("iterations = " + std::to_string(smoothing.iterations) + ", but a " +
                      std::string(model::filter_name(model.first().description().head)) +
                      " filter has no expert map to linearise again");
  const bool networks = smooths_by_networks(model, smoothing, !data.std_names.empty());
  if (networks && parts.smoothed && !data.std_names.empty())
    throw ConfigError("the " + smoothing.method +
                      " smoother does not use the noise of each value (noise_columns); smooth with "
                      "method = linearized");
  const auto& members = model.members;
  if (members.size() == 1) {
    RawAnalysis raw = run_member(*members[0], data, threads, parts, smoothing).raw;
    raw.by_networks = networks;
    return raw;
  }

  // A posterior of the smoother's networks is that of the members that have them.
  SmoothOptions of_members = smoothing;
  of_members.method = networks ? "auto" : "linearized";
  const auto M = static_cast<std::size_t>(model.first().meas_dim());
  MemberResult mixed;
  RawAnalysis& result = mixed.raw;
  std::vector<std::vector<std::vector<double>>> nll;
  int count = 0, smoothed = 0;
  for (const auto& member : members) {
    RequestedResults wanted = parts;
    wanted.smoothed = parts.smoothed && (!networks || member->smoother() != nullptr);
    wanted.left_out = parts.left_out && wanted.smoothed;
    MemberResult one = run_member(*member, data, threads, wanted, of_members);
    nll.push_back(std::move(one.nll));
    ++count;
    if (wanted.smoothed) ++smoothed;
    if (count == 1) {
      mixed = std::move(one);
      continue;
    }
    const Analysis& analysis = one.raw.analysis;
    add(count, result.analysis.filtered, result.filtered_noise, analysis.filtered,
        one.raw.filtered_noise);
    add(count, M, result.analysis.innovations, mixed.y_pred, analysis.innovations, one.y_pred);
    if (!wanted.smoothed) continue;
    if (smoothed == 1) {
      result.analysis.smoothed = std::move(one.raw.analysis.smoothed);
      result.smoothed_noise = std::move(one.raw.smoothed_noise);
      result.left_out = std::move(one.raw.left_out);
      mixed.y_left_out = std::move(one.y_left_out);
    } else {
      add(smoothed, result.analysis.smoothed, result.smoothed_noise, analysis.smoothed,
          one.raw.smoothed_noise);
      add(smoothed, M, result.left_out, mixed.y_left_out, one.raw.left_out, one.y_left_out);
    }
  }
  result.analysis.filtered.log_likelihood = result.analysis.smoothed.log_likelihood =
      SeriesRun(*members[0], data, threads).log_likelihood(mixed_nll(nll));
  result.by_networks = networks;
  return result;
}

namespace {

// Scales the covariances of one series, whose steps have these distances.
void scale(StepFactors& factors, const std::vector<double>& distances, std::size_t M,
           const std::vector<double>& noise, std::vector<double>& covariance) {
  const std::size_t steps = distances.size() / M, size = steps == 0 ? 0 : covariance.size() / steps;
  for (std::size_t k = 0; k < steps; ++k) {
    factors.set({distances.data() + k * M, M});
    factors.scale_states({noise.data() + k * size, size}, {covariance.data() + k * size, size});
  }
}

}  // namespace

Analysis calibrated(const Model& model, RawAnalysis raw, const SmoothOptions& smoothing) {
  const auto& calibration = model.impl().calibration;
  Analysis analysis = std::move(raw.analysis);
  if (!calibration) return analysis;
  const model::LearnedModel<float>& first = model.impl().first();
  const auto M = static_cast<std::size_t>(model.meas_dim());
  StepFactors filter(first, calibration->filter);
  StepFactors smoother(first, raw.by_networks ? calibration->trained : calibration->linearized);
  for (std::size_t s = 0; s < analysis.filtered.series.size(); ++s)
    scale(filter, raw.distances[s].since, M, raw.filtered_noise[s],
          analysis.filtered.series[s].covariance);
  // Iterated passes have a process noise of their own, for which no factor was found.
  if (raw.by_networks || smoothing.iterations == 0)
    for (std::size_t s = 0; s < analysis.smoothed.series.size(); ++s)
      scale(smoother, raw.distances[s].between, M, raw.smoothed_noise[s],
            analysis.smoothed.series[s].covariance);

  const std::vector<double> R = model.noise();
  std::vector<double> noise(R.size());
  double log_likelihood = 0;
  for (std::size_t s = 0; s < analysis.innovations.size(); ++s) {
    Innovations& each = analysis.innovations[s];
    for (std::size_t k = 0; k * M < each.residual.size(); ++k) {
      const std::span<double> S(each.covariance.data() + k * M * M, M * M);
      const double* own = each.noise.data() + k * M;
      for (std::size_t n = 0; n < R.size(); ++n)
        noise[n] =
            R[n] * std::sqrt(own[n / M] / R[n / M * (M + 1)] * own[n % M] / R[n % M * (M + 1)]);
      filter.set({raw.distances[s].since.data() + k * M, M});
      filter.scale_measured(noise, S);
      log_likelihood += gaussian_log_likelihood({each.residual.data() + k * M, M}, S);
    }
  }
  if (first.description().tails == 0)
    analysis.filtered.log_likelihood = analysis.smoothed.log_likelihood = log_likelihood;
  return analysis;
}

Analysis analyse(const Model& model, const Dataset& data, int threads, RequestedResults parts,
                 const SmoothOptions& smoothing) {
  parts.noise = model.impl().calibration.has_value();
  parts.innovations = parts.innovations || parts.noise;
  Analysis analysis =
      calibrated(model, analyse_members(model.impl(), data, threads, parts, smoothing), smoothing);
  require_usable(data.source, analysis.filtered);
  require_usable(data.source, analysis.smoothed);
  require_usable(data.source, model.measured_names(), data, analysis.innovations);
  return analysis;
}

}  // namespace kalmia::infer
