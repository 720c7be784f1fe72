// Drawn tensors, by family.
#include "oracle/case/tensors/drawing.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "oracle/case/io.hpp"
#include "oracle/case/tensors/tensor.hpp"

namespace tally {
namespace {

double top_bits(std::uint32_t word, int bits) { return static_cast<double>(word >> (32 - bits)); }

double sign_of(std::uint32_t word) { return word >> 31 != 0 ? -1.0 : 1.0; }

double zero(const Words&, const FormatRow&, const Arguments&) { return 0; }
double one(const Words&, const FormatRow&, const Arguments&) { return 1; }

double uniform(const Words& w, const FormatRow& f, const Arguments&) {
  return std::ldexp(top_bits(w[0], f.p), 1 - f.p) - 1;
}

double positive(const Words& w, const FormatRow& f, const Arguments&) {
  return 0.5 + std::ldexp(top_bits(w[0], f.p - 1), 1 - f.p);
}

/// Twelve uniforms on the midpoints of 2^32 cells; the sum stays below 2^37, so nothing rounds.
double normal(const Words& w, const FormatRow&, const Arguments&) {
  std::int64_t sum = 12 - (std::int64_t{12} << 32);
  for (std::uint32_t i = 0; i < 12; ++i) sum += 2 * std::int64_t{w[i]};
  return std::ldexp(static_cast<double>(sum), -33);
}

double he(const Words& w, const FormatRow& f, const Arguments& a) {
  return normal(w, f, a) * std::sqrt(2.0 / static_cast<double>(a[0]));
}

double dyadic(const Words& w, const FormatRow&, const Arguments& a) {
  const std::int64_t largest = (std::int64_t{1} << a[0]) - 1;
  const auto drawn = static_cast<std::int64_t>(w.below(0, static_cast<std::uint64_t>(2 * largest + 1)));
  return std::ldexp(static_cast<double>(drawn - largest), -static_cast<int>(a[0]));
}

double significand(std::uint32_t word, const FormatRow& f) { return 1 + std::ldexp(top_bits(word, f.p - 1), 1 - f.p); }

double wide(const Words& w, const FormatRow& f, const Arguments&) {
  return sign_of(w[2]) * std::ldexp(significand(w[0], f), static_cast<int>(w.below(1, 15)) - 12);
}

double variance(const Words& w, const FormatRow& f, const Arguments&) {
  return std::ldexp(significand(w[0], f), static_cast<int>(w.below(1, 3)) - 2);
}

double tiny(const Words& w, const FormatRow& f, const Arguments&) {
  const std::uint64_t units = w.below(0, std::uint64_t{1} << f.p);
  return sign_of(w[1]) * std::ldexp(static_cast<double>(units), f.emin - f.p + 1);
}

double halfway(const Words& w, const FormatRow& f, const Arguments&) {
  const int bits = next_narrower(f.p);
  const double units = std::ldexp(1.0, bits - 1) + top_bits(w[0], bits - 1) + 0.5;
  return sign_of(w[2]) * std::ldexp(units, 1 - bits + static_cast<int>(w.below(1, 3)) - 1);
}

/// A power of two or one of its neighbours; the lower one is half as far.
double powers(const Words& w, const FormatRow& f, const Arguments&) {
  const double away = static_cast<double>(w.below(1, 3)) - 1;
  return sign_of(w[2]) *
         std::ldexp(1 + std::ldexp(away, away < 0 ? -f.p : 1 - f.p), static_cast<int>(w.below(0, 7)) - 3);
}

double zeros_signed(const Words& w, const FormatRow& f, const Arguments& a) {
  return w.below(1, 2) == 0 ? sign_of(w[2]) * 0.0 : uniform(w, f, a);
}

double outlier(const Words& w, const FormatRow& f, const Arguments& a) {
  return std::ldexp(normal(w, f, a), w.below(12, 16) == 0 ? 8 : 0);
}

double pairs(const Words& w, const FormatRow& f, const Arguments&) {
  const Words pair = w.of_pair();
  const double first = sign_of(pair[2]) * std::ldexp(significand(pair[0], f), static_cast<int>(pair.below(1, 4)) - 2);
  if (!w.is_odd()) return first;
  const double ulp = std::ldexp(1.0, std::ilogb(first) - f.p + 1);
  return pair.below(3, 2) == 0 || significand(pair[0], f) == 1 ? -first : -first + std::copysign(ulp, first);
}

double fan_in(const Words& w, const FormatRow& f, const Arguments& a) {
  return uniform(w, f, a) / std::sqrt(static_cast<double>(a[0]));
}

double unit(const Words& w, const FormatRow& f, const Arguments&) { return std::ldexp(top_bits(w[0], f.p), -f.p); }

double binary(const Words& w, const FormatRow&, const Arguments& a) {
  return w.below(0, 100) < static_cast<std::uint64_t>(a[0]) ? 1 : 0;
}

double one_hot(const Words& w, const FormatRow&, const Arguments& a) {
  const auto columns = static_cast<std::uint64_t>(a[0]);
  return w.of_row(columns).below(0, columns) == w.column(columns) ? 1 : 0;
}

double ratio(const Words&, const FormatRow&, const Arguments& a) {
  return static_cast<double>(a[0]) / static_cast<double>(a[1]);
}

}  // namespace

const std::vector<RealFamily>& real_families() {
  static const std::vector<RealFamily> all{
      {"zeros", {}, zero},
      {"ones", {}, one},
      {"uniform", {}, uniform},
      {"positive", {}, positive},
      {"normal", {}, normal},
      {"he", {std::int64_t{1} << 40}, he},
      {"dyadic", {16}, dyadic},
      {"wide", {}, wide},
      {"variance", {}, variance},
      {"tiny", {}, tiny},
      {"powers", {}, powers},
      {"halfway", {}, halfway},
      {"outlier", {}, outlier},
      {"pairs", {}, pairs},
      {"zeros_signed", {}, zeros_signed},
      {"fan_in", {std::int64_t{1} << 40}, fan_in},
      {"unit", {}, unit},
      {"binary", {100}, binary},
      {"one_hot", {std::int64_t{1} << 28}, one_hot},
      {"ratio", {std::int64_t{1} << 40, std::int64_t{1} << 40}, ratio},
  };
  return all;
}

namespace {

constexpr std::int64_t most_classes = std::int64_t{1} << 40;

/// Word 0 and 1 as one 64-bit fraction, times n.
std::int64_t class_below(const Words& w, std::int64_t n) {
  const std::uint64_t fraction = std::uint64_t{w[1]} << 32 | w[0];
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::int64_t>((Wide{fraction} * static_cast<std::uint64_t>(n)) >> 64);
}

std::int64_t whole_zero(const Words&, const Arguments&) { return 0; }
std::int64_t whole_one(const Words&, const Arguments&) { return 1; }
std::int64_t classes(const Words& w, const Arguments& a) { return class_below(w, a[0]); }
std::int64_t classes_ignored(const Words& w, const Arguments& a) {
  return static_cast<std::int64_t>(w.below(2, 100)) < a[1] ? -100 : class_below(w, a[0]);
}
std::int64_t counts(const Words& w, const Arguments& a) { return class_below(w, a[0] + 1); }
std::int64_t mask(const Words& w, const Arguments& a) {
  return static_cast<std::int64_t>(w.below(0, 100)) < a[0] ? 1 : 0;
}

}  // namespace

const std::vector<WholeFamily>& whole_families() {
  static const std::vector<WholeFamily> all{
      {"zeros", {}, {Dtype::i64, Dtype::u8}, whole_zero},
      {"ones", {}, {Dtype::i64, Dtype::u8}, whole_one},
      {"classes", {most_classes}, {Dtype::i64}, classes},
      {"classes_ignored", {most_classes, 100}, {Dtype::i64}, classes_ignored},
      {"counts", {most_classes}, {Dtype::i64, Dtype::u8}, counts},
      {"mask", {100}, {Dtype::u8}, mask},
  };
  return all;
}

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
