// Powers that formulas are written with.
#pragma once

namespace penstock::model {

constexpr double cubed(double value) noexcept {
  return value * value * value;
}

}  // namespace penstock::model
