/// \file
/// Which instructions of the CPU the library computes with.
#pragma once

#include <string>
#include <vector>

#include "kalmia/error.hpp"

namespace kalmia {

/// The instruction sets that this build holds and this machine runs, slowest first: "portable",
/// which every machine runs, then "avx2" and "avx512" where they exist.
std::vector<std::string> instruction_sets();

/// The one in use; at the start of a program the last of `instruction_sets()`.
std::string instruction_set();

/// Computes with another one from now on. Results differ between instruction sets in their last
/// bits; a fit multiplies that difference, and finds another model of the same quality.
///
/// The choice holds for the whole process, all threads and everything that is computed with it.
/// Make it once, before models are made or loaded: the weights of their networks lie in memory as
/// one instruction set reads them, and with another one they may be refused (ConfigError). It must
/// not be made while another thread computes.
///
/// Throws ConfigError, which lists `instruction_sets()`, for a name that is none of them.
void use_instruction_set(const std::string& name);

}  // namespace kalmia
