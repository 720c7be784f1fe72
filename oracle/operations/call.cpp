#include "oracle/operations/call.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "oracle/case/tensors/tensor.hpp"

namespace tally::oracle::operations {
namespace {

struct ElementRow {
  std::string_view name;
  std::size_t bytes;
};
constexpr std::array<ElementRow, 10> element_rows{{{"float32", 4},
                                                   {"float16", 2},
                                                   {"bfloat16", 2},
                                                   {"float64", 8},
                                                   {"int64", 8},
                                                   {"int32", 4},
                                                   {"int16", 2},
                                                   {"int8", 1},
                                                   {"uint8", 1},
                                                   {"bool", 1}}};

const ElementRow& row_of(Element element) { return element_rows.at(static_cast<std::size_t>(element)); }

/// The same elements in the same order in as few dimensions as possible.
struct Walk {
  Sizes sizes, strides;
  explicit Walk(const View& view) {
    for (std::size_t i = 0; i < view.sizes.size(); ++i) {
      if (view.sizes[i] == 1) continue;
      if (!sizes.empty() && strides.back() == view.strides[i] * view.sizes[i]) {
        sizes.back() *= view.sizes[i];
        strides.back() = view.strides[i];
      } else {
        sizes.push_back(view.sizes[i]);
        strides.push_back(view.strides[i]);
      }
    }
    if (sizes.empty()) {
      sizes.push_back(1);
      strides.push_back(1);
    }
  }

