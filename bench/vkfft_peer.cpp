// VkFFT as a peer, over OpenCL: Debian's libvkfft-dev, a header.
#include <fmt/format.h>

#include <vector>

#include "bench/device_peers.hpp"
#include "penstock/base/base.hpp"

#if PENSTOCK_BENCH_HAS_VKFFT
#define CL_TARGET_OPENCL_VERSION 120
#define VKFFT_BACKEND 3
#include <vkFFT.h>

namespace penstock::bench {
namespace {

class Vkfft final : public DevicePeer {
 public:
  Vkfft(std::size_t number, std::int64_t n, std::int64_t real_bytes) {
    cl_uint count = 0;
    clGetPlatformIDs(0, nullptr, &count);
    std::vector<cl_platform_id> platforms(count);
    clGetPlatformIDs(count, platforms.data(), nullptr);
    std::vector<cl_device_id> devices;
    for (cl_platform_id platform : platforms) {
      cl_uint of_platform = 0;
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &of_platform);
      const std::size_t first = devices.size();
      devices.resize(first + of_platform);
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, of_platform, devices.data() + first, nullptr);
    }
    device_ = devices.at(number);
    context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, nullptr);
    queue_ = clCreateCommandQueue(context_, device_, 0, nullptr);
    bytes_ = static_cast<std::uint64_t>(2 * real_bytes * n * n * n);
    buffer_ = clCreateBuffer(context_, CL_MEM_READ_WRITE, bytes_, nullptr, nullptr);
    const double zero = 0;
    clEnqueueFillBuffer(queue_, buffer_, &zero, sizeof zero, 0, bytes_, 0, nullptr, nullptr);
    clFinish(queue_);
    VkFFTConfiguration configuration{};
    configuration.FFTdim = 3;
    configuration.size[0] = configuration.size[1] = configuration.size[2] = static_cast<std::uint64_t>(n);
    configuration.doublePrecision = real_bytes == 8 ? 1 : 0;
    configuration.device = &device_;
    configuration.context = &context_;
    configuration.buffer = &buffer_;
    configuration.bufferSize = &bytes_;
    if (const VkFFTResult result = initializeVkFFT(&application_, configuration); result != VKFFT_SUCCESS) {
      throw Error(fmt::format("VkFFT has no plan: {}", static_cast<int>(result)));
    }
  }
  ~Vkfft() override {
    deleteVkFFT(&application_);
    clReleaseMemObject(buffer_);
    clReleaseCommandQueue(queue_);
    clReleaseContext(context_);
  }
  Vkfft(const Vkfft&) = delete;
  Vkfft& operator=(const Vkfft&) = delete;

  std::string name() const override { return "VkFFT, in place"; }
  void run() override {
    VkFFTLaunchParams parameters{};
    parameters.commandQueue = &queue_;
    parameters.buffer = &buffer_;
    if (const VkFFTResult result = VkFFTAppend(&application_, -1, &parameters); result != VKFFT_SUCCESS) {
      throw Error(fmt::format("VkFFT failed: {}", static_cast<int>(result)));
    }
    clFinish(queue_);
  }

 private:
  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_mem buffer_ = nullptr;
  std::uint64_t bytes_ = 0;
  VkFFTApplication application_{};
};

}  // namespace

std::unique_ptr<DevicePeer> vkfft_peer(std::size_t number, std::int64_t n, std::int64_t real_bytes) {
  return std::make_unique<Vkfft>(number, n, real_bytes);
}

}  // namespace penstock::bench
#else
namespace penstock::bench {
std::unique_ptr<DevicePeer> vkfft_peer(std::size_t /*number*/, std::int64_t /*n*/, std::int64_t /*real_bytes*/) {
  return nullptr;
}
}  // namespace penstock::bench
#endif
