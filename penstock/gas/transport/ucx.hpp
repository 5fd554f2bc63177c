// What UCX gives, owned; with its status codes checked in one place.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <string>
#include <vector>

namespace penstock::gas {

/// Throws Error with UCX's own text when `status` is not success; `what` names the call.
void check_ucx(ucs_status_t status, const char* what);

/// UCX of one rank: its context and its worker, for one thread at a time.
class UcxWorker {
 public:
  /// Throws Error where UCX finds no way to communicate.
  explicit UcxWorker(int ranks);
  ~UcxWorker();
  UcxWorker(const UcxWorker&) = delete;
  UcxWorker& operator=(const UcxWorker&) = delete;

  ucp_context_h context() const noexcept { return context_; }
  ucp_worker_h get() const noexcept { return worker_; }
  /// By which peers reach it.
  std::vector<std::byte> address() const;

 private:
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
};

}  // namespace penstock::gas
