#include "infer/two_sided_run.hpp"

#include <algorithm>
#include <cmath>

namespace kalmia::infer {
namespace {

// A run of steps of a piece, of which those from `first` to `last` - 1 are wanted.
struct Segment {
  int piece = 0;
  int begin = 0, end = 0;
  int first = 0, last = 0;
};

std::vector<Segment> segments_of(std::span<const SeriesView> pieces) {
  std::vector<Segment> all;
  for (int p = 0; p < static_cast<int>(pieces.size()); ++p) {
    const int steps = pieces[static_cast<std::size_t>(p)].steps;
    const int wanted = steps <= kSegment + 2 * kMargin ? std::max(steps, 1) : kSegment;
    for (int first = 0; first < steps; first += wanted) {
      const int last = std::min(steps, first + wanted);
      all.push_back(
          {p, std::max(0, first - kMargin), std::min(steps, last + kMargin), first, last});
    }
  }
  return all;
}

// The values of each channel that are nearest to a step on one side, NaN where there are none, and
// how far they are.
struct Nearest {
  explicit Nearest(LaneMemory values) : value(std::move(values)), distance(value.size(), 1) {}
  void step(const double* y, double length) {
    for (std::size_t c = 0; c < value.size(); ++c) {
      distance[c] = (std::isnan(y[c]) ? distance[c] : 0) + length;
      if (!std::isnan(y[c])) value[c] = y[c];
    }
  }
  LaneMemory value;
  std::vector<double> distance;
};

// The line from `a` to `b` where it passes the step between them; one of them, if only it is there.
double between(double a, double from_a, double b, double from_b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  return (a * from_b + b * from_a) / (from_a + from_b);
}

LaneWindow window_of(const model::LearnedModel<float>& model, const SeriesView& piece,
                     const Segment& segment) {
  const auto M = static_cast<std::ptrdiff_t>(model.meas_dim());
  const auto U = static_cast<std::ptrdiff_t>(model.description().features.control_dim());
  return {piece.y + segment.begin * M,
          nullptr,
          piece.dt_ratio == nullptr ? nullptr : piece.dt_ratio + segment.begin,
          piece.u == nullptr ? nullptr : piece.u + segment.begin * U,
          nullptr,
          segment.end - segment.begin,
          piece.shown == nullptr ? nullptr : piece.shown + segment.begin * M};
}

}  // namespace

void prepare_two_sided_group(const model::LearnedModel<float>& model, int steps, int lanes,
                             bool irregular, heads::StateGroup<float>& group) {
  prepare_group(model, model.smoother()->architecture(), steps, lanes, irregular, group);
}

void fill_two_sided(const model::LearnedModel<float>& model, int lane, const LaneWindow& window,
                    LaneMemory& memory, heads::StateGroup<float>& group) {
  const model::FeatureSpec& features = model.description().features;
  const auto M = static_cast<std::size_t>(model.meas_dim());
  const auto U = static_cast<std::ptrdiff_t>(features.control_dim());
  const double* shown = window.shown == nullptr ? window.y : window.shown;
  const auto y = [&](int k) { return shown + static_cast<std::ptrdiff_t>(k) * model.meas_dim(); };
  const auto length = [&](int k) { return window.dt_ratio == nullptr ? 1.0 : window.dt_ratio[k]; };
  const auto u = [&](int k) { return window.u == nullptr ? nullptr : window.u + k * U; };
  const auto at = [&](int k, int rows) {
    return static_cast<std::ptrdiff_t>(k) * rows * group.lanes + lane;
  };

  // Forwards the networks read what the filter would, and the nearest values before each step.
  Nearest past(memory);
  fill_forwards(model, lane, window, memory, group);
  std::vector<double> values, distances;
  for (int k = 0; k < window.steps; ++k) {
    const double* before = k == 0 ? window.before : y(k - 1);
    if (before != nullptr) past.step(before, length(k));
    values.insert(values.end(), past.value.begin(), past.value.end());
    distances.insert(distances.end(), past.distance.begin(), past.distance.end());
  }

  // Backwards they read the same of the future, and the centre lies between the two.
  LaneMemory later = empty_memory(model.meas_dim());
  Nearest future(later);
  std::vector<double> seen(M);
  for (int k = window.steps - 1; k >= 0; --k) {
    double* centre = group.centre.data() + at(k, model.state_dim());
    if (k + 1 < window.steps) {
      float* input = group.input_bwd.data() + at(k, features.input_dim());
      features.step_to(y(k + 1), later.data(), input, centre, group.lanes);  // centre: set below
      features.drive_to(length(k + 1), u(k), input, group.lanes);
      future.step(y(k + 1), length(k + 1));
    }
    for (std::size_t c = 0; c < M; ++c) {
      const std::size_t i = static_cast<std::size_t>(k) * M + c;
      seen[c] = between(values[i], distances[i], future.value[c], future.distance[c]);
    }
    features.seen_centre(seen.data(), centre, group.lanes);
  }
}

void run_two_sided(const model::LearnedModel<float>& model, std::span<const SeriesView> pieces,
                   const RequestedMoments& wanted, ThreadTeam& team, const Sink& sink,
                   const std::function<std::string(int piece)>& name) {
  const bool irregular = std::any_of(pieces.begin(), pieces.end(), [](const SeriesView& piece) {
    return piece.dt_ratio != nullptr;
  });
  const std::vector<Segment> segments = segments_of(pieces);
  const auto segment = [&](int index) -> const Segment& {
    return segments[static_cast<std::size_t>(index)];
  };
  WindowRun<heads::StateGroup<float>> run;
  run.model = model.smoother_window();
  run.wanted = wanted;
  run.window = kSegment + 2 * kMargin;  // a backward encoder needs the whole of a segment
  for (const Segment& each : segments) run.steps.push_back(each.end - each.begin);
  run.prepare = [&](int steps, int lanes, heads::StateGroup<float>& group) {
    prepare_two_sided_group(model, steps, lanes, irregular, group);
  };
  run.start = [&](std::size_t) {
    return [&](int i, int lane, int index, int, heads::StateGroup<float>& group) {
      if (i > 0) return;  // all steps were filled with the first
      LaneMemory memory = empty_memory(model.meas_dim());
      fill_two_sided(
          model, lane,
          window_of(model, pieces[static_cast<std::size_t>(segment(index).piece)], segment(index)),
          memory, group);
    };
  };
  run.sink = [&](int index, int, int, const LaneMoments& moments) {
    const Segment& s = segment(index);
    sink(s.piece, s.first, s.last - s.first, moments.from(s.first - s.begin));
  };
  run.place = [&](int index, int at) {
    return step_place(name(segment(index).piece), segment(index).begin + at);
  };
  run_windows(run, team);
}

}  // namespace kalmia::infer
