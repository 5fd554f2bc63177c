// Messages of plans on devices: straight to the peer's device, through the host, and as was measured to be faster. On
// systems without a device nothing runs, and the tests say so.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "penstock/device/device.hpp"
#include "penstock/fft/device_peers.hpp"
#include "penstock/fft/fft.hpp"
#include "tests/fft/device_checks.hpp"
#include "tests/worlds.hpp"

namespace penstock::fft {
namespace {

using gas::on_worlds;

class MessagesOfDevices : public OnDevices {};

struct Bytes {
  std::uint64_t through_host = 0;
  std::uint64_t direct = 0;
};

Bytes sent_by(const std::vector<DeviceStagePlan>& stages) {
  Bytes bytes;
  for (const DeviceStagePlan& stage : stages) {
    bytes.through_host += stage.sent_bytes;
    bytes.direct += stage.direct_bytes;
  }
  return bytes;
}

/// Collective: by rank, whether this rank reaches the memory of its device.
std::vector<char> find_reached(const gas::Team& team, device::Interface interface) {
  const std::vector<pid_t> processes = team.all_gather(getpid());
  std::vector<char> reached;
  for (int peer = 0; peer < team.size(); ++peer) {
    const bool is_of_process = processes[static_cast<std::size_t>(peer)] == getpid();
    reached.push_back(team.is_local(peer) && (is_of_process || interface == device::Interface::cuda) ? 1 : 0);
  }
  return reached;
}

/// Collective: a plan whose messages take `path`; all of them go where they can.
template <class Real>
void check_path(const gas::Team& team, const Options& options, Fields fields, MessagePath path) {
  const std::shared_ptr<const device::Device> device = device::open();
  const auto make = [&](MessagePath one) {
    return PlanMaker::make<Real>(team, device, options, place_of(fields), one);
  };
  const auto through_host = make(MessagePath::host);
  DevicePlan<Real> plan = make(path);
  const std::vector<char> reached = find_reached(team, device->properties().interface);
  const auto reached_count = std::count(reached.begin(), reached.end(), 1);
  for (const bool is_forward : {true, false}) {
    const Bytes sent = sent_by(is_forward ? plan.forward_stages() : plan.backward_stages());
    const Bytes all = sent_by(is_forward ? through_host.forward_stages() : through_host.backward_stages());
    EXPECT_EQ(all.direct, 0U);
    EXPECT_EQ(sent.direct + sent.through_host, all.through_host);
    if (path == MessagePath::host || reached_count == 1) {  // itself
      EXPECT_EQ(sent.direct, 0U);
    } else if (path == MessagePath::direct && reached_count == team.size()) {
      EXPECT_EQ(sent.through_host, 0U);
    }
    const DeviceMessages& messages = plan.messages();
    EXPECT_TRUE(sent.direct == 0 || messages.direct_from_bytes);
    EXPECT_TRUE(sent.through_host == 0 || messages.direct_from_bytes.value_or(0) > 0 ||
                !messages.why_through_host.empty());
  }
  SCOPED_TRACE(fmt::format("path {}", static_cast<int>(path)));
  check_error(team, *device, options, plan, fields);
}

TEST_F(MessagesOfDevices, TakeAnyPath) {
  on_worlds({4}, [](gas::Team& team) {
    for (const MessagePath path : {MessagePath::direct, MessagePath::host, MessagePath::fastest}) {
      Options options = estimated({12, 10, 9});
      check_path<double>(team, options, Fields::on_device, path);
      options.type = Type::r2c;
      options.batch = 2;
      options.planes_per_message = 1;
      check_path<float>(team, options, Fields::on_host, path);
      options = estimated({16, 12, 8});
      options.output = Output::as_input;
      options.grid = {team.size() == 4 ? 2 : 1, team.size() == 4 ? 2 : team.size()};
      check_path<double>(team, options, Fields::on_device_in_place, path);
    }
  });
}

TEST_F(MessagesOfDevices, FollowOneAnotherThroughManyTransforms) {
  on_worlds({2, 4}, [](gas::Team& team) {
    const Options options = estimated({20, 12, 16});
    const std::shared_ptr<const device::Device> device = device::open();
    DevicePlan<double> plan = PlanMaker::make<double>(team, device, options, FieldsOn::device, MessagePath::direct);
    for (int i = 0; i < 20; ++i) {
      EXPECT_LT(device_error(team, *device, options, plan, i % 2 == 0 ? Fields::on_device : Fields::on_device_in_place),
                1e-15);
    }
  });
}

TEST_F(MessagesOfDevices, AreLongEnoughWhereThePathIsMeasured) {
  gas::run_world(2, [](gas::Team& team) {
    const Options options = estimated({32, 32, 32});
    const std::shared_ptr<const device::Device> device = device::open();
    const DevicePlan<double> plan(team, device, options);
    const DeviceMessages& messages = plan.messages();
    Bytes sent = sent_by(plan.forward_stages());
    const Bytes sent_back = sent_by(plan.backward_stages());
    // Half of this rank's part each, in messages of an eighth.
    const std::uint64_t message_bytes = 32 * 32 * 32 * 16 / 4 / 8;
    EXPECT_EQ(sent.direct + sent.through_host, 8 * message_bytes);
    sent.direct += sent_back.direct;
    sent.through_host += sent_back.through_host;
    EXPECT_EQ(sent.direct > 0, messages.direct_from_bytes.has_value());
    EXPECT_LE(messages.direct_from_bytes.value_or(0), message_bytes);
    EXPECT_EQ(sent.through_host > 0, !messages.why_through_host.empty());
  });
}

}  // namespace
}  // namespace penstock::fft
