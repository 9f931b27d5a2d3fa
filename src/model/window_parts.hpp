// The parts of the window engine, each in a source of its own: what window_forward and
// window_backward hand on to.
#pragma once

#include "model/window.hpp"

namespace kalmia::model {

/// The filters and the paper's smoothers (window_recursion-inl.h).
template <typename T>
void recursion_forward(const WindowModel<T>& model, const WindowInput<T>& input, Carry<T>& carry,
                       const WindowMoments& moments, Workspace<T>& workspace);
template <typename T>
void recursion_backward(const WindowModel<T>& model, const WindowInput<T>& input, double scale,
                        Workspace<T>& workspace);

/// What the future adds to a filter (window_fusion-inl.h).
template <typename T>
void fusion_forward(const WindowModel<T>& model, const WindowInput<T>& input, Carry<T>& carry,
                    const WindowMoments& moments, Workspace<T>& workspace);
template <typename T>
void fusion_backward(const WindowModel<T>& model, const WindowInput<T>& input, double scale,
                     Workspace<T>& workspace);

/// Gains (window_gains.cpp).
template <typename T>
void gains_forward(const WindowModel<T>& model, const WindowInput<T>& input, Carry<T>& carry,
                   const WindowMoments& moments, Workspace<T>& workspace);
template <typename T>
void gains_backward(const WindowModel<T>& model, const WindowInput<T>& input, double scale,
                    Workspace<T>& workspace);

/// NetworkPass::clear_failed_lanes.
template <typename T>
void clear_failed_lanes(const WindowModel<T>& model, const WindowInput<T>& input,
                        Workspace<T>& workspace);

}  // namespace kalmia::model