  /// run(offset of the first element, stride, how many) for elements first … first + count - 1.
  template <class F>
  void runs(std::int64_t first, std::int64_t count, F&& run) const {
    const std::size_t last = sizes.size() - 1;
    Sizes at(sizes.size());
    std::int64_t rest = first, offset = 0;
    for (std::size_t i = sizes.size(); i-- > 0;) {
      at[i] = rest % sizes[i];
      rest /= sizes[i];
      offset += at[i] * strides[i];
    }
    while (count > 0) {
      const std::int64_t length = std::min(count, sizes[last] - at[last]);
      run(offset, strides[last], length);
      count -= length;
      offset -= at[last] * strides[last];
      at[last] = 0;
      for (std::size_t i = last; i-- > 0;) {
        offset += strides[i];
        if (++at[i] < sizes[i]) break;
        offset -= sizes[i] * strides[i];
        at[i] = 0;
      }
    }
  }
};

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

double float16_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double size = exponent == 31  ? (fraction != 0 ? NAN : INFINITY)
                      : exponent == 0 ? std::ldexp(fraction, -24)
                                      : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

const std::vector<double>& float16_values() {
  static const std::vector<double> all = [] {
    std::vector<double> values(65536);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = float16_value(static_cast<std::uint16_t>(i));
    return values;
  }();
  return all;
}

template <class T, class Of>
void read_as(const View& view, std::int64_t first, std::int64_t count, double* out, Of of) {
  Walk(view).runs(first, count, [&](std::int64_t offset, std::int64_t stride, std::int64_t length) {
    const std::byte* at = view.first + offset * static_cast<std::int64_t>(sizeof(T));
    const std::int64_t step = stride * static_cast<std::int64_t>(sizeof(T));
    if (stride == 1) {
      for (std::int64_t i = 0; i < length; ++i) out[i] = of(load<T>(at + i * static_cast<std::int64_t>(sizeof(T))));
    } else {
      for (std::int64_t i = 0; i < length; ++i) out[i] = of(load<T>(at + i * step));
    }
    out += length;
  });
}

template <class T>
void read_numbers(const View& view, std::int64_t first, std::int64_t count, double* out) {
  read_as<T>(view, first, count, out, [](T value) { return static_cast<double>(value); });
}

template <class T>
void read_raw(const View& view, std::int64_t first, std::int64_t count, std::uint64_t* out) {
  Walk(view).runs(first, count, [&](std::int64_t offset, std::int64_t stride, std::int64_t length) {
    for (std::int64_t i = 0; i < length; ++i)
      out[i] = load<T>(view.first + (offset + i * stride) * static_cast<std::int64_t>(sizeof(T)));
    out += length;
  });
}

void hold(const View& view, std::int64_t first, std::int64_t count) {
  if (first < 0 || first > view.count() - count) throw NotJudged("a tensor of other sizes than its operation needs");
}

[[noreturn]] void missing(const Call& call, std::string_view argument, const char* expected) {
  throw NotJudged(call.full + ": found no argument " + std::string(argument) + ", expected " + expected);
}

}  // namespace

std::string_view name_of(Element element) { return row_of(element).name; }
std::size_t size_of(Element element) { return row_of(element).bytes; }

std::optional<Element> element_of(std::string_view name) {
  for (std::size_t i = 0; i < element_rows.size(); ++i)
    if (element_rows[i].name == name) return static_cast<Element>(i);
  return std::nullopt;
}

bool is_half(Element element) { return element == Element::float16 || element == Element::bfloat16; }
bool is_float(Element element) {
  return is_half(element) || element == Element::float32 || element == Element::float64;
}

Format format_of(Element element) {
  switch (element) {
    case Element::float32:
      return oracle::format_of(Dtype::fp32);
    case Element::float16:
      return oracle::format_of(Dtype::fp16);
    case Element::bfloat16:
      return oracle::format_of(Dtype::bf16);
    case Element::float64:
      throw NotJudged("float64, which needs more than binary64 to be judged");
    default:
      throw NotJudged("arithmetic of " + std::string(name_of(element)));
  }
}

std::int64_t count_of(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

std::int64_t dimension_of(std::int64_t dimension, std::int64_t of) {
  const std::int64_t there = std::max<std::int64_t>(of, 1), counted = dimension < 0 ? dimension + there : dimension;
  if (counted < 0 || counted >= there)
    throw NotJudged("dimension " + std::to_string(dimension) + " of a tensor of " + std::to_string(of));
  return counted;
}

Sizes broadcast(const Sizes& a, const Sizes& b) {
  Sizes both(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < both.size(); ++i) {
    const std::int64_t of_a = i < a.size() ? a[a.size() - 1 - i] : 1, of_b = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (of_a != of_b && of_a != 1 && of_b != 1) throw NotJudged("sizes that do not broadcast");
    both[both.size() - 1 - i] = of_a == 1 ? of_b : of_a;
  }
  return both;
}

std::int64_t View::count() const { return count_of(sizes); }

std::int64_t View::size(std::int64_t dimension) const {
  return sizes.empty() ? 1 : sizes[static_cast<std::size_t>(dimension_of(dimension, dim()))];
}

void View::read(std::int64_t from, std::int64_t how_many, double* out) const {
  if (how_many <= 0) return;
  hold(*this, from, how_many);
  switch (element) {
    case Element::float32:
      return read_numbers<float>(*this, from, how_many, out);
    case Element::float64:
      return read_numbers<double>(*this, from, how_many, out);
    case Element::bfloat16:
      return read_as<std::uint16_t>(*this, from, how_many, out, [](std::uint16_t bits) {
        return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
      });
    case Element::float16: {
      const std::vector<double>& values = float16_values();
      return read_as<std::uint16_t>(*this, from, how_many, out, [&](std::uint16_t bits) { return values[bits]; });
    }
    case Element::int64:
      return read_numbers<std::int64_t>(*this, from, how_many, out);
    case Element::int32:
      return read_numbers<std::int32_t>(*this, from, how_many, out);
    case Element::int16:
      return read_numbers<std::int16_t>(*this, from, how_many, out);
    case Element::int8:
      return read_numbers<std::int8_t>(*this, from, how_many, out);
    case Element::uint8:
      return read_numbers<std::uint8_t>(*this, from, how_many, out);
    case Element::boolean:
      return read_as<std::uint8_t>(*this, from, how_many, out, [](std::uint8_t bits) { return bits != 0 ? 1.0 : 0.0; });
  }
}

std::vector<double> View::read() const {
  std::vector<double> all(static_cast<std::size_t>(count()));
  read(0, count(), all.data());
  return all;
}

void View::read_bits(std::int64_t from, std::int64_t how_many, std::uint64_t* out) const {
  if (how_many <= 0) return;
  hold(*this, from, how_many);
  switch (size_of(element)) {
    case 1:
      return read_raw<std::uint8_t>(*this, from, how_many, out);
    case 2:
      return read_raw<std::uint16_t>(*this, from, how_many, out);
    case 4:
      return read_raw<std::uint32_t>(*this, from, how_many, out);
    default:
      return read_raw<std::uint64_t>(*this, from, how_many, out);
  }
}

double View::value() const {
  if (count() != 1) throw NotJudged("a tensor of " + std::to_string(count()) + " elements in place of a number");
  double number = 0;
  read(0, 1, &number);
  return number;
}

View View::permuted(const Sizes& order) const {
  if (order.size() != sizes.size()) throw NotJudged("a tensor of " + std::to_string(dim()) + " dimensions");
  View other = *this;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto from = static_cast<std::size_t>(dimension_of(order[i], dim()));
    other.sizes[i] = sizes[from];
    other.strides[i] = strides[from];
  }
  return other;
}

View View::with_last(std::int64_t dimension) const {
  if (sizes.empty()) return *this;
  const std::int64_t last = dimension_of(dimension, dim());
  Sizes order;
  for (std::int64_t i = 0; i < dim(); ++i)
    if (i != last) order.push_back(i);
  order.push_back(last);
  return permuted(order);
}

View View::narrowed(std::int64_t dimension, std::int64_t start, std::int64_t length) const {
  const auto at = static_cast<std::size_t>(dimension_of(dimension, dim()));
  if (sizes.empty()) throw NotJudged("a window of a tensor without dimensions");
  if (start < 0 || length < 0 || start > sizes.at(at) - length) throw NotJudged("a window beyond its tensor");
  View other = *this;
  other.sizes[at] = length;
  other.offset += start * strides[at];
  other.first += start * strides[at] * static_cast<std::int64_t>(size_of(element));
  return other;
}

View View::selected(std::int64_t dimension, std::int64_t index) const {
  const auto at = static_cast<std::size_t>(dimension_of(dimension, dim()));
  View other = narrowed(dimension, index < 0 ? index + size(dimension) : index, 1);
  other.sizes.erase(other.sizes.begin() + static_cast<std::ptrdiff_t>(at));
  other.strides.erase(other.strides.begin() + static_cast<std::ptrdiff_t>(at));
  return other;
}

View View::expanded(const Sizes& to) const {
  if (to.size() < sizes.size()) throw NotJudged("sizes that do not broadcast");
  View other = *this;
  other.sizes = to;
  other.strides.assign(to.size(), 0);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t at = to.size() - sizes.size() + i;
    if (sizes[i] != to[at] && sizes[i] != 1) throw NotJudged("sizes that do not broadcast");
    other.strides[at] = sizes[i] == 1 ? 0 : strides[i];
  }
  return other;
}

