#include "kalmia/evaluate.hpp"

#include "study/evaluation.hpp"
#include "study/forecasts.hpp"

namespace kalmia {

Evaluation evaluate(const Model& model, const Dataset& data, const EvaluateOptions& options) {
  const study::Measure measure = study::measure_of(model);
  // What can be wrong is found before the filter runs.
  // The truth is named after the columns of this file, which need not be those of the fit.
  const std::vector<std::string>& channels =
      data.y_names.size() == measure.channels ? data.y_names : model.measured_names();
  const study::Truth truth = study::truth_by_name(data, model.state_names(), channels, measure);
  const Dataset shown = study::shown_data(data, options);
  const Analysis analysis = model.analyse(shown, options.threads, options.smoothing);
  Evaluation evaluation = study::score(data, shown, truth, analysis.filtered, analysis.smoothed,
                                       analysis.innovations, measure, model.noise());
  if (options.smoothing.method != "linearized" && options.smoothing.iterations == 0 &&
      shown.std_names.empty())
    evaluation.leak = model.leak(shown, options.threads);
  if (options.horizon > 0)
    evaluation.forecasts =
        study::score_forecasts(model, shown, truth, options.horizon, options.threads);
  return evaluation;
}

}  // namespace kalmia
