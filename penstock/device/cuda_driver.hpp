// CUDA's driver interface, run-time compiler and BLAS, as far as we call them: declared here, since no toolkit is
// needed to build. The names and numbers are those of NVIDIA's documentation. Private to the module.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace penstock::device::cuda {

using Result = int;                  // CUresult, 0: success
using CompileResult = int;           // nvrtcResult, the same
using BlasResult = int;              // cublasStatus_t, the same
using DeviceNumber = int;            // CUdevice
using Pointer = unsigned long long;  // CUdeviceptr
struct ContextTag;
struct ModuleTag;
struct FunctionTag;
struct StreamTag;
struct EventTag;
struct ProgramTag;
struct BlasTag;

inline constexpr Result not_ready = 600;
inline constexpr Result out_of_memory = 2;
inline constexpr Result already_registered = 712;

/// CUdevice_attribute.
enum class Attribute : int {
  max_threads_per_block = 1,
  warp_size = 10,
  multiprocessor_count = 16,
  l2_cache_bytes = 38,
  compute_capability_major = 75,
  compute_capability_minor = 76,
  max_shared_memory_per_block_optin = 97,
};

inline constexpr int max_dynamic_shared_bytes = 8;  // CUfunction_attribute
inline constexpr unsigned stream_non_blocking = 1;
inline constexpr unsigned host_portable = 1;
inline constexpr unsigned ipc_lazy_peer_access = 1;

/// CUipcMemHandle.
struct IpcHandle {
  std::array<std::byte, 64> bytes;
};

/// cublasOperation_t. The matrices of cuBLAS are in Fortran order.
enum class BlasOp : int { none = 0, transpose = 1 };

/// CUDA_MEMCPY2D.
struct Copy2D {
  std::size_t source_x = 0, source_y = 0;
  int source_type = 0;  // CUmemorytype: 1 host, 2 device
  const void* source_host = nullptr;
  Pointer source_device = 0;
  void* source_array = nullptr;
  std::size_t source_pitch = 0;
  std::size_t destination_x = 0, destination_y = 0;
  int destination_type = 0;
  void* destination_host = nullptr;
  Pointer destination_device = 0;
  void* destination_array = nullptr;
  std::size_t destination_pitch = 0;
  std::size_t width_bytes = 0, height = 0;
};

// NOLINTBEGIN(bugprone-macro-parentheses, cppcoreguidelines-macro-usage): names are declared, and looked up as text
// clang-format off
/// X(NAME, the symbol, the parameters): those of libcuda.so.1.
#define PENSTOCK_CUDA_FUNCTIONS(X) \
  X(init, "cuInit", (unsigned)) \
  X(driver_version, "cuDriverGetVersion", (int*)) \
  X(device_count, "cuDeviceGetCount", (int*)) \
  X(device_get, "cuDeviceGet", (DeviceNumber*, int)) \
  X(device_name, "cuDeviceGetName", (char*, int, DeviceNumber)) \
  X(device_identity, "cuDeviceGetUuid", (std::uint8_t(*)[16], DeviceNumber)) \
  X(device_memory, "cuDeviceTotalMem_v2", (std::size_t*, DeviceNumber)) \
  X(device_attribute, "cuDeviceGetAttribute", (int*, Attribute, DeviceNumber)) \
  X(context_retain, "cuDevicePrimaryCtxRetain", (ContextTag**, DeviceNumber)) \
  X(context_release, "cuDevicePrimaryCtxRelease_v2", (DeviceNumber)) \
  X(context_push, "cuCtxPushCurrent_v2", (ContextTag*)) \
  X(context_pop, "cuCtxPopCurrent_v2", (ContextTag**)) \
  X(memory_info, "cuMemGetInfo_v2", (std::size_t*, std::size_t*)) \
  X(allocate, "cuMemAlloc_v2", (Pointer*, std::size_t)) \
  X(free, "cuMemFree_v2", (Pointer)) \
  X(ipc_handle, "cuIpcGetMemHandle", (IpcHandle*, Pointer)) \
  X(ipc_open, "cuIpcOpenMemHandle_v2", (Pointer*, IpcHandle, unsigned)) \
  X(ipc_close, "cuIpcCloseMemHandle", (Pointer)) \
  X(can_access_peer, "cuDeviceCanAccessPeer", (int*, DeviceNumber, DeviceNumber)) \
  X(enable_peer_access, "cuCtxEnablePeerAccess", (ContextTag*, unsigned)) \
  X(allocate_host, "cuMemHostAlloc", (void**, std::size_t, unsigned)) \
  X(free_host, "cuMemFreeHost", (void*)) \
  X(register_host, "cuMemHostRegister_v2", (void*, std::size_t, unsigned)) \
  X(unregister_host, "cuMemHostUnregister", (void*)) \
  X(copy_2d, "cuMemcpy2DAsync_v2", (const Copy2D*, StreamTag*)) \
  X(copy_to_device, "cuMemcpyHtoDAsync_v2", (Pointer, const void*, std::size_t, StreamTag*)) \
  X(copy_to_host, "cuMemcpyDtoHAsync_v2", (void*, Pointer, std::size_t, StreamTag*)) \
  X(copy, "cuMemcpyAsync", (Pointer, Pointer, std::size_t, StreamTag*)) \
  X(stream_create, "cuStreamCreate", (StreamTag**, unsigned)) \
  X(stream_destroy, "cuStreamDestroy_v2", (StreamTag*)) \
  X(stream_synchronize, "cuStreamSynchronize", (StreamTag*)) \
  X(stream_wait_event, "cuStreamWaitEvent", (StreamTag*, EventTag*, unsigned)) \
  X(event_create, "cuEventCreate", (EventTag**, unsigned)) \
  X(event_destroy, "cuEventDestroy_v2", (EventTag*)) \
  X(event_record, "cuEventRecord", (EventTag*, StreamTag*)) \
  X(event_query, "cuEventQuery", (EventTag*)) \
  X(event_synchronize, "cuEventSynchronize", (EventTag*)) \
  X(event_elapsed_ms, "cuEventElapsedTime", (float*, EventTag*, EventTag*)) \
  X(module_load, "cuModuleLoadData", (ModuleTag**, const void*)) \
  X(module_unload, "cuModuleUnload", (ModuleTag*)) \
  X(module_function, "cuModuleGetFunction", (FunctionTag**, ModuleTag*, const char*)) \
  X(function_set, "cuFuncSetAttribute", (FunctionTag*, int, int)) \
  X(launch, "cuLaunchKernel", (FunctionTag*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
                               StreamTag*, void**, void**)) \
  X(error_name, "cuGetErrorName", (Result, const char**)) \
  X(error_text, "cuGetErrorString", (Result, const char**))

