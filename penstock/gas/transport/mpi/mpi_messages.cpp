#include "penstock/gas/transport/mpi/mpi_messages.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <string>

#include "penstock/base/base.hpp"
#include "penstock/gas/transport/peer_watch.hpp"

namespace penstock::gas {

void check_mpi(int code, const char* what) {
  if (code != MPI_SUCCESS) {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    throw Error(std::string(what) + " failed: " + text.data());
  }
}

bool is_complete(MPI_Request& request, MPI_Status* status) {
  int is_done = 0;
  check_mpi(MPI_Test(&request, &is_done, status), "MPI_Test");
  return is_done != 0;
}

MPI_Comm duplicate(MPI_Comm comm, std::mutex& mutex) {
  MPI_Comm copy = MPI_COMM_NULL;
  if constexpr (is_simulated) {
    check_mpi(MPI_Comm_dup(comm, &copy), "MPI_Comm_dup");
    return copy;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  {
    const std::scoped_lock lock(mutex);
    check_mpi(MPI_Comm_idup(comm, &copy, &request), "MPI_Comm_idup");
  }
  wait_until([&] {
    const std::scoped_lock lock(mutex);
    return is_complete(request);
  });
  return copy;
}

bool wait_for_end(PeerWatch& watch, const std::function<bool()>& is_done, double patience_s) {
  const double deadline_s = seconds() + patience_s;
  for (Backoff backoff; !is_done(); backoff.pause()) {
    if (seconds() > deadline_s || watch.has_failed()) {
      return false;
    }
  }
  return true;
}

bool all_have_come(MPI_Comm comm, std::mutex& mutex, PeerWatch& watch, const std::function<void()>& serve) {
  MPI_Request request = MPI_REQUEST_NULL;
  {
    const std::scoped_lock lock(mutex);
    if (MPI_Ibarrier(comm, &request) != MPI_SUCCESS) {
      return false;
    }
  }
  int has_all = 0;
  bool has_failed = false;
  const auto is_done = [&] {
    serve();
    const std::scoped_lock lock(mutex);
    has_failed = MPI_Test(&request, &has_all, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    return has_failed || has_all != 0;
  };
  return wait_for_end(watch, is_done) && !has_failed;
}

ByteType::ByteType(std::size_t bytes) {
  if (bytes <= INT_MAX) {
    count_ = static_cast<int>(bytes);
  } else {
    make(bytes);
  }
}

ByteType ByteType::unit(std::size_t bytes) {
  ByteType type;
  type.make(bytes);
  return type;
}

void ByteType::make(std::size_t bytes) {
  constexpr std::size_t block = std::size_t{1} << 30;
  const std::size_t blocks = bytes / block;
  if (blocks > INT_MAX) {
    throw Error("a message of " + format_bytes(bytes) + " is longer than MPI can describe");
  }
  MPI_Datatype block_type = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_contiguous(static_cast<int>(block), MPI_BYTE, &block_type), "MPI_Type_contiguous");
  const std::array<int, 2> lengths{static_cast<int>(blocks), static_cast<int>(bytes % block)};
  const std::array<MPI_Aint, 2> offsets{0, static_cast<MPI_Aint>(blocks * block)};
  const std::array<MPI_Datatype, 2> types{block_type, MPI_BYTE};
  check_mpi(MPI_Type_create_struct(2, lengths.data(), offsets.data(), types.data(), &type_), "MPI_Type_create_struct");
  MPI_Type_free(&block_type);
  check_mpi(MPI_Type_commit(&type_), "MPI_Type_commit");
}

ByteType::~ByteType() {
  if (type_ != MPI_BYTE) {
    MPI_Type_free(&type_);
  }
}

MpiChannel::MpiChannel(MPI_Comm comm, std::mutex& mutex, Direction direction, int peer, int tag,
                       std::span<std::byte> data, std::size_t piece_bytes)
    : mutex_(mutex), direction_(direction) {
  const std::scoped_lock lock(mutex_);
  while (!data.empty()) {
    const std::span<std::byte> chunk = data.first(std::min(piece_bytes, data.size()));
    auto& [type, request] = chunks_.emplace_back(Chunk{ByteType(chunk.size())});
    if (direction == Direction::send) {
      check_mpi(MPI_Send_init(chunk.data(), type.count(), type.get(), peer, tag, comm, &request), "MPI_Send_init");
    } else {
      check_mpi(MPI_Recv_init(chunk.data(), type.count(), type.get(), peer, tag, comm, &request), "MPI_Recv_init");
    }
    data = data.subspan(chunk.size());
  }
  done_ = chunks_.size();
}

MpiChannel::~MpiChannel() {
  // What is under way here is of a round that has failed. Its receiver takes its memory back; of a send MPI keeps that.
  for (std::size_t i = done_; i < chunks_.size() && direction_ == Direction::receive; ++i) {
    cancel(chunks_[i].request);
  }
  const std::scoped_lock lock(mutex_);
  for (Chunk& chunk : chunks_) {
    MPI_Request_free(&chunk.request);
  }
  chunks_.clear();  // with types that were made
}

/// Ends a receive: at once where nothing has come for it, else when that is here, but after no more than two seconds,
/// as its sender may have failed.
void MpiChannel::cancel(MPI_Request& request) noexcept {
  constexpr double patience_s = 2;
  const double deadline_s = seconds() + patience_s;
  const std::scoped_lock lock(mutex_);
  MPI_Cancel(&request);
  int is_done = 0;
  for (Backoff backoff; is_done == 0 && seconds() < deadline_s; backoff.pause()) {
    if (MPI_Test(&request, &is_done, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
      return;
    }
  }
}

void MpiChannel::start() {
  const std::scoped_lock lock(mutex_);
  for (Chunk& chunk : chunks_) {
    check_mpi(MPI_Start(&chunk.request), "MPI_Start");
  }
  done_ = 0;
}

bool MpiChannel::test() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) {
    return false;  // another thread of this rank drives MPI forward; ask again
  }
  while (done_ < chunks_.size() && is_complete(chunks_[done_].request)) {
    ++done_;
  }
  return done_ == chunks_.size();
}

}  // namespace penstock::gas
