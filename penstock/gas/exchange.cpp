// Exchanges: the ways to carry their messages, chosen once, and the waiting for them.
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/gas/engine.hpp"
#include "penstock/gas/exchange_way.hpp"
#include "penstock/gas/gas.hpp"

namespace penstock::gas {
namespace {

std::unique_ptr<ExchangeWay> make_way(const Team& team, const Segment& segment, std::vector<Outgoing> outgoing,
                                      std::vector<Incoming> incoming, Carrier carrier) {
  if (carrier != Carrier::mpi_alltoall && carrier != Carrier::mpi_ialltoall) {
    return exchange_by_messages(team, segment, std::move(outgoing), std::move(incoming), carrier);
  }
  return exchange_by_calls(team, segment, std::move(outgoing), std::move(incoming), carrier == Carrier::mpi_alltoall);
}

}  // namespace

bool is_written_in_place(const Team& team, Carrier carrier, int peer) {
  const bool writes_memory = carrier == Carrier::fastest || carrier == Carrier::packets;
  return writes_memory ? team.is_local(peer) : carrier == Carrier::mpi_messages && peer == team.rank();
}

Exchange::Exchange(const Team& team, const Segment& segment, std::vector<Outgoing> outgoing,
                   std::vector<Incoming> incoming, Carrier carrier)
    : engine_(&team.engine()), way_(make_way(team, segment, std::move(outgoing), std::move(incoming), carrier)) {}

Exchange::~Exchange() = default;
Exchange::Exchange(Exchange&&) noexcept = default;
Exchange& Exchange::operator=(Exchange&&) noexcept = default;

std::size_t Exchange::buffer_bytes(const Team& team, const std::vector<Outgoing>& outgoing, Carrier carrier) {
  std::size_t bytes = 0;
  for (const Outgoing& message : outgoing) {
    PENSTOCK_ASSERT(message.bytes > 0);
    bytes += is_written_in_place(team, carrier, message.peer) ? 0 : message.bytes;
  }
  return bytes;
}

void Exchange::open() {
  way_->open();
}

bool Exchange::is_open(std::size_t message) {
  return way_->is_open(message);
}

std::byte* Exchange::destination(std::size_t message) {
  engine_->wait([&] { return way_->is_open(message); });
  return way_->destination(message);
}

void Exchange::send(std::size_t message) {
  way_->send(message);
}

bool Exchange::has_arrived(std::size_t message) {
  return way_->has_arrived(message);
}

void Exchange::wait(std::size_t message) {
  engine_->wait([&] { return way_->has_arrived(message); });
}

bool Exchange::has_finished() {
  return way_->has_finished();
}

void Exchange::progress() {
  way_->progress();
}

void Exchange::finish() {
  engine_->wait([&] { return way_->has_finished(); });
}

}  // namespace penstock::gas
