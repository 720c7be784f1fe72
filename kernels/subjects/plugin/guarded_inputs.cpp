#include "kernels/subjects/plugin/guarded_inputs.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

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

}  // namespace tally
