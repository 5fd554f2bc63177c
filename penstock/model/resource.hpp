// The resources of a machine, and what more of one would gain.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "penstock/machine/machine.hpp"

namespace penstock::model {

enum class Resource {
  arithmetic,        ///< peak, FFT and GEMM rates
  memory_bandwidth,  ///< of the node, and of its memory levels but storage
  bus_bandwidth,
  storage_bandwidth,  ///< of the memory level "storage"
  link_bandwidth,     ///< of links, injection and single messages
  message_rate,       ///< overheads and gaps, halved
  latency,            ///< of messages, halved
};

/// "memory bandwidth", as reports say it.
std::string_view name_of(Resource resource) noexcept;

/// The machine with twice of one resource; itself, where it has none of that.
machine::Machine doubled(const machine::Machine& machine, Resource resource);

struct Gain {
  Resource resource;
  double factor;  ///< the time now over the time with twice of the resource
};

/// The gains of all resources that matter to `time_s`, the greatest first; empty where none gains a thousandth.
std::vector<Gain> gains(const machine::Machine& machine, const std::function<double(const machine::Machine&)>& time_s);

}  // namespace penstock::model
