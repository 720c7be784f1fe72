// One case through a library's training step, on inputs that show what was written to them.
#include "kernels/subjects/plugin/library_run.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "kernels/device/device.hpp"
#include "kernels/trace/trace.hpp"
#include "kernels/trace/trace_layout.hpp"
#include "kernels/training_step/run/own_step.hpp"
#include "oracle/case/file/findings.hpp"
#include "oracle/case/file/json.hpp"
#include "oracle/case/tensors/tensor.hpp"

namespace tally {
namespace {

constexpr std::size_t zone = 64;  // bytes, and what addresses are multiples of
constexpr std::byte filling{0xff};

std::size_t with_zone(std::size_t bytes) { return (bytes + zone - 1) / zone * zone + zone; }

bool untouched(const std::byte* from, const std::byte* to) {
  return std::all_of(from, to, [](std::byte each) { return each == filling; });
}

}  // namespace

GuardedInputs::GuardedInputs(const std::map<std::string, Tensor>& tensors) : originals_(tensors) {
  std::size_t all = 2 * zone;
  for (const auto& [name, tensor] : tensors) all += with_zone(tensor.bytes.size());
  memory_.assign(all, filling);
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
  std::byte* place = memory_.data() + (zone - address % zone) % zone + zone;
  for (const auto& [name, tensor] : tensors) {
    if (!tensor.bytes.empty()) std::memcpy(place, tensor.bytes.data(), tensor.bytes.size());
    tensors_.push_back({name.c_str(), static_cast<std::int32_t>(tensor.dtype),
                        static_cast<std::int32_t>(tensor.shape.size()), tensor.shape.data(), place,
                        tensor.bytes.size()});
    place += with_zone(tensor.bytes.size());
  }
}

const tally_tensor* GuardedInputs::find(const char* name) const {
  for (const tally_tensor& each : tensors_)
    if (std::strcmp(each.name, name) == 0) return &each;
  return nullptr;
}

std::string GuardedInputs::damage() const {
  const std::byte* before = memory_.data();
  for (const tally_tensor& each : tensors_) {
    const auto* first = static_cast<const std::byte*>(each.data);
    if (!untouched(before, first)) return "it wrote before the beginning of the input '" + std::string(each.name) + "'";
    const Tensor& original = originals_.at(each.name);
    if (each.bytes > 0 && std::memcmp(first, original.bytes.data(), each.bytes) != 0)
      return "the input '" + std::string(each.name) + "' changed during the run; expected its bits to stay";
    before = first + each.bytes;
    if (!untouched(before, before + zone))
      return "it wrote beyond the end of the input '" + std::string(each.name) + "'";
    before += zone;
  }
  return untouched(before, memory_.data() + memory_.size()) ? "" : "it wrote beyond the end of its inputs";
}

namespace {

static_assert(int(Dtype::fp32) == TALLY_FP32 && int(Dtype::fp16) == TALLY_FP16 && int(Dtype::bf16) == TALLY_BF16);
static_assert(int(Dtype::i64) == TALLY_I64 && int(Dtype::u8) == TALLY_U8 && format_rows.size() == 5);

constexpr int most_rank = 32;

/// The value that a JSON pointer names; nullptr where there is none. `~` and `/` stand in no key of a case.
const Json* at(const Json& root, std::string_view pointer) {
  const Json* place = &root;
  while (!pointer.empty()) {
    if (pointer.front() != '/') return nullptr;
    pointer.remove_prefix(1);
    const std::string_view word = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(word.size());
    if (place->is(Json::Kind::array)) {
      if (word.empty() || word.size() > 9 || word.find_first_not_of("0123456789") != std::string_view::npos)
        return nullptr;
      const std::size_t index = std::stoul(std::string(word));
      if (index >= place->items.size()) return nullptr;
      place = &place->items[index];
    } else {
      place = place->member(word);
      if (place == nullptr) return nullptr;
    }
  }
  return place;
}

class LibraryRun {
 public:
  LibraryRun(const tally_step& step, const Case& c, const std::string& text, const std::string& hash)
      : step_(step), layouts_(c), text_(text), inputs_(c.tensors) {
    trace_.case_hash = hash;
    run_ = {this,
            text.c_str(),
            hash.c_str(),
            inputs_.tensors().size(),
            inputs_.tensors().data(),
            find_tensor,
            find_text,
            find_number,
            measure,
            take_tap,
            take_claims,
            take_reason};
  }

  Trace trace() {
    const std::int32_t came_to = step_.run(&run_);
    if (!wrong_.empty()) throw StepFailed(wrong_);
    if (const std::string damage = inputs_.damage(); !damage.empty()) throw StepFailed(damage);
    if (came_to == TALLY_DECLINED) throw NotSupported(declined_case + reason());
    if (came_to == TALLY_FAILED) throw StepFailed("it says: " + reason());
    if (came_to != TALLY_RAN)
      throw StepFailed("its run returned " + std::to_string(came_to) +
                       "; expected TALLY_RAN, TALLY_DECLINED or TALLY_FAILED");
    const std::string claims = !claims_.empty() ? claims_ : step_.claims != nullptr ? step_.claims : "";
    if (claims.empty())
      throw StepFailed(
          "neither the library nor the run says how it computes; expected claims (kernels/trace/trace.md)");
    try {
      trace_.claims = known_claims(claims);
      if (step_.groups != nullptr) trace_.groups = stage_groups_of(step_.groups);
    } catch (const std::runtime_error& problem) {
      throw StepFailed(problem.what());
    }
    return std::move(trace_);
  }

