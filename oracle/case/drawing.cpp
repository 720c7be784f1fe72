#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>

#include "oracle/case/family.hpp"
#include "oracle/case/float_bits.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/philox.hpp"

namespace tally {
namespace {

/// 32-bit FNV-1a.
std::uint32_t salt_of(std::string_view family) {
  std::uint32_t hash = 2166136261u;
  for (const char c : family) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

struct FamilyText {
  std::string name;
  Arguments arguments;
};

/// "name:1:2"; nullopt when an argument is no plain integer.
std::optional<FamilyText> parse(std::string_view text) {
  FamilyText family;
  const auto end = std::min(text.find(':'), text.size());
  family.name = text.substr(0, end);
  text.remove_prefix(end);
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::string_view digits = text.substr(0, std::min(text.find(':'), text.size()));
    std::int64_t value = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.empty() || result.ec != std::errc{} || result.ptr != digits.data() + digits.size()) return std::nullopt;
    family.arguments.push_back(value);
    text.remove_prefix(digits.size());
  }
  return family;
}

template <class Family>
const Family* find(const std::vector<Family>& families, const FamilyText& text, std::int64_t least) {
  for (const Family& family : families) {
    if (family.name != text.name || family.most.size() != text.arguments.size()) continue;
    bool fits = true;
    for (std::size_t i = 0; i < family.most.size(); ++i)
      fits = fits && text.arguments[i] >= least && text.arguments[i] <= family.most[i];
    if (fits) return &family;
  }
  return nullptr;
}

bool draw_real(Tensor& tensor, std::uint64_t seed, std::uint32_t salt, const FamilyText& text) {
  const RealFamily* family = find(real_families(), text, 1);
  if (family == nullptr) return false;
  const FormatRow& format = format_row(tensor.dtype);
  for (std::size_t i = 0; i < tensor.elements(); ++i)
    tensor.set_bits(i, float_bits_of(tensor.dtype, family->value(Words(seed, salt, i), format, text.arguments)));
  return true;
}

bool draw_whole(Tensor& tensor, std::uint64_t seed, std::uint32_t salt, const FamilyText& text) {
  const WholeFamily* family = find(whole_families(), text, 0);
  if (family == nullptr) return false;
  if (std::find(family->dtypes.begin(), family->dtypes.end(), tensor.dtype) == family->dtypes.end()) return false;
  if (text.name.starts_with("classes") && text.arguments[0] == 0) return false;
  if (text.name == "counts" && tensor.dtype == Dtype::u8 && text.arguments[0] > 255) return false;
  for (std::size_t i = 0; i < tensor.elements(); ++i)
    tensor.set_bits(i, static_cast<std::uint64_t>(family->value(Words(seed, salt, i), text.arguments)));
  return true;
}

}  // namespace

std::uint32_t Words::operator[](std::uint32_t i) const {
  const auto low = [](std::uint64_t bits) { return static_cast<std::uint32_t>(bits); };
  if (block_ != i / 4) {
    block_ = i / 4;
    held_ = philox({low(element_), low(element_ >> 32), salt_, block_}, {low(seed_), low(seed_ >> 32)});
  }
  return held_[i % 4];
}

void draw(Tensor& tensor, const Drawing& drawing) {
  if (drawing.number != 1) throw std::invalid_argument("drawing number " + std::to_string(drawing.number));
  const std::uint32_t salt = salt_of(drawing.family);
  const auto text = parse(drawing.family);
  const bool whole = tensor.dtype == Dtype::i64 || tensor.dtype == Dtype::u8;
  const bool drawn =
      text && (whole ? draw_whole(tensor, drawing.seed, salt, *text) : draw_real(tensor, drawing.seed, salt, *text));
  if (!drawn)
    throw std::invalid_argument("drawing family \"" + drawing.family + "\" for " + std::string(name_of(tensor.dtype)));
  tensor.drawing = drawing;
}

}  // namespace tally
