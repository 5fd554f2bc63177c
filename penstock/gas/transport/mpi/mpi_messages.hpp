// Helpers for MPI: messages of any length, repeated messages, the waits at a communicator's end, and the check of
// return codes.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "penstock/gas/transport/transport.hpp"

namespace penstock::gas {

class PeerWatch;

/// Throws Error with MPI's own text when `code` is not success; `what` names the call.
void check_mpi(int code, const char* what);

/// Whether what was started is complete; MPI then has taken the request back.
bool is_complete(MPI_Request& request, MPI_Status* status = MPI_STATUS_IGNORE);

/// Collective over `comm`: a copy of it. Each of its calls holds `mutex`, and none of its waits.
MPI_Comm duplicate(MPI_Comm comm, std::mutex& mutex);

/// How long a rank waits for others at the end of what they share, before it leaves what is theirs to MPI.
inline constexpr double usual_patience_s = 2;

/// For that end: waits until `is_done()`, which is called again and again. False where a process has died, as `watch`
/// knows, or it takes longer than `patience_s`, which others may see otherwise.
bool wait_for_end(PeerWatch& watch, const std::function<bool()>& is_done, double patience_s = usual_patience_s);

/// Collective over `comm`: waits like that until all ranks have come here, making calls to `serve` meanwhile.
bool all_have_come(MPI_Comm comm, std::mutex& mutex, PeerWatch& watch, const std::function<void()>& serve);

/// `bytes` contiguous bytes as `count()` elements of an MPI type, also beyond MPI's 31-bit counts. Freed on
/// destruction.
class ByteType {
 public:
  /// As bytes where they can be counted, else as one element: a type that is made costs memory, and SMPI reads what a
  /// persistent send of one sends when it is made, not when it is started.
  explicit ByteType(std::size_t bytes);
  /// As one element.
  static ByteType unit(std::size_t bytes);
  ~ByteType();
  ByteType(const ByteType&) = delete;
  ByteType& operator=(const ByteType&) = delete;
  ByteType(ByteType&& other) noexcept : type_(other.type_), count_(other.count_) { other.type_ = MPI_BYTE; }
  MPI_Datatype get() const noexcept { return type_; }
  int count() const noexcept { return count_; }

 private:
  ByteType() = default;
  void make(std::size_t bytes);
  MPI_Datatype type_ = MPI_BYTE;
  int count_ = 1;
};

/// Persistent MPI requests for the pieces of a message, of `piece_bytes` each, the last one less. Calls are serialised
/// by `mutex`, so that MPI needs no more than MPI_THREAD_SERIALIZED.
class MpiChannel final : public Channel {
 public:
  enum class Direction { send, receive };
  MpiChannel(MPI_Comm comm, std::mutex& mutex, Direction direction, int peer, int tag, std::span<std::byte> data,
             std::size_t piece_bytes);
  ~MpiChannel() override;
  MpiChannel(const MpiChannel&) = delete;
  MpiChannel& operator=(const MpiChannel&) = delete;
  void start() override;
  bool test() override;

 private:
  void cancel(MPI_Request& request) noexcept;

  std::mutex& mutex_;
  Direction direction_;
  struct Chunk {
    ByteType type;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  std::vector<Chunk> chunks_;  // in the order of the data
  std::size_t done_ = 0;       // of this transfer, from the first
};

}  // namespace penstock::gas
