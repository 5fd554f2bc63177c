// The joint to devices: memory, copies, streams, events and kernels, on the first device of the system; and what is
// said where there is none. tests/device/imitated_cuda.cpp lets the same tests run through CUDA's side.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>

#include "penstock/device/device.hpp"
#include "tests/fails_with.hpp"

namespace penstock::device {
namespace {

class OnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (list().empty()) {
      GTEST_SKIP() << "this system has no device";
    }
    device = open();
  }

  std::shared_ptr<const Device> device;
};

std::vector<std::int32_t> numbers(std::size_t count) {
  std::vector<std::int32_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::byte* bytes_of(std::vector<std::int32_t>& all) {
  return reinterpret_cast<std::byte*>(all.data());
}

TEST(Devices, AnUnknownOneIsRefusedWithThoseThatThereAre) {
  const std::vector<Properties> devices = list();
  if (devices.empty()) {
    EXPECT_TRUE(fails_with({"has no device", "libOpenCL"}, [] { open(); }));
    return;
  }
  EXPECT_TRUE(fails_with({"no device opencl:99", selector_of(devices.front())}, [] { open("opencl:99"); }));
  EXPECT_TRUE(fails_with({"no device quick"}, [] { open("quick"); }));
  EXPECT_TRUE(fails_with({"no device -1"}, [] { open("-1"); }));
  EXPECT_EQ(open("0")->properties().name, devices.front().name);
  EXPECT_EQ(open(selector_of(devices.back()))->properties().name, devices.back().name);
}

TEST_F(OnDevice, TellsWhatItIs) {
  const Properties& properties = device->properties();
  EXPECT_FALSE(properties.name.empty());
  EXPECT_FALSE(properties.driver.empty());
  EXPECT_GT(properties.memory_bytes, 0U);
  EXPECT_GE(properties.local_memory_bytes, 16U << 10);
  EXPECT_GE(properties.group_items, 64);
  EXPECT_GE(properties.lanes, 1);
  EXPECT_LE(device->available_bytes(), properties.memory_bytes);
}

TEST_F(OnDevice, RowsAreCopiedThereAndBack) {
  const auto stream = device->make_stream();
  const auto memory = device->allocate(4096);
  const auto other = device->allocate(4096);
  std::vector<std::int32_t> there = numbers(1024);
  std::vector<std::int32_t> back(1024, -1);
  stream->copy_to_device(memory->location(), bytes_of(there), {.row_bytes = 4096});
  stream->copy(other->location() + 1024, memory->location() + 2048, 2048);
  stream->copy_to_host(bytes_of(back), other->location() + 1024, {.row_bytes = 2048});
  stream->finish();
  for (std::size_t i = 0; i < 1024; ++i) {
    EXPECT_EQ(back[i], i < 512 ? static_cast<std::int32_t>(i + 512) : -1);
  }
  // Rows of 3 numbers, 5 apart on the host and 4 apart on the device.
  const Rows rows{.row_bytes = 12, .rows = 7, .host_pitch = 20, .device_pitch = 16};
  stream->copy_to_device(memory->location() + 16, bytes_of(there) + 4, rows);
  std::vector<std::int32_t> dense(28, -1);
  stream->copy_to_host(bytes_of(dense), memory->location() + 16, {.row_bytes = 112});
  std::vector<std::int32_t> spread(64, -1);
  stream->copy_to_host(bytes_of(spread), memory->location() + 16, rows);
  stream->finish();
  for (std::size_t row = 0; row < 7; ++row) {
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(dense[row * 4 + i], static_cast<std::int32_t>(1 + row * 5 + i));
      EXPECT_EQ(spread[row * 5 + i], static_cast<std::int32_t>(1 + row * 5 + i));
    }
    EXPECT_EQ(spread[row * 5 + 3], -1);
  }
}

TEST_F(OnDevice, AKernelSeesItsArgumentsItsGroupsAndLocalMemory) {
  // Each group reverses its items through local memory, and adds what it is told.
  const auto kernel = device->compile(R"(
typedef float real;
KERNEL(64) reverse(LOCATION(source), LOCATION(destination), i64 more, real share) {
  LOCAL_MEMORY(int, items, 64);
  items[63 - ITEM] = AT(const int, source)[GROUP * 64 + ITEM];
  BARRIER();
  AT(int, destination)[GROUP * 64 + ITEM] = items[ITEM] + (int)more + (int)(2 * share);
}
)",
                                      "reverse");
  const auto stream = device->make_stream();
  const auto from = device->allocate(4 * 64 * 5);
  const auto to = device->allocate(4 * 64 * 5);
  std::vector<std::int32_t> there = numbers(320);
  std::vector<std::int32_t> back(320, -1);
  stream->copy_to_device(from->location(), bytes_of(there), {.row_bytes = 1280});
  const std::array<Argument, 4> arguments{from->location() + 256, to->location() + 256, std::int64_t{1000}, 1.5F};
  stream->launch(*kernel, 4, 64, 256, arguments);
  stream->copy_to_host(bytes_of(back), to->location(), {.row_bytes = 1280});
  stream->finish();
  for (std::size_t i = 64; i < 320; ++i) {
    EXPECT_EQ(back[i], static_cast<std::int32_t>(i / 64 * 64 + 63 - i % 64 + 1003));
  }
}

