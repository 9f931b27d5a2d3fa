// Two-sided smoothers over whole series: networks that read the past and the future of a step, and
// never the step itself.
#pragma once

#include <functional>
#include <span>

#include "infer/run.hpp"

namespace kalmia::infer {

/// Makes room for windows of `steps` x `lanes`.
void prepare_two_sided_group(const model::LearnedModel<float>& model, int steps, int lanes,
                             bool irregular, heads::StateGroup<float>& group);

/// Fills a lane from its first step on. `memory`: the values seen last before the window; moved on.
///
/// The networks of step k read y[<k] forwards and y[>k] backwards. The centre of its state is made
/// of the same: for each channel, the values seen last before k and first after it, joined by a
/// line. Networks and centre see what is `shown`, the state is updated with all of y.
void fill_two_sided(const model::LearnedModel<float>& model, int lane, const LaneWindow& window,
                    LaneMemory& memory, heads::StateGroup<float>& group);

/// Long series are cut into segments of kSegment steps, which are run with kMargin steps on either
/// side, so that encoders and state have settled; at the ends of a series nothing is cut.
inline constexpr int kSegment = 512;
inline constexpr int kMargin = 64;

/// Smooths all pieces. `sink` takes segments of a piece, each step once: x_pred and P_pred are
/// those of x[k] given all but y[k], x_filt and P_filt the smoothed state's. Throws NumericalError,
/// naming the piece.
void run_two_sided(const model::LearnedModel<float>& model, std::span<const SeriesView> pieces,
                   const RequestedMoments& wanted, ThreadTeam& team, const Sink& sink,
                   const std::function<std::string(int piece)>& name);

}  // namespace kalmia::infer
