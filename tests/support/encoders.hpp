// Runs a test body once per kind of encoder.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "nn/encoder.hpp"

namespace kalmia::test {

/// Calls `body(kind)` for each kind.
template <typename Body>
void for_each_encoder(const Body& body) {
  for (int index = 0; index < nn::kEncoderCount; ++index) {
    const auto kind = static_cast<nn::EncoderKind>(index);
    SCOPED_TRACE(std::string(nn::encoder_name(kind)));
    body(kind);
  }
}

}  // namespace kalmia::test
