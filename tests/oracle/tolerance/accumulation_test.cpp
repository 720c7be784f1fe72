// GEMMs of an emulated subject: formats, orders, tensor cores, splits, TF32, flushing; each with the claims it computes
// by, and caught where it claims otherwise.
#include "oracle/tolerance/accumulation.hpp"

#include "oracle/tolerance/gemm.hpp"
#include "tests/oracle/emulated/machine.hpp"
#include "tests/oracle/emulated/table.hpp"
#include "tests/oracle/emulated/tensor_core.hpp"

namespace tally::oracle {
namespace {

using emulated::Blocks;
using emulated::Data;
using emulated::Machine;
using emulated::Order;
using emulated::Table;
using Vector = std::vector<double>;

struct Dot {
  Vector a, b;
  Data data;
};

struct Held {
  long double exact;
  double e;
};

Held held(const Precision& precision, const Claims& claims, const Dot& dot, const double* c = nullptr) {
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
  for (const Data data : emulated::data_classes) {
    for (int i = 0; i < 120; ++i) {
      const std::size_t k = i < 8 ? 1 + static_cast<std::size_t>(i) : 1 + random() % 200;
      f(Dot{emulated::drawn(data, storage, results, k, random), emulated::other(data, storage, k, random), data},
        random);
    }
  }
}

Precision precision_of(Dtype storage, Dtype compute = Dtype::fp32) {
  Precision precision;
  precision.storage = storage;
  precision.compute = compute;
  return precision;
}

struct Path {
  Dtype storage, compute;
  const char* name;
};
const Path paths[] = {{Dtype::fp32, Dtype::fp32, "fp32"},
                      {Dtype::fp16, Dtype::fp32, "fp16 in fp32"},
                      {Dtype::bf16, Dtype::fp32, "bf16 in fp32"},
                      {Dtype::fp16, Dtype::fp16, "fp16 in fp16"}};

TEST(Accumulation, HoldsScalarKernelsInEveryFormatAndOrderFlushedOrNot) {
  for (const bool flushes : {false, true}) {
    Table table(flushes ? "GEMM, scalar, flushed" : "GEMM, scalar");
    for (const Path& path : paths) {
      Format format = format_of(path.compute);
      format.flushes_subnormals = flushes;
      Claims claims;
      claims.flushes_subnormals = flushes;
      each_dot(format_of(path.storage), format, [&](const Dot& dot, std::mt19937_64& random) {
        const Held bound = held(precision_of(path.storage, path.compute), claims, dot);
        for (const Order order : emulated::orders) {
          const double got = Machine(format, order, random).dot(dot.a, dot.b);
          table.hold(std::string(path.name) + " " + name_of(order), dot.data, bound.exact, bound.e, got);
        }
      });
    }
    table.expect_sound();
  }
}

struct Generation {
  const char* name;
  std::size_t terms, terms_of_tf32;
  int fraction_bits;
};
const Generation generations[] = {{"v100", 4, 4, 23},  {"a100", 8, 4, 24},  {"h100", 16, 8, 25},  {"h100", 8, 4, 25},
                                  {"h200", 16, 8, 25}, {"b200", 16, 8, 25}, {"unknown", 4, 4, 23}};

TEST(Accumulation, HoldsTensorCoresOfEveryGeneration) {
  Table table("GEMM, tensor cores");
  for (const Generation& g : generations) {
    for (const Path& path : paths) {
      if (path.storage == Dtype::fp32) continue;
      Claims claims;
      claims.tensor_cores = true;
      claims.tensor_core = g.name;
      const Blocks core{g.terms, g.fraction_bits, format_of(path.storage), format_of(path.compute)};
      const Format small = path.compute == Dtype::fp32 ? format_of(path.storage) : format_of(path.compute);
      each_dot(format_of(path.storage), small, [&](const Dot& dot, std::mt19937_64&) {
        const Held bound = held(precision_of(path.storage, path.compute), claims, dot);
        table.hold(std::string(g.name) + " " + path.name, dot.data, bound.exact, bound.e,
                   emulated::dot(core, dot.a, dot.b));
      });
    }
  }
  table.expect_sound();
}

double as_tf32(bool nearest, double x) { return nearest ? emulated::tf32_nearest(x) : emulated::tf32_truncated(x); }

Dot in_tf32(Dot dot, bool nearest) {
  for (Vector* v : {&dot.a, &dot.b}) {
    for (double& x : *v) x = as_tf32(nearest, x);
  }
  return dot;
}

TEST(Accumulation, HoldsTf32OperandsTruncatedAndToNearest) {
  Table table("GEMM, TF32");
  std::uint64_t caught = 0;
  Precision tf32;
  tf32.tf32 = true;
  for (const Generation& g : generations) {
    const Blocks core{g.terms_of_tf32, g.fraction_bits, emulated::tf32_format, format_of(Dtype::fp32)};
    for (const bool nearest : {false, true}) {
      Claims claims, wrong;
      claims.tensor_cores = true;
      claims.tensor_core = g.name;
      claims.tf32_rounding = nearest ? "nearest" : "truncate";
      each_dot(format_of(Dtype::fp32), format_of(Dtype::fp32), [&](const Dot& dot, std::mt19937_64&) {
        const Dot read = in_tf32(dot, nearest);
        const double got = emulated::dot(core, read.a, read.b);
        const Held bound = held(tf32, claims, dot), undeclared = held(Precision{}, wrong, dot);
        table.hold(std::string(g.name) + (nearest ? " nearest" : " truncated"), dot.data, bound.exact, bound.e, got);
        if (!(std::fabs(got - undeclared.exact) <= undeclared.e)) ++caught;
      });
    }
  }
  table.expect_sound();
  EXPECT_GT(caught, 1000u) << "TF32 that nobody declared must leave the bound";
}

/// Parts of k, each by `part`, stored and added in the reduction's format.
template <class F>
double split_dot(const Dot& dot, std::size_t parts, const Format& reduction, std::mt19937_64& random, F&& part) {
  const Machine in(reduction, Order::sequential, random);
  const std::size_t length = (dot.a.size() + parts - 1) / parts;
  double total = 0;
  for (std::size_t i = 0; i < dot.a.size(); i += length) {
    const auto first = static_cast<std::ptrdiff_t>(i);
    const auto last = static_cast<std::ptrdiff_t>(std::min(i + length, dot.a.size()));
    const Vector a(dot.a.begin() + first, dot.a.begin() + last), b(dot.b.begin() + first, dot.b.begin() + last);
    total = i == 0 ? in.round(part(a, b)) : in.add(total, in.round(part(a, b)));
  }
  return total;
}

TEST(Accumulation, HoldsSplitsReducedInEveryFormat) {
  Table table("GEMM, split along k");
  std::uint64_t caught = 0;
  for (const Dtype storage : {Dtype::fp16, Dtype::bf16}) {
    for (const Dtype reduction : {Dtype::fp32, storage}) {
      for (const std::int64_t parts : {2, 8, 0}) {
        for (const bool blocks : {false, true}) {
          Claims claims, plain;
          claims.tensor_cores = plain.tensor_cores = blocks;
          if (blocks) claims.tensor_core = plain.tensor_core = "a100";
          claims.kernels["gemm"] = {.variant = "split", .splits = parts, .reduction = reduction};
          const Blocks core{8, 24, format_of(storage), format_of(Dtype::fp32)};
          const std::string name = std::string(tally::name_of(storage)) + " in " +
                                   std::string(tally::name_of(reduction)) + " by " +
                                   (parts == 0 ? "any" : std::to_string(parts)) + (blocks ? ", a100" : "");
          each_dot(format_of(storage), format_of(storage), [&](const Dot& dot, std::mt19937_64& random) {
            const Machine scalar(format_of(Dtype::fp32), Order::fused, random);
            const auto part = [&](const Vector& a, const Vector& b) {
              return blocks ? emulated::dot(core, a, b) : scalar.dot(a, b);
            };
            const double got =
                split_dot(dot, parts == 0 ? 1 + random() % dot.a.size() : static_cast<std::size_t>(parts),
                          format_of(reduction), random, part);
            const Held bound = held(precision_of(storage), claims, dot);
            const Held undeclared = held(precision_of(storage), plain, dot);
            table.hold(name, dot.data, bound.exact, bound.e, got);
            if (reduction == storage && !(std::fabs(got - undeclared.exact) <= undeclared.e)) ++caught;
          });
        }
      }
    }
  }
  table.expect_sound();
  EXPECT_GT(caught, 1000u) << "a reduction in 16 bits that nobody declared must leave the bound";
}

TEST(Accumulation, HoldsAnOldResultAddedOrPreloaded) {
  Table table("GEMM onto the old result");
  for (const Path& path : paths) {
    const Format compute = format_of(path.compute);
    each_dot(format_of(path.storage), compute, [&](const Dot& dot, std::mt19937_64& random) {
      const double c = rounded(compute, 4 * dot.a[0]);
      Claims claims;
      const Held scalar = held(precision_of(path.storage, path.compute), claims, dot, &c);
      const Machine machine(compute, Order::random_tree, random);
      table.hold(std::string(path.name) + " added", dot.data, scalar.exact, scalar.e,
                 machine.add(machine.dot(dot.a, dot.b), c));
      if (path.storage == Dtype::fp32) return;
      claims.tensor_cores = true;
      claims.tensor_core = "h100";
      const Held blocks = held(precision_of(path.storage, path.compute), claims, dot, &c);
      const Blocks core{16, 25, format_of(path.storage), compute};
      table.hold(std::string(path.name) + " preloaded, h100", dot.data, blocks.exact, blocks.e,
                 emulated::dot(core, dot.a, dot.b, c));
    });
  }
  table.expect_sound();
}

TEST(Accumulation, StaysSoundWhereAnAccumulatorStagnates) {
  Table table("GEMM, stagnation");
  const Format half = format_of(Dtype::fp16);
  std::mt19937_64 random(5);
  for (const std::size_t k : {3000u, 6000u, 12000u}) {  // k u > 1; addends of 2^-8 stop at 2048 of them, blocks later
    const Dot same{Vector(k, 0x1p-8), Vector(k, 1.0), Data::same_sign};
    const Held scalar = held(precision_of(Dtype::fp16, Dtype::fp16), Claims{}, same);
    const double got = Machine(half, Order::sequential, random).dot(same.a, same.b);
    EXPECT_EQ(got, 8);
    EXPECT_GT(scalar.e, static_cast<double>(scalar.exact)) << "nothing is known of the value, and the bound says so";
    table.hold("fp16 in fp16", Data::same_sign, scalar.exact, scalar.e, got);
    Claims claims;
    claims.tensor_cores = true;
    claims.tensor_core = "v100";
    const Held blocks = held(precision_of(Dtype::fp16, Dtype::fp16), claims, same);
    const double by_blocks = emulated::dot({4, 23, half, half}, same.a, same.b);
    table.hold("v100 blocks", Data::same_sign, blocks.exact, blocks.e, by_blocks);
  }
  table.expect_sound();
}

TEST(Accumulation, CatchesAFlushAndANarrowAccumulatorThatNobodyDeclared) {
  std::uint64_t flushed = 0, narrow = 0;
  Format flushing = format_of(Dtype::fp32);
  flushing.flushes_subnormals = true;
  each_dot(format_of(Dtype::fp32), flushing, [&](const Dot& dot, std::mt19937_64& random) {
    const Held bound = held(Precision{}, Claims{}, dot);
    const double got = Machine(flushing, Order::sequential, random).dot(dot.a, dot.b);
    flushed += dot.data == Data::subnormal && !(std::fabs(got - bound.exact) <= bound.e) ? 1 : 0;
  });
  each_dot(format_of(Dtype::fp16), format_of(Dtype::fp16), [&](const Dot& dot, std::mt19937_64& random) {
    const Held bound = held(precision_of(Dtype::fp16), Claims{}, dot);
    const double got = Machine(format_of(Dtype::fp16), Order::fused, random).dot(dot.a, dot.b);
    narrow += !(std::fabs(got - bound.exact) <= bound.e) ? 1 : 0;
  });
  EXPECT_GT(flushed, 100u);
  EXPECT_GT(narrow, 500u);
}

TEST(Accumulation, CountsProductsAndSumsThatAreFlushed) {
  Table table("GEMM, normal operands, flushed results");
  Format flushing = format_of(Dtype::fp32);
  flushing.flushes_subnormals = true;
  Claims claims;
  claims.flushes_subnormals = true;
  std::mt19937_64 random(2);
  const Dot products{Vector(40, 0x1.fp-64), Vector(40, 0x1.fp-64), Data::subnormal};
  Dot sums{Vector(40, 0x1p-63), Vector(40, 0x1.8p-63), Data::cancellation};  // pairs 1.5 - 1 smallest normal numbers
  for (std::size_t i = 1; i < 40; i += 2) sums.b[i] = -0x1p-63;
  for (const Dot& dot : {products, sums}) {
    const Held bound = held(Precision{}, claims, dot);
    table.hold("fp32 pairwise", dot.data, bound.exact, bound.e,
               Machine(flushing, Order::pairwise, random).dot(dot.a, dot.b));
  }
  table.expect_sound();
}

TEST(Accumulation, SeesSubnormalOperandsAlignedTooHigh) {
  const double tiny = 0x1p-24, large = 0x1.ffcp15;
  Dot dot{Vector(16, tiny), Vector(16, large), Data::subnormal};
  Claims claims;
  claims.tensor_cores = true;
  claims.tensor_core = "h100";
  const Blocks core{16, 25, format_of(Dtype::fp16), format_of(Dtype::fp32)};
  const Held bound = held(precision_of(Dtype::fp16), claims, dot);
  const double got = emulated::dot(core, dot.a, dot.b);
  EXPECT_LE(static_cast<double>(std::fabs(got - bound.exact)), bound.e);
  const double unaware = (0.5 * 16 + 2) * 0x1p-24 * static_cast<double>(bound.exact);
  EXPECT_GT(bound.e, 8 * unaware);
}

TEST(Accumulation, RefusesAnUnknownGeneration) { EXPECT_THROW(tensor_core("x1", false), std::logic_error); }

}  // namespace
}  // namespace tally::oracle
