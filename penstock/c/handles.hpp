// What the handles of the C interface are.
#pragma once

#include <complex>
#include <memory>
#include <utility>
#include <variant>

#include "penstock/c/penstock.h"
#include "penstock/device/device.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/mover/mover.hpp"

struct penstock_team {
  penstock::gas::Team team;
};

struct penstock_device {
  std::shared_ptr<const penstock::device::Device> device;
};

struct penstock_segment {
  penstock::gas::Segment segment;
};

/// A matrix of any type of elements; `use` calls a function with it as it is.
struct penstock_matrix {
  template <class T>
  using Of = penstock::gas::GlobalArray<T, 2>;

  const penstock::gas::Team& team;
  std::variant<Of<float>, Of<double>, Of<std::complex<float>>, Of<std::complex<double>>> array;

  template <class Use>
  decltype(auto) use(const Use& use_array) {
    return std::visit(use_array, array);
  }
  template <class Use>
  decltype(auto) use(const Use& use_array) const {
    return std::visit(use_array, array);
  }
};

struct penstock_mover {
  penstock::mover::Mover mover;
};
