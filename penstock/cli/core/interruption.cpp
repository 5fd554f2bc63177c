// A handler may do next to nothing: it wakes a thread, which may lock, allocate and print.
#include "penstock/cli/core/interruption.hpp"

#include <fmt/format.h>
#include <semaphore.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "penstock/base/thread_pool.hpp"

namespace penstock::cli {
namespace {

// Signals belong to the process, and handlers take no arguments of ours.
sem_t wake;
volatile std::sig_atomic_t arrived = 0;  // 0: the watcher is to end
std::atomic<Interruption*> current = nullptr;
std::array<bool, Interruption::signals.size()> were_ignored{};  // when the process was started

// What a process of a launcher leaves to those that have files to remove: Open MPI's launcher gives a second from the
// signal on, but kills all that are left as soon as the first has ended.
constexpr std::chrono::milliseconds time_for_others{500};

void on_signal(int signal) {
  const int error = errno;
  arrived = signal;
  sem_post(&wake);
  errno = error;
}

void note_what_is_ignored() {
  for (std::size_t i = 0; i < were_ignored.size(); ++i) {
    struct sigaction now = {};
    were_ignored[i] = sigaction(Interruption::signals[i], nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
  }
}

// Runs before the libraries that the command is linked with are initialised: the UCX that MPICH comes with takes SIGHUP
// then, ignored or not.
[[gnu::section(".preinit_array"), gnu::used]] void (*const before_libraries)() = note_what_is_ignored;

}  // namespace

Interruption::Interruption(bool is_launched) : is_launched_(is_launched) {
  arrived = 0;
  sem_init(&wake, 0, 0);
  watcher_ = start_thread([this] { watch(); });
  current = this;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    struct sigaction ours = {};
    ours.sa_handler = were_ignored[i] ? SIG_IGN : on_signal;  // ignored as under nohup
    ours.sa_flags = SA_RESTART;
    sigaction(signals[i], &ours, &former_[i]);
  }
}

Interruption::~Interruption() {
  current = nullptr;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    sigaction(signals[i], &former_[i], nullptr);
  }
  sem_post(&wake);
  watcher_.join();
  sem_destroy(&wake);
}

void Interruption::watch() {
  while (sem_wait(&wake) != 0) {
  }
  if (arrived != 0) {
    end_by(arrived);
  }
}

void Interruption::end_by(int signal) {
  mutex_.lock();  // for good: nothing new is begun
  remove_files();
  if (!is_launched_ || !text_.empty()) {
    const std::string line =
        fmt::format("penstock: interrupted by SIG{}{}{}\n", sigabbrev_np(signal), text_.empty() ? "" : ": ", text_);
    static_cast<void>(!write(STDERR_FILENO, line.data(), line.size()));
  }
  if (is_launched_ && unfinished_.empty()) {
    std::this_thread::sleep_for(time_for_others);
  }
  std::signal(signal, SIG_DFL);
  kill(getpid(), signal);
}

void Interruption::remove_files() noexcept {
  for (const Entry& entry : unfinished_) {
    struct stat now = {};
    if (stat(entry.path.c_str(), &now) == 0 && now.st_dev == entry.device && now.st_ino == entry.inode) {
      unlink(entry.path.c_str());
    }
  }
}

void Interruption::remove_unfinished() noexcept {
  Interruption* const interruption = current;
  if (interruption != nullptr && interruption->mutex_.try_lock()) {  // else somebody just does
    interruption->remove_files();
  }
}

void Interruption::say(const std::string& text) {
  const std::scoped_lock lock(mutex_);
  text_ = text;
}

Interruption::Unfinished::Unfinished(Interruption& interruption, const std::string& path)
    : interruption_(&interruption) {
  const std::scoped_lock lock(interruption.mutex_);
  struct stat status = {};
  stat(path.c_str(), &status);
  number_ = interruption.next_number_++;
  interruption.unfinished_.push_back({number_, path, status.st_dev, status.st_ino});
}

Interruption::Unfinished::~Unfinished() {
  if (interruption_ != nullptr) {
    const std::scoped_lock lock(interruption_->mutex_);
    interruption_->unfinished_.remove_if([&](const Entry& entry) { return entry.number == number_; });
  }
}

Interruption::Unfinished::Unfinished(Unfinished&& other) noexcept
    : interruption_(std::exchange(other.interruption_, nullptr)), number_(other.number_) {}

Interruption::Unfinished& Interruption::Unfinished::operator=(Unfinished&& other) noexcept {
  std::swap(interruption_, other.interruption_);
  std::swap(number_, other.number_);
  return *this;
}

}  // namespace penstock::cli
