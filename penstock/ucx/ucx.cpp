#include "penstock/ucx/ucx.hpp"

#include <dlfcn.h>

#include <array>
#include <cstring>
#include <type_traits>

#include "penstock/base/base.hpp"
#include "penstock/base/signals.hpp"

namespace penstock::ucx {
namespace {

/// What we want otherwise than UCX does where nothing is said.
///
/// A peer that has vanished is to be found out soon, which idle connections tell by being asked so often. And memory
/// that ranks of a node share is to be used although peers' failures are asked about: without the second, UCX 1.13 goes
/// by TCP within a node, which takes 20 times as long.
constexpr std::array<std::array<const char*, 2>, 2> settings{{
    {"KEEPALIVE_INTERVAL", "3s"},
    {"MM_ERROR_HANDLING", "y"},
}};

Functions open_ucx() {
  const SignalDispositions given_back;
  void* library = nullptr;
  for (const char* name : {"libucp.so.0", PENSTOCK_UCX_LIBRARY}) {
    library = library == nullptr ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : library;
  }
  if (library == nullptr) {
    throw Error(std::string("UCX cannot be opened (") + dlerror() + "): install it, or use another transport than ucx");
  }
  Functions functions{};
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (function == nullptr) {
      throw Error(std::string("the UCX of this system has no ") + name + ": version 1.13 or a later one is needed");
    }
  };
#define PENSTOCK_FIND(NAME) find(functions.NAME, #NAME);
  PENSTOCK_UCX_FUNCTIONS(PENSTOCK_FIND)
#undef PENSTOCK_FIND
  return functions;
}

}  // namespace

const Functions& api() {
  static const Functions functions = open_ucx();
  return functions;
}

void check(ucs_status_t status, const char* what) {
  if (status != UCS_OK) {
    throw Error(std::string("UCX: ") + what + " failed: " + api().ucs_status_string(status));
  }
}

Context::Context(int ranks) {
  ucp_config_t* config = nullptr;
  check(api().ucp_config_read(nullptr, nullptr, &config), "ucp_config_read");
  for (const auto& [name, value] : settings) {
    api().ucp_config_modify(config, name, value);
  }
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_RMA;
  params.estimated_num_eps = static_cast<std::size_t>(ranks);
  const ucs_status_t status = api().ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &context_);
  api().ucp_config_release(config);
  check(status, "ucp_init");
}

Context::~Context() {
  api().ucp_cleanup(context_);
}

Worker::Worker(int ranks) : context_(std::make_shared<Context>(ranks)) {
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  check(api().ucp_worker_create(context_->get(), &params, &worker_), "ucp_worker_create");
}

Worker::~Worker() {
  api().ucp_worker_destroy(worker_);
}

std::vector<std::byte> Worker::address() const {
  ucp_address_t* address = nullptr;
  std::size_t bytes = 0;
  check(api().ucp_worker_get_address(worker_, &address, &bytes), "ucp_worker_get_address");
  std::vector<std::byte> copy(bytes);
  std::memcpy(copy.data(), address, bytes);
  api().ucp_worker_release_address(worker_, address);
  return copy;
}

void Worker::handle(unsigned id, ucp_am_recv_callback_t callback, void* self, std::uint32_t flags) const {
  ucp_am_handler_param_t param{};
  param.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG |
                     UCP_AM_HANDLER_PARAM_FIELD_FLAGS;
  param.id = id;
  param.cb = callback;
  param.arg = self;
  param.flags = UCP_AM_FLAG_WHOLE_MSG | flags;
  check(api().ucp_worker_set_am_recv_handler(worker_, &param), "ucp_worker_set_am_recv_handler");
}

std::vector<std::byte> Worker::key_of(ucp_mem_h memory, const std::byte* address) const {
  void* packed = nullptr;
  std::size_t bytes = 0;
  check(api().ucp_rkey_pack(context_->get(), memory, &packed, &bytes), "ucp_rkey_pack");
  const auto number = reinterpret_cast<std::uint64_t>(address);
  std::vector<std::byte> key(sizeof number + bytes);
  std::memcpy(key.data(), &number, sizeof number);
  std::memcpy(key.data() + sizeof number, packed, bytes);
  api().ucp_rkey_buffer_release(packed);
  return key;
}

}  // namespace penstock::ucx
