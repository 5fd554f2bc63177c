// What is to carry data between ranks, as the user said it: by --transport, by PENSTOCK_TRANSPORT, or not at all.
#pragma once

#include <string>

#include "penstock/cli/core/processes.hpp"

namespace penstock::cli {

struct TransportChoice {
  std::string name = "auto";  ///< one of gas::transport_names
  std::string told_by;        ///< what the user wrote, for messages; empty where nothing was
};

/// Throws Error where there is no transport of that name, or where it is not built in.
void check_transport(const TransportChoice& choice);

/// Collective: the option's choice where there was one, else that of the environment, else auto. Throws Error on every
/// rank where the environment's differs between ranks or cannot be had.
TransportChoice resolve_transport(const Processes& processes, const TransportChoice& option);

}  // namespace penstock::cli
