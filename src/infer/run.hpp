// Runs the filter of a learned model over whole series, many at a time.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "infer/lane_fill.hpp"
#include "infer/window_run.hpp"
#include "model/learned_model.hpp"

namespace kalmia::infer {

/// Takes `count` steps of a piece, `first` being its step in the piece. Called from the thread that
/// runs the piece; the windows of a piece come in order.
using Sink = std::function<void(int piece, int first, int count, const LaneMoments& moments)>;

/// The first of the pieces' steps, `most` in all.
std::vector<SeriesView> first_steps(std::span<const SeriesView> pieces, int most);

/// What messages call a step of a piece, counted from 0.
std::string step_place(const std::string& name, int step);

/// Filters all pieces (all with states to linearise at, or none; likewise with weights), each from
/// the model's initial state. The likelihoods are always there. A piece that breaks down throws
/// NumericalError; `name(piece)` says which it is.
template <typename T>
void run_filter(const model::LearnedModel<T>& model, std::span<const SeriesView> pieces,
                const RequestedMoments& wanted, ThreadTeam& team, const Sink& sink,
                const std::function<std::string(int piece)>& name,
                const RunSettings& settings = {});

}  // namespace kalmia::infer
