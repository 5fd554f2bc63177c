// A switch between network namespaces of this machine: in each a TAP device is its port, at the end of a wire
// (wires.hpp).
//
// Usage: cluster_switch BITS_PER_S DELAY_NS MTU NAMESPACE_FILE...
//
// Makes a device `link0` in each namespace, prints "ready", and forwards until it is killed, or until SIGTERM: then it
// prints a line of what it has done. It needs the right to enter the namespaces and to make devices, and takes a
// real-time priority where it may.
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <deque>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "tests/cluster/wires.hpp"

namespace penstock::cluster {
namespace {

using Address = std::array<unsigned char, 6>;

/// What a device gives and takes: this, and a frame. Of a TCP stream a row of frames as one of up to 64 KiB, as the
/// system hands it to network cards, which cut it, and gets it from them: each frame alone would cost the processor as
/// much. Virtio 1.2, 5.1.6, of which <linux/virtio_net.h> is C alone.
struct Prefix {
  std::uint8_t flags;
  std::uint8_t row_kind;  // 0: one frame
  std::uint16_t header_hint;
  std::uint16_t max_payload;  // of each frame of a row
  std::uint16_t checksum_start;
  std::uint16_t checksum_offset;
};
static_assert(sizeof(Prefix) == 10);
constexpr std::size_t max_frame_bytes = (std::size_t{64} << 10) + 128;

/// Of a port's device: the locally administered one that ends with its number.
Address address_of(std::size_t port) {
  return {2, 0, 0, 0, static_cast<unsigned char>(port >> 8), static_cast<unsigned char>(port)};
}

Time now() {
  return std::chrono::duration_cast<Time>(std::chrono::steady_clock::now().time_since_epoch());
}

int checked(int result, const std::string& what) {
  if (result < 0) {
    throw std::system_error(errno, std::generic_category(), "cannot " + what);
  }
  return result;
}

/// Moves this process into a network namespace and makes a TAP device there, which lives as long as its descriptor.
int open_port(const char* namespace_file, std::size_t port, int mtu) {
  const int target = checked(open(namespace_file, O_RDONLY | O_CLOEXEC), std::string("open ") + namespace_file);
  checked(setns(target, CLONE_NEWNET), std::string("enter ") + namespace_file);
  close(target);
  const int tap = checked(open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK), "open /dev/net/tun");
  ifreq request{};
  std::strcpy(request.ifr_name, "link0");
  request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
  checked(ioctl(tap, TUNSETIFF, &request), "make a TAP device");
  checked(ioctl(tap, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6), "have a TAP device take rows of frames");
  const int control = checked(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "make a socket");
  request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
  std::memcpy(request.ifr_hwaddr.sa_data, address_of(port).data(), sizeof(Address));
  checked(ioctl(control, SIOCSIFHWADDR, &request), "set the address of a TAP device");
  request.ifr_mtu = mtu;
  checked(ioctl(control, SIOCSIFMTU, &request), "set the MTU of a TAP device to " + std::to_string(mtu));
  close(control);
  return tap;
}

/// Of the frame, or the row of frames, behind a prefix.
std::int64_t wire_bytes_of(std::span<const unsigned char> data) {
  Prefix prefix{};
  std::memcpy(&prefix, data.data(), sizeof prefix);
  const std::span<const unsigned char> frame = data.subspan(sizeof prefix);
  if (prefix.row_kind == 0 || prefix.max_payload == 0) {
    return wire_bytes(frame.size());
  }
  // The checksum is TCP's, whose header tells its own length in words of 4 bytes.
  const std::size_t tcp_length = prefix.checksum_start + std::size_t{12};
  if (tcp_length >= frame.size()) {
    return wire_bytes(frame.size());
  }
  const std::size_t headers =
      std::min<std::size_t>(prefix.checksum_start + (frame[tcp_length] >> 4) * 4U, frame.size());
  return wire_bytes(headers, frame.size() - headers, prefix.max_payload);
}

volatile std::sig_atomic_t is_ended = 0;

/// Sleeps until a time or until a descriptor is ready. Timers wake late, in virtual machines by tens of microseconds:
/// it learns by how much and wakes as much earlier, so that its caller spins for what is left.
class Sleep {
 public:
  void until(Time wanted, std::span<pollfd> descriptors) {
    const Time begin = now();
    const Time sleep = std::max(wanted - begin - margin_, Time(0));
    const timespec timeout{.tv_sec = sleep / std::chrono::seconds(1),
                           .tv_nsec = (sleep % std::chrono::seconds(1)).count()};
    const int ready = ppoll(descriptors.data(), descriptors.size(), &timeout, nullptr);
    if (ready == 0 && sleep > Time(0)) {
      learn(now() - begin - sleep);
    }
  }

 private:
  void learn(Time late) { margin_ = std::min<Time>(margin_ + (late - margin_) / 16, most); }

  static constexpr Time most = std::chrono::microseconds(100);  // later than that it was not the timer
  Time margin_{0};
};

class Switch {
 public:
  Switch(Wire wire, int mtu, std::span<char*> namespace_files) : wires_(wire, namespace_files.size()) {
    for (std::size_t port = 0; port < namespace_files.size(); ++port) {
      descriptors_.push_back({.fd = open_port(namespace_files[port], port, mtu), .events = POLLIN, .revents = 0});
    }
    arriving_.resize(descriptors_.size());
  }

  void run() {
    while (is_ended == 0) {
      Time next = now() + std::chrono::seconds(1);
      for (std::size_t port = 0; port < descriptors_.size(); ++port) {
        next = std::min(next, take(port));
      }
      for (std::size_t port = 0; port < descriptors_.size(); ++port) {
        next = std::min(next, deliver(port));
      }
      sleep_.until(next, descriptors_);
    }
  }

