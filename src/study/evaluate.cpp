#include "kalmia/evaluate.hpp"

#include "study/evaluation.hpp"
#include "study/forecasts.hpp"

namespace kalmia {

Evaluation evaluate(const Model& model, const Dataset& given, const EvaluateOptions& options) {
  const Dataset data =
      study::with_matching_truth(given, model.state_names(), model.measured_names());
  // What can be wrong is found before the filter runs.
  const study::TruthKind truth =
      study::truth_kind(data, static_cast<std::size_t>(model.state_dim()),
                        static_cast<std::size_t>(model.meas_dim()));
  const Dataset shown = study::shown_data(data, options);
  const Analysis analysis = model.analyse(shown, options.threads, options.smoothing);
  Evaluation evaluation = study::score(data, shown, analysis.filtered, analysis.smoothed,
                                       analysis.innovations, model.emission(), model.noise());
  if (options.smoothing.method != "linearized" && options.smoothing.iterations == 0 &&
      shown.std_names.empty())
    evaluation.leak = model.leak(shown, options.threads);
  if (options.horizon > 0)
    evaluation.forecasts =
        study::score_forecasts(model, shown, truth, options.horizon, options.threads);
  return evaluation;
}

}  // namespace kalmia
