// A page, given to the browsers of this computer alone.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace penstock::cli {

/// Answers GET / at 127.0.0.1 with one page. The page's text must outlive the server.
class PageServer {
 public:
  /// Takes `port`, or any free one where it is 0. Throws Error where it cannot be had.
  PageServer(std::string_view page, int port);
  ~PageServer();
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  /// "http://127.0.0.1:8080/"
  std::string address() const;
  /// Answers until the process is interrupted.
  void run();

 private:
  class Listener;
  std::unique_ptr<Listener> listener_;
  int port_ = 0;
};

}  // namespace penstock::cli
