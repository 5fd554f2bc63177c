// UCX: its functions, owners of its handles, and its status codes checked in one place.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace penstock::ucx {

// NOLINTBEGIN(bugprone-macro-parentheses, cppcoreguidelines-macro-usage): names are declared, and looked up as text
// clang-format off
#define PENSTOCK_UCX_FUNCTIONS(X) \
  X(ucp_am_data_release) \
  X(ucp_am_recv_data_nbx) \
  X(ucp_am_send_nbx) \
  X(ucp_cleanup) \
  X(ucp_config_modify) \
  X(ucp_config_read) \
  X(ucp_config_release) \
  X(ucp_ep_close_nbx) \
  X(ucp_ep_create) \
  X(ucp_ep_flush_nbx) \
  X(ucp_ep_rkey_unpack) \
  X(ucp_get_nbx) \
  X(ucp_get_version_string) \
  X(ucp_init_version) \
  X(ucp_mem_map) \
  X(ucp_mem_query) \
  X(ucp_mem_unmap) \
  X(ucp_put_nbx) \
  X(ucp_request_check_status) \
  X(ucp_request_free) \
  X(ucp_rkey_buffer_release) \
  X(ucp_rkey_destroy) \
  X(ucp_rkey_pack) \
  X(ucp_worker_create) \
  X(ucp_worker_destroy) \
  X(ucp_worker_fence) \
  X(ucp_worker_get_address) \
  X(ucp_worker_progress) \
  X(ucp_worker_release_address) \
  X(ucp_worker_set_am_recv_handler) \
  X(ucs_status_string)
// clang-format on

/// The functions of UCX that we call.
struct Functions {
#define PENSTOCK_DECLARE(NAME) decltype(&::NAME) NAME;
  PENSTOCK_UCX_FUNCTIONS(PENSTOCK_DECLARE)
#undef PENSTOCK_DECLARE
};
// NOLINTEND(bugprone-macro-parentheses, cppcoreguidelines-macro-usage)

/// The functions of UCX. The first call loads the library, which then stays loaded. UCX installs signal handlers as it
/// is loaded; the call restores the former ones. Throws Error where UCX cannot be loaded or lacks a function.
const Functions& api();

/// Throws Error with UCX's own text when `status` is not success; `what` names the call.
void check(ucs_status_t status, const char* what);

/// The UCX context of one rank, with which memory is registered.
class Context {
 public:
  /// `ranks` is how many peers to expect. Throws Error where UCX cannot be initialised.
  explicit Context(int ranks);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  ucp_context_h get() const noexcept { return context_; }

 private:
  ucp_context_h context_ = nullptr;
};

/// The UCX worker of one rank, for one thread at a time, and its context, which registered memory may keep for longer.
class Worker {
 public:
  /// `ranks` is how many peers to expect. Throws Error where UCX cannot be initialised.
  explicit Worker(int ranks);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  const std::shared_ptr<const Context>& context() const noexcept { return context_; }
  ucp_worker_h get() const noexcept { return worker_; }
  /// The address by which peers reach the worker.
  std::vector<std::byte> address() const;
  /// Lets `callback(self, ...)` receive active messages of number `id`, each whole; `flags` are further flags of UCX.
  void handle(unsigned id, ucp_am_recv_callback_t callback, void* self, std::uint32_t flags = 0) const;
  /// The key by which peers reach `memory`, which is at `address`: the address, then the remote key that UCX packs.
  std::vector<std::byte> key_of(ucp_mem_h memory, const std::byte* address) const;

 private:
  std::shared_ptr<const Context> context_;
  ucp_worker_h worker_ = nullptr;
};

}  // namespace penstock::ucx
