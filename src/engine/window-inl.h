// Networks and a head over a window, in turns: what all heads have in common.
//
// A head brings a pass, made anew for each call, which holds views of input and workspace:
//
//   Pass(model, input, workspace)
//   begin_forward(carry)            takes the state before the window
//   forward(begin, end, moments)    from the decoder's rows of these steps to their losses
//   end_forward(carry)              leaves the state after the window
//   backward(begin, end, scale)     leaves the adjoints of the rows in the records; the last
//                                   steps come first
//   end_backward()                  hands on the adjoints of what was carried
//
// and a choice of passes: Choice::with_pass(model, task) calls task with the type of the pass that
// suits a model, as a std::type_identity.

#if defined(KALMIA_ENGINE_WINDOW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_ENGINE_WINDOW_INL_H_
#undef KALMIA_ENGINE_WINDOW_INL_H_
#else
#define KALMIA_ENGINE_WINDOW_INL_H_
#endif

#include <algorithm>
#include <type_traits>

#include "engine/network_pass-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::engine::HWY_NAMESPACE {

/// A pass over all lines of a window made of passes over one line of lanes of double each.
template <typename Head, typename LinePass>
class EachLine {
 public:
  EachLine(const typename Head::Model& model, const typename Head::Input& in,
           typename Head::Workspace& ws)
      : model_(model), in_(in), ws_(ws) {}

  void begin_forward(const typename Head::Carry& carry) const {
    each([&](LinePass& line) HWY_ATTR { line.begin_forward(carry); });
  }
  void forward(int begin, int end, const typename Head::Moments& moments) const {
    each([&](LinePass& line) HWY_ATTR { line.forward(begin, end, moments); });
  }
  void end_forward(typename Head::Carry& carry) const {
    each([&](LinePass& line) HWY_ATTR { line.end_forward(carry); });
  }
  void backward(int begin, int end, double scale) const {
    each([&](LinePass& line) HWY_ATTR { line.backward(begin, end, scale); });
  }
  void end_backward() const {
    each([](LinePass& line) HWY_ATTR { line.end_backward(); });
  }

 private:
  template <typename Task>
  HWY_INLINE void each(const Task& task) const {
    for (int lane = 0; lane < in_.lanes; lane += kLineLanes<double>) {
      LinePass line(model_, in_, ws_, lane);
      task(line);
    }
  }

  const typename Head::Model& model_;
  const typename Head::Input& in_;
  typename Head::Workspace& ws_;
};

template <typename Head, typename Pass>
void forward_turns(const typename Head::Model& model, const typename Head::Input& in,
                   typename Head::Carry& carry, const typename Head::Moments& moments,
                   typename Head::Workspace& ws) {
  const NetworkPass<typename Head::Scalar> network{*model.architecture, *model.network, in, ws};
  Pass head(model, in, ws);
  network.begin_forward(carry.h.data());
  head.begin_forward(carry);
  for (int begin = 0; begin < in.steps; begin += kTurnSteps) {
    const int end = std::min(in.steps, begin + kTurnSteps);
    network.forward(begin, end);
    head.forward(begin, end, moments);
  }
  network.end_forward(carry.h.data());
  head.end_forward(carry);
}

template <typename Head, typename Pass>
void backward_turns(const typename Head::Model& model, const typename Head::Input& in, double scale,
                    typename Head::Workspace& ws) {
  const NetworkPass<typename Head::Scalar> network{*model.architecture, *model.network, in, ws};
  Pass head(model, in, ws);
  for (int chunk_end = in.steps; chunk_end > 0;) {
    const int chunk_begin = (chunk_end - 1) / kChunkSteps * kChunkSteps;
    for (int end = chunk_end; end > chunk_begin;) {
      const int begin = (end - 1) / kTurnSteps * kTurnSteps;
      head.backward(begin, end, scale);
      network.backward(begin, end, chunk_begin);
      end = begin;
    }
    network.gradients(chunk_begin, chunk_end);
    chunk_end = chunk_begin;
  }
  head.end_backward();
  network.end_backward();
}

template <typename Head, typename Choice>
void forward_window(const typename Head::Model& model, const typename Head::Input& in,
                    typename Head::Carry& carry, const typename Head::Moments& moments,
                    typename Head::Workspace& ws) {
  Choice::with_pass(model, [&](auto pass) HWY_ATTR {
    forward_turns<Head, typename decltype(pass)::type>(model, in, carry, moments, ws);
  });
}
template <typename Head, typename Choice>
void backward_window(const typename Head::Model& model, const typename Head::Input& in,
                     double scale, typename Head::Workspace& ws) {
  Choice::with_pass(model, [&](auto pass) HWY_ATTR {
    backward_turns<Head, typename decltype(pass)::type>(model, in, scale, ws);
  });
}
template <typename Head>
void clear_failed_window(const typename Head::Model& model, const typename Head::Input& in,
                         typename Head::Workspace& ws) {
  NetworkPass<typename Head::Scalar>{*model.architecture, *model.network, in, ws}
      .clear_failed_lanes();
}

/// The kernels of a head on this instruction set.
template <typename Head, typename Choice>
const WindowKernels<Head>& window_kernels() {
  static constexpr WindowKernels<Head> kKernels{
      &forward_window<Head, Choice>, &backward_window<Head, Choice>, &clear_failed_window<Head>};
  return kKernels;
}

}  // namespace kalmia::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
