/// \file
/// The exceptions Kalmia throws. Every message names the place, the value found and the rule.
#pragma once

#include <stdexcept>
#include <string>

namespace kalmia {

/// Root of everything Kalmia throws on purpose.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Options or sizes that do not fit together.
class ConfigError : public Error {
 public:
  using Error::Error;
};

/// Data that cannot be used: wrong shape, not finite where it must be.
class DataError : public Error {
 public:
  using Error::Error;
};

/// A file that cannot be read or written: missing, a directory, no permission, no space.
class IoError : public Error {
 public:
  using Error::Error;
};

/// Arithmetic that broke down, such as a covariance that is not positive definite.
class NumericalError : public Error {
 public:
  using Error::Error;
};

/// Work that its progress function stopped before there was a result.
class Interrupted : public Error {
 public:
  using Error::Error;
};

}  // namespace kalmia
