// Runs a test body once per kind of encoder.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "nn/encoder.hpp"

namespace kalmia::test {

inline constexpr nn::EncoderKind kEncoderKinds[] = {nn::EncoderKind::Gru, nn::EncoderKind::Lstm,
                                                    nn::EncoderKind::Conv};

/// Calls `body(kind)` for each kind.
template <typename Body>
void for_each_encoder(const Body& body) {
  for (const nn::EncoderKind kind : kEncoderKinds) {
    SCOPED_TRACE(std::string(nn::encoder_name(kind)));
    body(kind);
  }
}

}  // namespace kalmia::test