bool Call::has(std::string_view argument) const {
  const auto found = arguments.find(argument);
  return found != arguments.end() && !found->second.absent();
}

namespace {

const Value* value_of(const Call& call, std::string_view argument) {
  const auto found = call.arguments.find(argument);
  return found == call.arguments.end() ? nullptr : &found->second;
}

const View& view_in(const Call& call, const Value* value, std::string_view argument) {
  if (value != nullptr) {
    if (const View* view = std::get_if<View>(&value->is)) return *view;
    if (const Unrecorded* lost = std::get_if<Unrecorded>(&value->is))
      throw NotJudged(std::string(argument) + " is not recorded: " + lost->why.substr(0, lost->why.find(" [")));
  }
  missing(call, argument, "a tensor");
}

std::optional<double> number_in(const Value* value) {
  if (value == nullptr) return std::nullopt;
  if (const double* number = std::get_if<double>(&value->is)) return *number;
  if (const std::int64_t* number = std::get_if<std::int64_t>(&value->is)) return static_cast<double>(*number);
  if (const bool* number = std::get_if<bool>(&value->is)) return *number ? 1 : 0;
  if (const View* view = std::get_if<View>(&value->is)) return view->value();
  return std::nullopt;
}

}  // namespace

const View& Call::tensor(std::string_view argument) const {
  return view_in(*this, value_of(*this, argument), argument);
}

