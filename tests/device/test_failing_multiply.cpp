// Multiplies on devices that fail: too little memory, and a device that is lost midway. On the imitation alone
// (imitated_cuda.cpp), which has 1 GiB and is lost after as many launches as it is told.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "penstock/device/device.hpp"
#include "penstock/gemm/gemm.hpp"
#include "tests/fails_with.hpp"

namespace penstock::gemm {
namespace {

constexpr DeviceRates rates{
    .flops = 1e12,
    .call_s = 1e-6,
    .copies = {.memory_bandwidth_bytes_per_s = 1e11, .to_device_bytes_per_s = 1e10, .to_host_bytes_per_s = 1e10}};

class FailingDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (device::list().empty() || device::list().front().name != "imitation") {
      GTEST_SKIP() << "this is no imitation";
    }
    device = device::open("cuda:0");
  }

  std::shared_ptr<const device::Device> device;
};

TEST_F(FailingDevice, MoreMemoryThanIsLeftIsRefused) {
  const auto taken = device->allocate(std::uint64_t{1000} << 20);
  const DeviceProduct product{.m = 12000, .n = 12000, .k = 12000};
  EXPECT_TRUE(fails_with({"the device imitation has no room for"}, [&] {
    DeviceMultiply(device, product, {.memory_bytes = std::uint64_t{1} << 30, .rates = rates});
  }));
}

TEST_F(FailingDevice, ALostOneEndsTheMultiplyAndItsCopies) {
  constexpr std::int64_t n = 1024;
  constexpr std::int64_t k = 64;
  const std::vector<double> a(n * k, 1);
  const std::vector<double> b(k * n, 2);
  std::vector<double> c(n * n, 3);
  const DeviceProduct product{.m = n, .n = n, .k = k, .scalars = {.alpha = 1, .beta = 1}};
  const auto block = [](const std::vector<double>& matrix, std::int64_t leading) {
    return Block{.data = reinterpret_cast<const std::byte*>(matrix.data()), .leading = leading};
  };
  auto multiply =
      std::make_unique<DeviceMultiply>(device, product, DeviceOptions{.memory_bytes = 1600 << 10, .rates = rates});
  // Tiles that are multiplied when the device is lost leave after that.
  ASSERT_GT(multiply->plan().tiles, 4);
  const auto run = [&] { multiply->run(block(a, k), block(b, n), reinterpret_cast<std::byte*>(c.data()), n); };
  EXPECT_TRUE(fails_with({"the device imitation", "failed"}, [&] {
    for (int i = 0; i < 1000; ++i) {
      run();
    }
  }));
  const std::vector<double> then = c;
  EXPECT_TRUE(fails_with({"the device imitation"}, run));
  multiply.reset();  // whose streams wait for what is under way
  EXPECT_EQ(c, then);
}

TEST_F(FailingDevice, OneWithoutBlasNamesTheLibrary) {
  std::string message;
  try {
    device->open_blas();
  } catch (const Error& error) {
    message = error.what();
  }
  if (message.empty() || message.find("cublasCreate") != std::string::npos) {
    GTEST_SKIP() << "this system has cuBLAS";
  }
  for (const char* const part : {"libcublas.so", "is not found", "libcublas11"}) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace penstock::gemm
