// MPI's own ways, for the benchmark of latency.
#include <mpi.h>

#include <array>
#include <cstdint>
#include <string>

#include "penstock/base/base.hpp"
#include "penstock/lab/latency/latency_ways.hpp"

namespace penstock::lab {
namespace {

class SendReceive final : public PingPong {
 public:
  using PingPong::PingPong;

  const char* name() const override { return "MPI send/receive"; }

 private:
  void send(int peer) override { MPI_Send(data_.data(), static_cast<int>(bytes_), MPI_BYTE, peer, 0, MPI_COMM_WORLD); }
  void receive(int peer) override {
    MPI_Recv(data_.data(), static_cast<int>(bytes_), MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
};

/// A window of `bytes` bytes on each rank; throws Error on all where one cannot have it (with Open MPI 4.1 between
/// nodes on Ethernet that is the rule).
class MpiWindow {
 public:
  explicit MpiWindow(std::size_t bytes) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int code = MPI_Win_allocate(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, comm, &memory_, &window_);
    MPI_Comm_free(&comm);
    int has_failed = code != MPI_SUCCESS ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &has_failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (has_failed != 0) {
      std::array<char, MPI_MAX_ERROR_STRING> text{};
      int length = 0;
      MPI_Error_string(code, text.data(), &length);
      throw Error(std::string("MPI_Win_allocate failed: ") + text.data());
    }
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
  }
  ~MpiWindow() {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
  MpiWindow(const MpiWindow&) = delete;
  MpiWindow& operator=(const MpiWindow&) = delete;
  MPI_Win get() const noexcept { return window_; }
  std::byte* memory() const noexcept { return memory_; }

 private:
  std::byte* memory_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
};

/// A put, a flush, a put of a flag behind it, which the peer looks at in its own memory.
class PutAndFlush final : public PingPong {
 public:
  explicit PutAndFlush(std::size_t max_bytes)
      : PingPong(max_bytes),
        flag_at_(round_up(max_bytes, cache_line_bytes)),
        // Of whole lines: where ranks share memory, MPICH 4.0.2 puts beside a part that follows one of 72 bytes.
        window_(flag_at_ + cache_line_bytes) {
    flag() = 0;
    MPI_Barrier(MPI_COMM_WORLD);
  }

  const char* name() const override { return "MPI put/flush"; }

 private:
  volatile std::uint64_t& flag() const {
    return *reinterpret_cast<volatile std::uint64_t*>(window_.memory() + flag_at_);
  }
  void send(int peer) override {
    const int bytes = static_cast<int>(bytes_);
    MPI_Put(data_.data(), bytes, MPI_BYTE, peer, 0, bytes, MPI_BYTE, window_.get());
    MPI_Win_flush(peer, window_.get());
    MPI_Put(&count_, 1, MPI_UINT64_T, peer, static_cast<MPI_Aint>(flag_at_), 1, MPI_UINT64_T, window_.get());
    MPI_Win_flush(peer, window_.get());
  }
  void receive(int) override {
    for (int polls = 1; flag() != count_; ++polls) {
      MPI_Win_sync(window_.get());
      if (polls % 64 == 0) {  // where puts are messages, somebody has to receive them
        int is_there = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
      }
    }
  }

  std::size_t flag_at_;
  MpiWindow window_;
};

}  // namespace

void add_mpi_ways(std::vector<std::unique_ptr<LatencyContender>>& ways, std::size_t max_bytes,
                  std::vector<std::string>& left_out) {
  ways.push_back(std::make_unique<SendReceive>(max_bytes));
  try {
    ways.push_back(std::make_unique<PutAndFlush>(max_bytes));
  } catch (const Error& error) {
    left_out.push_back(std::string("MPI put/flush: ") + error.what());
  }
}

}  // namespace penstock::lab