const View* Call::tensor_or_none(std::string_view argument) const {
  return has(argument) ? &tensor(argument) : nullptr;
}

std::vector<View> Call::tensors(std::string_view argument) const {
  const Value* value = value_of(*this, argument);
  const Values* list = value == nullptr ? nullptr : std::get_if<Values>(&value->is);
  if (list == nullptr) missing(*this, argument, "a list of tensors");
  std::vector<View> all;
  for (const Value& each : *list) all.push_back(view_in(*this, &each, argument));
  return all;
}

double Call::number(std::string_view argument) const {
  const std::optional<double> found = number_in(value_of(*this, argument));
  if (!found) missing(*this, argument, "a number");
  return *found;
}

double Call::number(std::string_view argument, double otherwise) const {
  return has(argument) ? number(argument) : otherwise;
}

std::int64_t Call::integer(std::string_view argument) const {
  const Value* value = value_of(*this, argument);
  const std::int64_t* number = value == nullptr ? nullptr : std::get_if<std::int64_t>(&value->is);
  if (number == nullptr) missing(*this, argument, "an integer");
  return *number;
}

std::int64_t Call::integer(std::string_view argument, std::int64_t otherwise) const {
  return has(argument) ? integer(argument) : otherwise;
}

bool Call::flag(std::string_view argument, bool otherwise) const {
  return has(argument) ? number(argument) != 0 : otherwise;
}

std::string Call::text(std::string_view argument, std::string_view otherwise) const {
  const Value* value = value_of(*this, argument);
  const std::string* found = value == nullptr ? nullptr : std::get_if<std::string>(&value->is);
  return found == nullptr ? std::string(otherwise) : *found;
}

Sizes Call::integers(std::string_view argument) const {
  const Value* value = value_of(*this, argument);
  if (value != nullptr) {
    if (const std::int64_t* one = std::get_if<std::int64_t>(&value->is)) return {*one};
    if (const Values* list = std::get_if<Values>(&value->is)) {
      Sizes all;
      for (const Value& each : *list) {
        const std::int64_t* number = std::get_if<std::int64_t>(&each.is);
        if (number == nullptr) missing(*this, argument, "a list of integers");
        all.push_back(*number);
      }
      return all;
    }
  }
  missing(*this, argument, "a list of integers");
}

bool Call::has_result(std::size_t index) const { return index < out.size() && !out[index].absent(); }

const View& Call::result(std::size_t index) const {
  return view_in(*this, index < out.size() ? &out[index] : nullptr, "out " + std::to_string(index));
}

std::vector<View> Call::results(std::size_t index) const {
  const Values* list = index < out.size() ? std::get_if<Values>(&out[index].is) : nullptr;
  if (list == nullptr) missing(*this, "out " + std::to_string(index), "a list of tensors");
  std::vector<View> all;
  for (const Value& each : *list) all.push_back(view_in(*this, &each, "out"));
  return all;
}

const View& Call::written(std::string_view argument) const {
  const auto found = wrote.find(argument);
  return view_in(*this, found == wrote.end() ? nullptr : &found->second, argument);
}

}  // namespace tally::oracle::operations
