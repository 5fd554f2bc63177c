// MPI's own ways, for the benchmark of latency.
#include <mpi.h>

#include <cstdint>

#include "penstock/base/base.hpp"
#include "penstock/measure/latency_ways.hpp"

namespace penstock::measure {
namespace {

constexpr std::size_t line_bytes = 64;

class SendReceive final : public Way {
 public:
  explicit SendReceive(std::size_t most_bytes) : data_(most_bytes) {}

  const char* name() const override { return "MPI send/receive"; }
  void set_size(std::size_t bytes) override { bytes_ = static_cast<int>(bytes); }
  void repeat(int rank) override {
    rank == 0 ? send(1) : receive(0);
    rank == 0 ? receive(1) : send(0);
  }

 private:
  void send(int peer) { MPI_Send(data_.data(), bytes_, MPI_BYTE, peer, 0, MPI_COMM_WORLD); }
  void receive(int peer) { MPI_Recv(data_.data(), bytes_, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

  std::vector<std::byte> data_;
  int bytes_ = 0;
};

/// A put, a flush, a put of a flag behind it, which the peer looks at in its own memory.
class PutAndFlush final : public Way {
 public:
  explicit PutAndFlush(std::size_t most_bytes)
      : data_(most_bytes), flag_at_((most_bytes + line_bytes - 1) / line_bytes * line_bytes) {
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
  void set_size(std::size_t bytes) override { bytes_ = static_cast<int>(bytes); }
  void repeat(int rank) override {
    ++count_;
    rank == 0 ? send(1) : receive();
    rank == 0 ? receive() : send(0);
  }

 private:
  volatile std::uint64_t& flag() const { return *reinterpret_cast<volatile std::uint64_t*>(memory_ + flag_at_); }
  void send(int peer) {
    MPI_Put(data_.data(), bytes_, MPI_BYTE, peer, 0, bytes_, MPI_BYTE, window_);
    MPI_Win_flush(peer, window_);
    MPI_Put(&count_, 1, MPI_UINT64_T, peer, static_cast<MPI_Aint>(flag_at_), 1, MPI_UINT64_T, window_);
    MPI_Win_flush(peer, window_);
  }
  void receive() {
    for (int looks = 1; flag() != count_; ++looks) {
      MPI_Win_sync(window_);
      if (looks % 64 == 0) {  // where puts are messages, somebody has to receive them
        int is_there = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
      }
    }
  }

  std::vector<std::byte> data_;
  std::size_t flag_at_;
  std::byte* memory_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
  int bytes_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace

void add_mpi_ways(std::vector<std::unique_ptr<Way>>& ways, std::size_t most_bytes) {
  ways.push_back(std::make_unique<SendReceive>(most_bytes));
  ways.push_back(std::make_unique<PutAndFlush>(most_bytes));
}

}  // namespace penstock::measure
