// Powers for the formulas of the models. Private to the module.
#pragma once

namespace penstock::model {

constexpr double cubed(double value) noexcept {
  return value * value * value;
}

}  // namespace penstock::model
