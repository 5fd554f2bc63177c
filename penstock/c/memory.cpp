// Segments and compiled copies.
#include <cstddef>
#include <span>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/c/handles.hpp"
#include "penstock/c/status.hpp"
#include "penstock/layout/layout.hpp"

using penstock::c::status_of;
using penstock::gas::Pointer;

namespace {

std::span<const std::byte> bytes_of(const void* data, std::size_t bytes) {
  return {static_cast<const std::byte*>(data), bytes};
}

penstock::layout::Layout nest(const penstock_level* levels, std::size_t count, std::int64_t element_bytes) {
  std::vector<penstock::layout::Level> all;
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back({levels[i].extent, levels[i].stride});
  }
  return penstock::layout::Layout::nest(0, all, element_bytes);
}

}  // namespace

extern "C" {

penstock_status penstock_segment_create(penstock_team* team, size_t bytes, size_t signals, penstock_segment** segment) {
  return status_of([&] { *segment = new penstock_segment{penstock::gas::Segment(team->team, bytes, signals)}; });
}

penstock_status penstock_segment_destroy(penstock_segment* segment) {
  return status_of([&] { delete segment; });
}

void* penstock_segment_local(penstock_segment* segment) {
  return segment->segment.local().data();
}

void* penstock_segment_address_at(penstock_segment* segment, int peer) {
  void* address = nullptr;
  status_of([&] { address = segment->segment.address_at(peer); });
  return address;
}

penstock_status penstock_put(penstock_segment* segment, int peer, size_t offset, const void* data, size_t bytes) {
  return status_of([&] { segment->segment.put(Pointer<std::byte>{peer, offset}, bytes_of(data, bytes)); });
}

penstock_status penstock_put_signal(penstock_segment* segment, int peer, size_t offset, const void* data, size_t bytes,
                                    size_t signal) {
  return status_of([&] {
    segment->segment.put_signal(Pointer<std::byte>{peer, offset}, bytes_of(data, bytes), signal);
  });
}

penstock_status penstock_get(penstock_segment* segment, int peer, size_t offset, void* data, size_t bytes) {
  return status_of([&] {
    segment->segment.get(Pointer<std::byte>{peer, offset}, std::span(static_cast<std::byte*>(data), bytes));
  });
}

penstock_status penstock_notify(penstock_segment* segment, int peer, size_t signal) {
  return status_of([&] { segment->segment.notify(peer, signal); });
}

penstock_status penstock_wait(penstock_segment* segment, size_t signal, uint64_t at_least) {
  return status_of([&] { segment->segment.wait(signal, at_least); });
}

penstock_status penstock_test(penstock_segment* segment, size_t signal, uint64_t at_least, int* has_arrived) {
  return status_of([&] { *has_arrived = segment->segment.test(signal, at_least) ? 1 : 0; });
}

penstock_status penstock_fetch_add(penstock_segment* segment, int peer, size_t offset, uint64_t value,
                                   uint64_t* before) {
  return status_of([&] { *before = segment->segment.fetch_add(Pointer<std::uint64_t>{peer, offset}, value); });
}

penstock_status penstock_mover_create(const penstock_level* source, size_t source_levels,
                                      const penstock_level* destination, size_t destination_levels,
                                      int64_t element_bytes, penstock_mover** mover) {
  return status_of([&] {
    *mover = new penstock_mover{penstock::mover::Mover::compile(nest(source, source_levels, element_bytes),
                                                                nest(destination, destination_levels, element_bytes))};
  });
}

penstock_status penstock_mover_destroy(penstock_mover* mover) {
  return status_of([&] { delete mover; });
}

void penstock_mover_run(const penstock_mover* mover, const void* source, void* destination) {
  mover->mover(static_cast<const std::byte*>(source), static_cast<std::byte*>(destination));
  penstock::mover::finish_streaming();
}
}
