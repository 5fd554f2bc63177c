// Other ways to carry an exchange than the library's own, to be compared with it. Included by gas.hpp.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "penstock/gas/exchange/exchange.hpp"

namespace penstock::gas {

/// What carries the messages of one exchange: as the members of Exchange, but that what waits there is asked for here.
class ExchangeBackend {
 public:
  virtual ~ExchangeBackend() = default;
  virtual void open() = 0;
  virtual bool is_open(std::size_t message) = 0;
  /// Of a message that is open.
  virtual std::byte* destination(std::size_t message) = 0;
  virtual void send(std::size_t message) = 0;
  virtual bool has_arrived(std::size_t message) = 0;
  virtual bool has_finished() = 0;
  virtual void progress() = 0;
  virtual bool needs_progress() const noexcept = 0;
};

/// Makes them.
class ExchangeMethod {
 public:
  virtual ~ExchangeMethod() = default;
  /// What reports call it.
  virtual std::string_view name() const noexcept = 0;
  /// The memory that an exchange takes on this rank for what it sends. Local.
  virtual std::size_t buffer_bytes(const Team& team, const std::vector<Outgoing>& outgoing) const = 0;
  /// Called by all ranks at once, which have agreed on the messages. `team` and `segment` outlive the exchange.
  virtual std::unique_ptr<ExchangeBackend> make(const Team& team, const Segment& segment,
                                                std::vector<Outgoing> outgoing,
                                                std::vector<Incoming> incoming) const = 0;
};

}  // namespace penstock::gas
