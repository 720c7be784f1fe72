// The first CUDA device, through the runtime.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <filesystem>
#include <string>

#include "kernels/device/cuda/check.hpp"
#include "kernels/device/devices.hpp"

namespace tally {
namespace {

void* allocate(std::size_t bytes) {
  void* address = nullptr;
  check_cuda(cudaMalloc(&address, bytes));
  return address;
}

void* create_stream() {
  cudaStream_t stream = nullptr;
  check_cuda(cudaStreamCreate(&stream));  // ordered with cudaMemcpy
  return stream;
}

void* create_event() {
  cudaEvent_t event = nullptr;
  check_cuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  return event;
}

/// The graph of what was captured, ready to be launched.
void* end_capture(void* stream) {
  cudaGraph_t graph = nullptr;
  check_cuda(cudaStreamEndCapture(static_cast<cudaStream_t>(stream), &graph));
  cudaGraphExec_t executable = nullptr;
  const cudaError_t status = cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphDestroy(graph);
  check_cuda(status);
  return executable;
}

/// fill returns at once, and orders with every stream; write and read return when the copy is done.
const DeviceFunctions functions{
    .allocate = allocate,
    .release = [](void* address) noexcept { cudaFree(address); },
    .write = [](void* to, const void* from,
                std::size_t bytes) { check_cuda(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice)); },
    .read = [](const void* from, void* to,
               std::size_t bytes) { check_cuda(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost)); },
    .fill = [](void* address, int byte, std::size_t bytes) { check_cuda(cudaMemset(address, byte, bytes)); },
    .fill_on =
        [](void* stream, void* address, int byte, std::size_t bytes) {
          check_cuda(cudaMemsetAsync(address, byte, bytes, static_cast<cudaStream_t>(stream)));
        },
    .create_stream = create_stream,
    .release_stream = [](void* stream) noexcept { cudaStreamDestroy(static_cast<cudaStream_t>(stream)); },
    .synchronize = [](void* stream) { check_cuda(cudaStreamSynchronize(static_cast<cudaStream_t>(stream))); },
    .create_event = create_event,
    .release_event = [](void* event) noexcept { cudaEventDestroy(static_cast<cudaEvent_t>(event)); },
    .record =
        [](void* event, void* stream) {
          check_cuda(cudaEventRecord(static_cast<cudaEvent_t>(event), static_cast<cudaStream_t>(stream)));
        },
    .wait =
        [](void* stream, void* event) {
          check_cuda(cudaStreamWaitEvent(static_cast<cudaStream_t>(stream), static_cast<cudaEvent_t>(event)));
        },
    .begin_capture =
        [](void* stream) {
          check_cuda(cudaStreamBeginCapture(static_cast<cudaStream_t>(stream), cudaStreamCaptureModeThreadLocal));
        },
    .end_capture = end_capture,
    .launch_captured =
        [](void* captured, void* stream) {
          check_cuda(cudaGraphLaunch(static_cast<cudaGraphExec_t>(captured), static_cast<cudaStream_t>(stream)));
        },
    .release_captured =
        [](void* captured) noexcept {
          if (captured != nullptr) cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(captured));
        },
};

/// A device node, as Linux makes one for a GPU, or the driver's library.
bool something_there() {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/dev", ignored)) {
    if (entry.path().filename().string().starts_with("nvidia")) return true;
  }
  void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library != nullptr) dlclose(library);
  return library != nullptr;
}

std::string first_device_name() {
  if (!something_there()) throw DeviceAbsent("no CUDA device: neither /dev/nvidia* nor libcuda.so.1 is there");
  int count = 0;
  check_cuda(cudaGetDeviceCount(&count));
  check_cuda(cudaSetDevice(0));
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, 0));
  return properties.name;
}

}  // namespace

Device& cuda_device() {
  static Device one(ExecutorKind::cuda, first_device_name(), functions);
  return one;
}

}  // namespace tally