 private:
  /// The case's JSON; read when it is asked for the first time.
  const Json& json() {
    Findings findings;
    if (!json_) json_ = parse_json(text_, findings).value_or(Json::object());
    return *json_;
  }

  static LibraryRun& self(void* tally) { return *static_cast<LibraryRun*>(tally); }
  std::string reason() const { return reason_.empty() ? "no reason given" : reason_; }

  static const tally_tensor* find_tensor(void* tally, const char* name) { return self(tally).inputs_.find(name); }
  static const char* find_text(void* tally, const char* pointer) {
    const Json* found = at(self(tally).json(), pointer);
    const bool is_text = found != nullptr && (found->is(Json::Kind::string) || found->is(Json::Kind::number) ||
                                              found->is(Json::Kind::boolean));
    return is_text ? found->text.c_str() : nullptr;
  }
  static double find_number(void* tally, const char* pointer) {
    const Json* found = at(self(tally).json(), pointer);
    if (found == nullptr || !found->is(Json::Kind::number)) return std::numeric_limits<double>::quiet_NaN();
    return std::strtod(found->text.c_str(), nullptr);
  }
  static std::int64_t measure(void* tally, const char* pointer) {
    const Json* found = at(self(tally).json(), pointer);
    const bool counts = found != nullptr && (found->is(Json::Kind::array) || found->is(Json::Kind::object));
    return counts ? static_cast<std::int64_t>(found->items.size()) : -1;
  }
  static int take_tap(void* tally, const char* name, std::int32_t dtype, std::int32_t rank, const std::int64_t* shape,
                      const void* data, std::int32_t memory) {
    try {
      self(tally).add(name, dtype, rank, shape, data, memory);
      return 0;
    } catch (const std::exception& wrong) {  // it must not pass through code of another language
      if (self(tally).wrong_.empty()) self(tally).wrong_ = wrong.what();
      return 1;
    }
  }
  static void take_claims(void* tally, const char* json) { self(tally).claims_ = json != nullptr ? json : ""; }
  static void take_reason(void* tally, const char* reason) {
    self(tally).reason_ = reason != nullptr ? named(reason) : "";
  }

  void add(const char* name, std::int32_t dtype, std::int32_t rank, const std::int64_t* shape, const void* data,
           std::int32_t memory) {
    if (name == nullptr) throw StepFailed("a tap without a name");
    TapName tap = tap_name_of(name);
    const auto wrong = [&](const std::string& what) { throw StepFailed(named(name) + ": " + what); };
    if (dtype < 0 || dtype >= static_cast<std::int32_t>(format_rows.size()))
      wrong("format " + std::to_string(dtype) + "; expected TALLY_FP32, TALLY_FP16, TALLY_BF16, TALLY_I64 or TALLY_U8");
    if (rank < 0 || rank > most_rank || (rank > 0 && shape == nullptr))
      wrong("a shape of rank " + std::to_string(rank) + "; expected 0 to " + std::to_string(most_rank) +
            ", with its sizes");
    const std::vector<std::int64_t> sizes(shape, shape + rank);
    const auto layout = layouts_.of(tap);
    if (!layout || layout->dtype != static_cast<Dtype>(dtype) || layout->shape != sizes)
      wrong("found " + described(static_cast<Dtype>(dtype), sizes) + "; expected " +
            (layout ? described(layout->dtype, layout->shape) : "no such tap in this case"));
    if (memory != TALLY_HOST && memory != TALLY_DEVICE)
      wrong("memory " + std::to_string(memory) + "; expected TALLY_HOST or TALLY_DEVICE");
    const std::size_t bytes = elements_of(layout->shape) * size_of(layout->dtype);
    if (bytes > 0 && data == nullptr) wrong("NULL; expected its elements");
    std::vector<std::byte> value;
    if (memory == TALLY_HOST) {
      const auto* first = static_cast<const std::byte*>(data);
      value.assign(first, first + bytes);
    } else if (!built_with_cuda()) {
      wrong("device memory; expected host memory, as this tally was built without CUDA");
    } else {
      value.resize(bytes);
      try {
        device(ExecutorKind::cuda).functions().read(data, value.data(), bytes);
      } catch (const std::exception& unreadable) {  // no device, or memory that is none of its own
        wrong(std::string("device memory: ") + unreadable.what());
      }
    }
    trace_.add(std::move(tap), Tensor(layout->dtype, layout->shape, std::move(value)));
  }

  const tally_step& step_;
  TapLayouts layouts_;
  const std::string& text_;
  std::optional<Json> json_;
  GuardedInputs inputs_;
  tally_run run_{};
  Trace trace_;
  std::string wrong_, claims_, reason_;  // `wrong_`: the first tap that was refused
};

}  // namespace

Trace run_library(const tally_step& step, const Case& c, const std::string& text, const std::string& hash) {
  return LibraryRun(step, c, text, hash).trace();
}

}  // namespace tally
