#include "train/bounded_variable.hpp"

#include <cmath>

namespace kalmia::train {

BoundedVariable::BoundedVariable(const Parameter& parameter)
    : lower_(parameter.lower), upper_(parameter.upper), centre_(parameter.value) {
  const bool above = std::isfinite(lower_), below = std::isfinite(upper_);
  kind_ = above && below ? Kind::Between : above ? Kind::Above : below ? Kind::Below : Kind::Free;
  scale_ = kind_ == Kind::Above   ? centre_ - lower_
           : kind_ == Kind::Below ? upper_ - centre_
           : centre_ != 0         ? std::abs(centre_)
                                  : 1;
  start_ = kind_ == Kind::Between ? std::log((centre_ - lower_) / (upper_ - centre_)) : 0;
}

double BoundedVariable::value(double v) const {
  switch (kind_) {
    case Kind::Between:
      return lower_ + (upper_ - lower_) / (1 + std::exp(-v));
    case Kind::Above:
      return lower_ + scale_ * std::exp(v);
    case Kind::Below:
      return upper_ - scale_ * std::exp(v);
    case Kind::Free:
      break;
  }
  return centre_ + scale_ * v;
}

double BoundedVariable::slope(double v) const {
  switch (kind_) {
    case Kind::Between: {
      const double share = 1 / (1 + std::exp(-v));
      return (upper_ - lower_) * share * (1 - share);
    }
    case Kind::Above:
      return scale_ * std::exp(v);
    case Kind::Below:
      return -scale_ * std::exp(v);
    case Kind::Free:
      break;
  }
  return scale_;
}

}  // namespace kalmia::train
