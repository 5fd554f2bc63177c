// The interface for other implementations of an exchange, which are compared with the library's own. Included by
// gas.hpp.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "penstock/gas/exchange/exchange.hpp"

#pragma GCC visibility push(default)

namespace penstock::gas {

/// An implementation of one exchange. The members are those of Exchange, but none waits: Exchange polls `is_open`,
/// `has_arrived` and `has_finished` in its waits.
class ExchangeBackend {
 public:
  virtual ~ExchangeBackend() = default;
  virtual void open() = 0;
  virtual bool is_open(std::size_t message) = 0;
  /// Called for a message that is open.
  virtual std::byte* destination(std::size_t message) = 0;
  virtual void send(std::size_t message) = 0;
  virtual bool has_arrived(std::size_t message) = 0;
  virtual bool has_finished() = 0;
  virtual void progress() = 0;
  virtual bool needs_progress() const noexcept = 0;
};

/// Makes backends.
class ExchangeMethod {
 public:
  virtual ~ExchangeMethod() = default;
  /// The name in reports.
  virtual std::string_view name() const noexcept = 0;
  /// The bytes of buffers that an exchange takes on this rank for what it sends. Local.
  virtual std::size_t buffer_bytes(const Team& team, const std::vector<Outgoing>& outgoing) const = 0;
  /// Called by all ranks at once, after they have agreed on the messages. `team` and `segment` outlive the exchange.
  virtual std::unique_ptr<ExchangeBackend> make(const Team& team, const Segment& segment,
                                                std::vector<Outgoing> outgoing,
                                                std::vector<Incoming> incoming) const = 0;
};

}  // namespace penstock::gas

#pragma GCC visibility pop
