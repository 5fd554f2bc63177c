// The resources of a machine, and the gain of doubling one.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "penstock/machine/machine.hpp"

#pragma GCC visibility push(default)

namespace penstock::model {

enum class Resource {
  arithmetic,        ///< peak, FFT and GEMM rates
  memory_bandwidth,  ///< of the node, and of its memory levels but storage
  bus_bandwidth,
  device,             ///< the rates of devices' memory and kernels
  storage_bandwidth,  ///< of the memory level "storage"
  link_bandwidth,     ///< of links, injection and single messages
  message_rate,       ///< overheads and gaps, halved
  latency,            ///< of messages, and of what devices are given to do, halved
};

/// The name in reports: "memory bandwidth".
std::string_view name_of(Resource resource) noexcept;

/// The machine with one resource doubled; unchanged where the machine does not have it.
machine::Machine doubled(const machine::Machine& machine, Resource resource);

struct Gain {
  Resource resource;
  double factor;  ///< the time now over the time with the resource doubled
};

/// The gains of the resources whose doubling gains a thousandth of `time_s` or more, the largest first.
std::vector<Gain> gains(const machine::Machine& machine, const std::function<double(const machine::Machine&)>& time_s);

}  // namespace penstock::model

#pragma GCC visibility pop