  void print_account() const {
    using Microseconds = std::chrono::duration<double, std::micro>;
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    std::printf(
        "%ld frames and rows of frames, %ld bytes on the wires, in %.2f s of a processor; late by %.1f us on average, "
        "%.1f us at most\n",
        frames_, bytes_, seconds(used.ru_utime) + seconds(used.ru_stime),
        frames_ > 0 ? Microseconds(late_).count() / static_cast<double>(frames_) : 0, Microseconds(latest_).count());
  }

 private:
  struct Frame {
    Time due;
    std::int64_t wire_bytes;
    std::size_t bytes;
    std::vector<unsigned char> data;  // with room for any frame
  };

  /// Hands a node what is due; returns when there is more.
  Time deliver(std::size_t port) {
    std::deque<Frame>& frames = arriving_[port];
    for (; !frames.empty() && frames.front().due <= now(); frames.pop_front()) {
      Frame& frame = frames.front();
      const Time late = now() - frame.due;
      // A node whose device is down takes nothing, as one whose cable is drawn.
      if (write(descriptors_[port].fd, frame.data.data(), frame.bytes) < 0 && errno != EIO && errno != EAGAIN) {
        checked(-1, "write to a TAP device");
      }
      ++frames_;
      bytes_ += frame.wire_bytes;
      late_ += late;
      latest_ = std::max(latest_, late);
      spare_.push_back(std::move(frame.data));
    }
    return frames.empty() ? Time::max() : frames.front().due;
  }

  /// Takes what a node sends, a little ahead of its wire; returns when to look again without being called.
  Time take(std::size_t port) {
    pollfd& descriptor = descriptors_[port];
    if (descriptor.events != 0 && descriptor.revents == 0) {
      return Time::max();
    }
    for (int taken = 0; taken < max_at_once; ++taken) {
      if (wires_.free_at(port) > now() + read_ahead) {
        descriptor.events = 0;  // the rest stays with the node, whose system then sees a wire that is taken
        return wires_.free_at(port) - read_ahead / 2;
      }
      std::vector<unsigned char> data = take_spare();
      const ssize_t bytes = read(descriptor.fd, data.data(), data.size());
      if (bytes < 0) {
        if (errno != EAGAIN && errno != EIO) {
          checked(-1, "read from a TAP device");
        }
        spare_.push_back(std::move(data));
        descriptor.events = POLLIN;
        return Time::max();
      }
      forward(port, std::move(data), static_cast<std::size_t>(bytes));
    }
    return now();
  }

  void forward(std::size_t from, std::vector<unsigned char> data, std::size_t bytes) {
    const std::int64_t on_wire = wire_bytes_of(std::span(data).first(bytes));
    const Time begin = wires_.leave(from, on_wire, now());
    const unsigned char* const target = data.data() + sizeof(Prefix);
    const bool is_for_all = (target[0] & 1) != 0;
    for (std::size_t to = 0; to < arriving_.size(); ++to) {
      if (to != from && is_for_all) {
        arriving_[to].push_back({wires_.arrive(from, to, on_wire, begin), on_wire, bytes, data});
      } else if (to != from && std::memcmp(address_of(to).data(), target, sizeof(Address)) == 0) {
        arriving_[to].push_back({wires_.arrive(from, to, on_wire, begin), on_wire, bytes, std::move(data)});
        return;
      }
    }
    spare_.push_back(std::move(data));
  }

  std::vector<unsigned char> take_spare() {
    if (spare_.empty()) {
      return std::vector<unsigned char>(max_frame_bytes);
    }
    std::vector<unsigned char> data = std::move(spare_.back());
    spare_.pop_back();
    return data;
  }

  // So that a timer that is late by some tens of microseconds leaves no gap on the wire.
  static constexpr Time read_ahead = std::chrono::microseconds(150);
  static constexpr int max_at_once = 64;

  Wires wires_;
  std::vector<pollfd> descriptors_;          // by port
  std::vector<std::deque<Frame>> arriving_;  // by port, by time
  std::vector<std::vector<unsigned char>> spare_;
  Sleep sleep_;
  std::int64_t frames_ = 0;
  std::int64_t bytes_ = 0;
  Time late_{0};  // all together
  Time latest_{0};
};

std::int64_t parse(std::string_view what, std::string_view text, std::int64_t least, std::int64_t most) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    throw std::invalid_argument(std::string(what) + " is '" + std::string(text) + "': it is a number from " +
                                std::to_string(least) + " to " + std::to_string(most));
  }
  return value;
}

void run(std::span<char*> arguments) {
  if (arguments.size() < 4) {
    throw std::invalid_argument("wanted: BITS_PER_S DELAY_NS MTU NAMESPACE_FILE...");
  }
  const Wire wire{.bits_per_s = parse("BITS_PER_S", arguments[0], 0, 1'000'000'000'000),
                  .delay = Time(parse("DELAY_NS", arguments[1], 0, 10'000'000'000))};
  const auto mtu = static_cast<int>(parse("MTU", arguments[2], 576, 65521));
  Switch nodes(wire, mtu, arguments.subspan(3));
  const sched_param priority{.sched_priority = 10};
  sched_setscheduler(0, SCHED_FIFO, &priority);  // where it may not, it is as good as the machine is idle
  prctl(PR_SET_TIMERSLACK, 1);
  struct sigaction end {};
  end.sa_handler = [](int) { is_ended = 1; };
  sigaction(SIGTERM, &end, nullptr);
  std::puts("ready");
  std::fflush(stdout);
  nodes.run();
  nodes.print_account();
}

}  // namespace
}  // namespace penstock::cluster

int main(int argc, char** argv) {
  try {
    penstock::cluster::run(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cluster_switch: %s\n", error.what());
    return 1;
  }
}