/// Those of libnvrtc.so.
#define PENSTOCK_NVRTC_FUNCTIONS(X) \
  X(create, "nvrtcCreateProgram", (ProgramTag**, const char*, const char*, int, const char* const*, \
                                   const char* const*)) \
  X(destroy, "nvrtcDestroyProgram", (ProgramTag**)) \
  X(compile, "nvrtcCompileProgram", (ProgramTag*, int, const char* const*)) \
  X(log_bytes, "nvrtcGetProgramLogSize", (ProgramTag*, std::size_t*)) \
  X(log, "nvrtcGetProgramLog", (ProgramTag*, char*)) \
  X(ptx_bytes, "nvrtcGetPTXSize", (ProgramTag*, std::size_t*)) \
  X(ptx, "nvrtcGetPTX", (ProgramTag*, char*))

/// Those of libcublas.so.
#define PENSTOCK_CUBLAS_FUNCTIONS(X) \
  X(create, "cublasCreate_v2", (BlasTag**)) \
  X(destroy, "cublasDestroy_v2", (BlasTag*)) \
  X(set_stream, "cublasSetStream_v2", (BlasTag*, StreamTag*)) \
  X(multiply_single, "cublasSgemm_v2", (BlasTag*, BlasOp, BlasOp, int, int, int, const float*, Pointer, int, Pointer, \
                                        int, const float*, Pointer, int)) \
  X(multiply_double, "cublasDgemm_v2", (BlasTag*, BlasOp, BlasOp, int, int, int, const double*, Pointer, int, Pointer, \
                                        int, const double*, Pointer, int))
// clang-format on

struct Functions {
#define PENSTOCK_DECLARE(NAME, SYMBOL, PARAMETERS) Result(*NAME) PARAMETERS;
  PENSTOCK_CUDA_FUNCTIONS(PENSTOCK_DECLARE)
};
struct CompilerFunctions {
  PENSTOCK_NVRTC_FUNCTIONS(PENSTOCK_DECLARE)
};
struct BlasFunctions {
  PENSTOCK_CUBLAS_FUNCTIONS(PENSTOCK_DECLARE)
#undef PENSTOCK_DECLARE
};
// NOLINTEND(bugprone-macro-parentheses, cppcoreguidelines-macro-usage)

}  // namespace penstock::device::cuda
