#include "penstock/cli/explore/page_server.hpp"

#include <fmt/format.h>
#include <httplib.h>

#include <cerrno>
#include <cstring>

#include "penstock/base/base.hpp"

namespace penstock::cli {
namespace {

constexpr const char* host = "127.0.0.1";

}  // namespace

class PageServer::Listener : public httplib::Server {};

PageServer::PageServer(std::string_view page, int port) : listener_(std::make_unique<Listener>()) {
  // Without what httplib sets besides, by which two servers may share a port and take turns.
  listener_->set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  });
  listener_->Get("/", [page](const httplib::Request&, httplib::Response& response) {
    response.set_header("Cache-Control", "no-store");
    response.set_content(page.data(), page.size(), "text/html; charset=utf-8");
  });
  errno = 0;
  port_ = port == 0 ? listener_->bind_to_any_port(host) : listener_->bind_to_port(host, port) ? port : -1;
  if (port_ < 0) {
    throw Error(fmt::format("--port {}: it cannot be had at {}: {}; give another, or 0 for any that is free", port,
                            host, errno == 0 ? "it is taken" : std::strerror(errno)));
  }
}

PageServer::~PageServer() = default;

std::string PageServer::address() const {
  return fmt::format("http://{}:{}/", host, port_);
}

void PageServer::run() {
  if (!listener_->listen_after_bind()) {
    throw Error(fmt::format("{} cannot be listened at", address()));
  }
}

}  // namespace penstock::cli
