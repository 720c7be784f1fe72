// The fused passes at a window's end on a device, beside the device's own copy of as many bytes:
//   device_benchmarks [--executor cuda|host] [--parameters N] [--launches N] [Google Benchmark's options]
//   device_benchmarks --print_sizes [--parameters N]      the sizes of the tensors, one a line
// An iteration is `launches` passes, one behind the other, and one wait; a pass's time is that by their number. Exits
// 77, with the reason, where the device is not there.
#include <benchmark/benchmark.h>

#include <cstring>
#include <functional>
#include <iostream>
#include <memory>

#include "tests/benchmarks/window_sizes.hpp"
#include "tests/benchmarks/window_state.hpp"

namespace tally::benchmarks {
namespace {

struct Options {
  ExecutorKind executor = ExecutorKind::cuda;
  std::int64_t parameters = 100'000'000;
  int launches = 20;
  bool prints_sizes = false;
};

/// Takes its own options out of argv, and leaves the others.
Options options_from(int& count, char** words) {
  Options options;
  int kept = 1;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--print_sizes") {
      options.prints_sizes = true;
    } else if (word == "--executor" && i + 1 < count) {
      const std::string name = words[++i];
      if (name != "cuda" && name != "host") throw std::invalid_argument("--executor is cuda or host");
      options.executor = name == "cuda" ? ExecutorKind::cuda : ExecutorKind::host;
    } else if (word == "--parameters" && i + 1 < count) {
      options.parameters = std::stoll(words[++i]);
    } else if (word == "--launches" && i + 1 < count) {
      options.launches = std::stoi(words[++i]);
    } else {
      words[kept++] = words[i];
    }
  }
  count = kept;
  if (options.launches < 1) throw std::invalid_argument("--launches must be at least 1");
  return options;
}

using Pass = std::function<void(WindowState&)>;

void add(const char* name, const std::shared_ptr<WindowState>& window, const Options& options, std::int64_t bytes,
         const Pass& pass) {
  const auto time = [=](benchmark::State& state) {
    pass(*window);
    window->synchronize();
    for (auto _ : state) {
      for (int i = 0; i < options.launches; ++i) pass(*window);
      window->synchronize();
    }
    const double passes = static_cast<double>(state.iterations()) * options.launches;
    using benchmark::Counter;
    state.counters["bytes_per_second"] = Counter(passes * static_cast<double>(bytes), Counter::kIsRate);
    state.counters["seconds_a_pass"] = Counter(passes, Counter::kIsRate | Counter::kInvert);
    state.counters["parameters"] = static_cast<double>(options.parameters);
  };
  benchmark::RegisterBenchmark(name, time)->UseRealTime()->Unit(benchmark::kMillisecond);
}

void add_all(const std::shared_ptr<WindowState>& window, const Options& options) {
  const std::int64_t reads = window->bytes_of_read_once(), steps = window->bytes_of_step_once();
  add("copy_as_unscale_check_norm", window, options, reads, [](WindowState& w) { w.copy_as_read_once(); });
  add("unscale_check_norm", window, options, reads, [](WindowState& w) { w.read_once(); });
  add("copy_as_clip_decay_step", window, options, steps, [](WindowState& w) { w.copy_as_step_once(); });
  add("clip_decay_step", window, options, steps, [](WindowState& w) { w.step_once(); });
  add("both", window, options, reads + steps, [](WindowState& w) {
    w.read_once();
    w.step_once();
  });
}

int run(int count, char** words) {
  const Options options = options_from(count, words);
  benchmark::Initialize(&count, words);
  if (benchmark::ReportUnrecognizedArguments(count, words)) return 2;
  if (options.prints_sizes) {
    for (const std::int64_t size : window_sizes(options.parameters)) std::cout << size << '\n';
    return 0;
  }
  Device& on = device(options.executor);
  const auto window = std::make_shared<WindowState>(on, options.parameters);
  window->read_once();
  window->step_once();
  window->synchronize();
  if (const std::string wrong = window->complaint(); !wrong.empty()) throw std::runtime_error(wrong);
  benchmark::AddCustomContext("device", on.name());
  benchmark::AddCustomContext("executor", std::string(name_of(on.kind())));
  benchmark::AddCustomContext("toolkit", TALLY_CUDA_TOOLKIT);
  benchmark::AddCustomContext("parameters", std::to_string(options.parameters));
  benchmark::AddCustomContext("tensors", std::to_string(window->tensors()));
  benchmark::AddCustomContext("launches_an_iteration", std::to_string(options.launches));
  add_all(window, options);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::ClearRegisteredBenchmarks();
  if (const std::string wrong = window->complaint(); !wrong.empty()) throw std::runtime_error(wrong);
  return 0;
}

}  // namespace
}  // namespace tally::benchmarks

int main(int count, char** words) {
  try {
    return tally::benchmarks::run(count, words);
  } catch (const tally::DeviceAbsent& absent) {
    std::cout << "not run: " << absent.what() << '\n';
    return 77;
  } catch (const std::invalid_argument& error) {
    std::cerr << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 3;
  }
}
