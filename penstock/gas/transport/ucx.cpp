#include "penstock/gas/transport/ucx.hpp"

#include <array>
#include <cstring>

#include "penstock/base/base.hpp"

namespace penstock::gas {
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

ucp_context_h make_context(int ranks) {
  ucp_config_t* config = nullptr;
  check_ucx(ucp_config_read(nullptr, nullptr, &config), "ucp_config_read");
  for (const auto& [name, value] : settings) {
    ucp_config_modify(config, name, value);
  }
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_RMA;
  params.estimated_num_eps = static_cast<std::size_t>(ranks);
  ucp_context_h context = nullptr;
  const ucs_status_t status = ucp_init(&params, config, &context);
  ucp_config_release(config);
  check_ucx(status, "ucp_init");
  return context;
}

}  // namespace

void check_ucx(ucs_status_t status, const char* what) {
  if (status != UCS_OK) {
    throw Error(std::string("UCX: ") + what + " failed: " + ucs_status_string(status));
  }
}

UcxWorker::UcxWorker(int ranks) : context_(make_context(ranks)) {
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  const ucs_status_t status = ucp_worker_create(context_, &params, &worker_);
  if (status != UCS_OK) {
    ucp_cleanup(context_);
    check_ucx(status, "ucp_worker_create");
  }
}

UcxWorker::~UcxWorker() {
  ucp_worker_destroy(worker_);
  ucp_cleanup(context_);
}

std::vector<std::byte> UcxWorker::address() const {
  ucp_address_t* address = nullptr;
  std::size_t bytes = 0;
  check_ucx(ucp_worker_get_address(worker_, &address, &bytes), "ucp_worker_get_address");
  std::vector<std::byte> copy(bytes);
  std::memcpy(copy.data(), address, bytes);
  ucp_worker_release_address(worker_, address);
  return copy;
}

}  // namespace penstock::gas
