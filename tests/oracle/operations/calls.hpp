// Calls of operations made of tensors in memory, and how their results stand by their rules.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "oracle/case/tensors/tensor.hpp"
#include "oracle/operations/rule.hpp"

namespace tally::oracle::operations {

using Numbers = std::vector<double>;

/// Memory that lives as long as the process: a view does not own its own.
inline std::byte* kept(std::size_t bytes) {
  static std::deque<std::vector<std::byte>> all;
  return all.emplace_back(std::max<std::size_t>(bytes, 1)).data();
}

inline Sizes row_major(const Sizes& sizes) {
  Sizes strides(sizes.size());
  std::int64_t stride = 1;
  for (std::size_t i = sizes.size(); i-- > 0; stride *= sizes[i]) strides[i] = stride;
  return strides;
}

/// One number in a format's bits, rounded once.
inline void store(Element element, double value, std::byte* at) {
  const auto put = [at](auto bits) { std::memcpy(at, &bits, sizeof bits); };
  switch (element) {
    case Element::float32:
      return put(static_cast<float>(value));
    case Element::float64:
      return put(value);
    case Element::float16:
    case Element::bfloat16: {
      Tensor one(element == Element::float16 ? Dtype::fp16 : Dtype::bf16, {1});
      one.set(0, rounded(format_of(element), value));
      return put(static_cast<std::uint16_t>(one.bits(0)));
    }
    case Element::int64:
      return put(static_cast<std::int64_t>(value));
    case Element::int32:
      return put(static_cast<std::int32_t>(value));
    case Element::int16:
      return put(static_cast<std::int16_t>(value));
    case Element::int8:
      return put(static_cast<std::int8_t>(value));
    case Element::uint8:
      return put(static_cast<std::uint8_t>(value));
    case Element::boolean:
      return put(static_cast<std::uint8_t>(value != 0));
  }
}

/// A tensor of these numbers in row-major order, at its own strides: `first` elements behind the start of its memory.
inline View strided(const Sizes& sizes, const Sizes& strides, const Numbers& values, Element element = Element::float32,
                    std::int64_t first = 0) {
  View view{element, sizes, strides, nullptr, 0, first};
  std::int64_t reach = first + 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) reach += std::max<std::int64_t>(sizes[i] - 1, 0) * strides[i];
  const std::size_t bytes = size_of(element);
  std::byte* memory = kept(static_cast<std::size_t>(reach) * bytes) + static_cast<std::size_t>(first) * bytes;
  view.first = memory;
  EXPECT_EQ(view.count(), static_cast<std::int64_t>(values.size()));
  for (std::int64_t k = 0; k < view.count(); ++k) {
    std::int64_t rest = k, offset = 0;
    for (std::size_t i = sizes.size(); i-- > 0; rest /= sizes[i]) offset += rest % sizes[i] * strides[i];
    store(element, values[static_cast<std::size_t>(k)], memory + offset * static_cast<std::int64_t>(bytes));
  }
  return view;
}
inline View tensor(const Sizes& sizes, const Numbers& values, Element element = Element::float32) {
  return strided(sizes, row_major(sizes), values, element);
}
inline View vector_of(const Numbers& values, Element element = Element::float32) {
  return tensor({static_cast<std::int64_t>(values.size())}, values, element);
}
inline View number_of(double value, Element element = Element::float32) { return tensor({}, {value}, element); }

struct Argument : Value {
  Argument() = default;
  Argument(View of) : Value{std::move(of)} {}           // NOLINT(google-explicit-constructor)
  Argument(double of) : Value{of} {}                    // NOLINT(google-explicit-constructor)
  Argument(int of) : Value{std::int64_t{of}} {}         // NOLINT(google-explicit-constructor)
  Argument(std::int64_t of) : Value{of} {}              // NOLINT(google-explicit-constructor)
  Argument(bool of) : Value{of} {}                      // NOLINT(google-explicit-constructor)
  Argument(const char* of) : Value{std::string(of)} {}  // NOLINT(google-explicit-constructor)
  Argument(const Sizes& of) : Value{Values{}} {         // NOLINT(google-explicit-constructor)
    for (const std::int64_t each : of) std::get<Values>(is).push_back({each});
  }
  Argument(const std::vector<View>& of) : Value{Values{}} {  // NOLINT(google-explicit-constructor)
    for (const View& each : of) std::get<Values>(is).push_back({each});
  }
};
using Arguments = std::map<std::string, Argument>;

