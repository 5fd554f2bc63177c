// What SIGINT, SIGTERM and SIGHUP leave behind: no half-written file, and a word on what can be resumed.
#pragma once

#include <sys/types.h>

#include <array>
#include <csignal>
#include <list>
#include <mutex>
#include <string>
#include <thread>

namespace penstock::cli {

/// Ends the process where SIGINT, SIGTERM or SIGHUP arrives, unless it was started with that signal ignored: the files
/// that were named are removed, a line is printed, and the signal does what it does by default. Thread-safe. One object
/// per process at a time.
class Interruption {
 public:
  static constexpr std::array signals{SIGINT, SIGTERM, SIGHUP};

  /// Where a launcher started the process, it is the launcher that tells of the signal, which often is its own, sent
  /// when another process has failed: the line is printed only where there is something to `say`.
  explicit Interruption(bool is_launched);
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// A file that is removed where the process is interrupted within this object's life. Movable, not copyable.
  class [[nodiscard]] Unfinished {
   public:
    /// The file at `path` is there now.
    Unfinished(Interruption& interruption, const std::string& path);
    ~Unfinished();
    Unfinished(Unfinished&& other) noexcept;
    Unfinished& operator=(Unfinished&& other) noexcept;

   private:
    Interruption* interruption_ = nullptr;  // none: moved from
    int number_ = 0;
  };

  /// Removes the files that were named, of the process's one object if there is one: where the process ends otherwise
  /// than by a signal or an exception that is caught.
  static void remove_unfinished() noexcept;

  /// What the line says after the signal's name from now on, such as how the work is resumed.
  void say(const std::string& text);

 private:
  struct Entry {
    int number;
    std::string path;
    dev_t device;
    ino_t inode;
  };

  void remove_files() noexcept;
  void watch();
  void end_by(int signal);

  const bool is_launched_;
  std::mutex mutex_;
  std::list<Entry> unfinished_;
  int next_number_ = 0;
  std::string text_;
  std::array<struct sigaction, signals.size()> former_{};
  std::thread watcher_;
};

}  // namespace penstock::cli
