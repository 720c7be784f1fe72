// Dot products of every class of data, and what the GEMM rule says of them.
#pragma once

#include "oracle/tolerance/gemm.hpp"
#include "tests/oracle/emulated/machine.hpp"
#include "tests/oracle/emulated/table.hpp"
#include "tests/oracle/emulated/tensor_core.hpp"

namespace tally::oracle::emulated {

using Vector = std::vector<double>;

struct Dot {
  Vector a, b;
  Data data;
};

struct Held {
  long double exact;
  double e;
};

inline Held held(const Precision& precision, const Claims& claims, const Dot& dot, const double* c = nullptr) {
  const auto k = static_cast<Eigen::Index>(dot.a.size());
  BoundedMatrix a(1, k), b(k, 1), old(1, 1);
  a.e.setZero();
  b.e.setZero();
  old.e.setZero();
  long double exact = c == nullptr ? 0 : *c;
  for (Eigen::Index i = 0; i < k; ++i) {
    a.v(0, i) = dot.a[static_cast<std::size_t>(i)];
    b.v(i, 0) = dot.b[static_cast<std::size_t>(i)];
    exact += static_cast<long double>(a.v(0, i)) * b.v(i, 0);
  }
  const Declared subject = declared(precision, claims);
  if (c == nullptr) return {exact, product(subject, a, b).e(0, 0)};
  old.v(0, 0) = *c;
  return {exact, product_onto(subject, old, a, b).e(0, 0)};
}

/// Many dot products of a storage format whose results are in `results`, every class of data, k from 1 to 200.
template <class F>
void each_dot(const Format& storage, const Format& results, F&& f) {
  std::mt19937_64 random(11);
  for (const Data data : data_classes) {
    for (int i = 0; i < 120; ++i) {
      const std::size_t k = i < 8 ? 1 + static_cast<std::size_t>(i) : 1 + random() % 200;
      f(Dot{drawn(data, storage, results, k, random), other(data, storage, k, random), data}, random);
    }
  }
}

inline Precision precision_of(Dtype storage, Dtype compute = Dtype::fp32) {
  Precision precision;
  precision.storage = storage;
  precision.compute = compute;
  return precision;
}

struct Path {
  Dtype storage, compute;
  const char* name;
};
inline constexpr Path paths[] = {{Dtype::fp32, Dtype::fp32, "fp32"},
                                 {Dtype::fp16, Dtype::fp32, "fp16 in fp32"},
                                 {Dtype::bf16, Dtype::fp32, "bf16 in fp32"},
                                 {Dtype::fp16, Dtype::fp16, "fp16 in fp16"}};

struct Generation {
  const char* name;
  std::size_t terms, terms_of_tf32;
  int fraction_bits;
};
inline constexpr Generation generations[] = {{"v100", 4, 4, 23},   {"a100", 8, 4, 24},  {"h100", 16, 8, 25},
                                             {"h100", 8, 4, 25},   {"h200", 16, 8, 25}, {"b200", 16, 8, 25},
                                             {"unknown", 4, 4, 23}};

}  // namespace tally::oracle::emulated