inline Call call_of(const std::string& name, const Arguments& arguments, const std::vector<Argument>& out,
                    const Arguments& wrote = {}) {
  Call call;
  call.name = name;
  call.full = "aten." + name + ".default";
  for (const auto& [key, value] : arguments) call.arguments[key] = value;
  for (const auto& [key, value] : wrote) call.wrote[key] = value;
  for (const Argument& value : out) call.out.push_back(value);
  return call;
}

/// How the results of a call stand; r = |found - v| / e is the largest of all elements of fp32 that have a bound, and of
/// those of 16 bits, which a store alone brings to 1.
struct Standing {
  std::int64_t elements = 0, wrong = 0, undecided = 0;
  double r = 0, of_half = 0;
  std::string first;  // wrong element
};

inline void hold(const Demand& demand, Standing& standing) {
  const std::int64_t n = demand.found.count();
  if (n == 0) return;
  const auto size = static_cast<std::size_t>(n);
  Numbers found(size), v(size), e(size, 0.0), s(size, NAN);
  const auto miss = [&](std::size_t i) {
    if (standing.wrong++ == 0)
      standing.first = demand.output + "[" + std::to_string(i) + "]: found " + testing::PrintToString(found[i]) +
                       ", v " + testing::PrintToString(v[i]) + ", e " + testing::PrintToString(e[i]);
  };
  demand.found.read(0, n, found.data());
  standing.elements += n;
  if (demand.holds == Demand::raw) {
    std::vector<std::uint64_t> bits(size), expected(size);
    demand.found.read_bits(0, n, bits.data());
    demand.raw_of(0, n, expected.data());
    for (std::size_t i = 0; i < size; ++i)
      if (bits[i] != expected[i]) miss(i);
    return;
  }
  Part part{0, n, found.data(), v.data(), e.data(), s.data()};
  demand.of(part);
  for (std::size_t i = 0; i < size; ++i) {
    const double bound = std::fabs(e[i]), expected = written(demand.found.element, v[i]);
    const bool same = found[i] == expected || (std::isnan(found[i]) && std::isnan(expected));
    if (bound == infinite) {
      ++standing.undecided;
    } else if (std::isnan(bound)) {
      miss(i);
    } else if (demand.holds == Demand::bits || bound == 0 || !std::isfinite(v[i])) {
      if (!same) miss(i);
    } else {
      const double r = std::fabs(found[i] - v[i]) / bound;
      if (!(r <= 1)) miss(i);
      double& most = is_half(demand.found.element) ? standing.of_half : standing.r;
      if (e[i] > 0) most = std::max(most, std::isnan(r) ? infinite : r);
    }
  }
}

inline Standing standing_of(const Call& call, const Profile& profile = {}) {
  Standing standing;
  for (const Demand& demand : demands_of(call, profile)) hold(demand, standing);
  return standing;
}

/// What many calls of one kind came to.
struct Held {
  double r = 0, of_half = 0;
  std::int64_t elements = 0, undecided = 0;

  void add(const Call& call, const Profile& profile = {}) {
    const Standing standing = standing_of(call, profile);
    EXPECT_EQ(standing.wrong, 0) << call.name << " " << standing.first;
    r = std::max(r, standing.r);
    of_half = std::max(of_half, standing.of_half);
    elements += standing.elements;
    undecided += standing.undecided;
  }
  /// Reported; and something was decided.
  void report(const std::string& what) const {
    EXPECT_GT(elements, undecided) << what;
    testing::Test::RecordProperty(what, std::to_string(r));
    std::printf("  %-36s r %.4f in fp32, %.4f in 16 bits over %lld elements, %lld undecided\n", what.c_str(), r,
                of_half, static_cast<long long>(elements), static_cast<long long>(undecided));
  }
};

/// The rule sees that this is wrong.
inline void expect_caught(const Call& call, const Profile& profile = {}) {
  EXPECT_GT(standing_of(call, profile).wrong, 0) << call.name;
}

}  // namespace tally::oracle::operations
