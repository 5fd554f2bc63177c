// MPI's own ways, for the benchmark of latency.
#include <mpi.h>

#include <cstdint>

#include "penstock/base/base.hpp"
#include "penstock/measure/latency_ways.hpp"

namespace penstock::measure {
namespace {

constexpr std::size_t line_bytes = 64;

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

/// A put, a flush, a put of a flag behind it, which the peer looks at in its own memory.
class PutAndFlush final : public PingPong {
 public:
  explicit PutAndFlush(std::size_t most_bytes)
      : PingPong(most_bytes), flag_at_((most_bytes + line_bytes - 1) / line_bytes * line_bytes) {
    // Of whole lines: where ranks share memory, MPICH 4.0.2 puts beside a part that follows one of 72 bytes.
    MPI_Win_allocate(static_cast<MPI_Aint>(flag_at_ + line_bytes), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory_,
                     &window_);
    flag() = 0;
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~PutAndFlush() override {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
  PutAndFlush(const PutAndFlush&) = delete;
  PutAndFlush& operator=(const PutAndFlush&) = delete;

  const char* name() const override { return "MPI put/flush"; }

 private:
  volatile std::uint64_t& flag() const { return *reinterpret_cast<volatile std::uint64_t*>(memory_ + flag_at_); }
  void send(int peer) override {
    const int bytes = static_cast<int>(bytes_);
    MPI_Put(data_.data(), bytes, MPI_BYTE, peer, 0, bytes, MPI_BYTE, window_);
    MPI_Win_flush(peer, window_);
    MPI_Put(&count_, 1, MPI_UINT64_T, peer, static_cast<MPI_Aint>(flag_at_), 1, MPI_UINT64_T, window_);
    MPI_Win_flush(peer, window_);
  }
  void receive(int) override {
    for (int looks = 1; flag() != count_; ++looks) {
      MPI_Win_sync(window_);
      if (looks % 64 == 0) {  // where puts are messages, somebody has to receive them
        int is_there = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
      }
    }
  }

  std::size_t flag_at_;
  std::byte* memory_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
};

}  // namespace

void add_mpi_ways(std::vector<std::unique_ptr<Way>>& ways, std::size_t most_bytes) {
  ways.push_back(std::make_unique<SendReceive>(most_bytes));
  ways.push_back(std::make_unique<PutAndFlush>(most_bytes));
}

}  // namespace penstock::measure