TEST_F(OnDevice, StreamsWaitForEventsOfOthers) {
  const auto first = device->make_stream();
  const auto second = device->make_stream();
  const auto memory = device->allocate(std::uint64_t{4} << 20);
  std::vector<std::int32_t> there = numbers(std::size_t{1} << 20);
  std::vector<std::int32_t> back(there.size(), -1);
  for (int round = 0; round < 10; ++round) {
    there.front() = round;
    there.back() = round;
    const auto begin = first->record();
    first->copy_to_device(memory->location(), bytes_of(there), {.row_bytes = memory->bytes()});
    const auto is_there = first->record();
    second->wait(*is_there);
    second->copy_to_host(bytes_of(back), memory->location(), {.row_bytes = memory->bytes()});
    const auto is_back = second->record();
    is_back->wait();
    EXPECT_TRUE(is_there->is_done());
    EXPECT_EQ(back, there);
    EXPECT_GE(is_there->seconds_since(*begin), 0);
  }
}

TEST_F(OnDevice, HostMemoryIsPinned) {
  const auto host = device->allocate_host(4096);
  ASSERT_EQ(host->bytes().size(), 4096U);
  const auto memory = device->allocate(4096);
  const auto stream = device->make_stream();
  host->bytes()[4095] = std::byte{42};
  stream->copy_to_device(memory->location(), host->bytes().data(), {.row_bytes = 4096});
  stream->finish();
  host->bytes()[4095] = std::byte{0};
  std::vector<std::int32_t> own(1024);
  const auto pinned = device->pin({bytes_of(own), 4096});
  const auto again = device->pin({bytes_of(own), 4096});
  stream->copy_to_host(bytes_of(own), memory->location(), {.row_bytes = 4096});
  stream->finish();
  EXPECT_EQ(bytes_of(own)[4095], std::byte{42});
}

TEST_F(OnDevice, ItsBlasMultipliesWhatLiesAtOffsets) {
  std::unique_ptr<Blas> blas;
  try {
    blas = device->open_blas();
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  // A is 2 x 3 in rows of 4; B is the transpose of a 2 x 3 in rows of 3; C is 2 x 2 in rows of 3. All are at offset 8.
  const std::vector<float> a{0, 0, 1, 2, 3, -1, 4, 5, 6, -1};
  const std::vector<float> b{0, 0, 1, 0, 2, 0, 1, 3};
  std::vector<float> c{0, 0, 10, 20, -1, 30, 40, -1};
  const auto stream = device->make_stream();
  const auto memory_of = [&](const std::vector<float>& matrix) {
    auto memory = device->allocate(matrix.size() * 4);
    stream->copy_to_device(memory->location(), reinterpret_cast<const std::byte*>(matrix.data()),
                           {.row_bytes = matrix.size() * 4});
    return memory;
  };
  const auto on_device_a = memory_of(a);
  const auto on_device_b = memory_of(b);
  const auto on_device_c = memory_of(c);
  stream->multiply(*blas, {.m = 2,
                           .n = 2,
                           .k = 3,
                           .real_bytes = 4,
                           .alpha = 2,
                           .beta = 1,
                           .a = {.location = on_device_a->location() + 8, .leading = 4},
                           .b = {.location = on_device_b->location() + 8, .leading = 3, .is_transposed = true},
                           .c = on_device_c->location() + 8,
                           .leading_c = 3});
  stream->copy_to_host(reinterpret_cast<std::byte*>(c.data()), on_device_c->location(), {.row_bytes = c.size() * 4});
  stream->finish();
  EXPECT_EQ(c, (std::vector<float>{0, 0, 10 + 2 * 7, 20 + 2 * 11, -1, 30 + 2 * 16, 40 + 2 * 23, -1}));
}

TEST_F(OnDevice, MemoryOfOneRankIsWrittenByOthersOfTheProcess) {
  const auto other = open();
  auto memory = device->allocate(4096);
  SharedMemory shared = device->share(*memory);
  const auto opened = other->open_shared(shared);
  ASSERT_NE(opened, nullptr);
  EXPECT_EQ(opened->bytes(), 4096U);
  const auto from = other->allocate(4096);
  std::vector<std::int32_t> there = numbers(1024);
  std::vector<std::int32_t> back(1024, -1);
  const auto to_device = other->make_stream();
  to_device->copy_to_device(from->location(), bytes_of(there), {.row_bytes = 4096});
  to_device->copy(opened->location() + 8, from->location(), 4088);
  to_device->finish();
  const auto to_host = device->make_stream();
  to_host->copy_to_host(bytes_of(back), memory->location() + 8, {.row_bytes = 4088});
  to_host->finish();
  back.resize(1022);
  there.resize(1022);
  EXPECT_EQ(back, there);
  memory.reset();  // lives on for those that have opened it
  to_device->copy(from->location(), opened->location(), 4096);
  to_device->finish();
  // What is of no interface of this device's, or of another process that has no handle for it, is not reached.
  shared.has_handle = false;
  ++shared.process;
  EXPECT_EQ(other->open_shared(shared), nullptr);
  --shared.process;
  shared.interface = shared.interface == Interface::cuda ? Interface::opencl : Interface::cuda;
  EXPECT_EQ(other->open_shared(shared), nullptr);
}

TEST_F(OnDevice, TooMuchMemoryAndABadKernelAreRefused) {
  EXPECT_TRUE(fails_with({"has no room for"}, [&] { device->allocate(std::uint64_t{1} << 50); }));
  try {
    device->compile("this is no kernel", "none");
    FAIL() << "it compiles";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("cannot compile the kernel none"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace penstock::device
