// GEMMs of an emulated subject whose operands are rounded (TF32), whose k is split, or that add onto an old result.
#include "oracle/tolerance/gemm.hpp"

#include "tests/oracle/emulated/dots.hpp"

namespace tally::oracle::gemm_test {
namespace {

using emulated::Blocks;
using emulated::Data;
using emulated::Dot;
using emulated::each_dot;
using emulated::Generation;
using emulated::generations;
using emulated::Held;
using emulated::held;
using emulated::Machine;
using emulated::Order;
using emulated::Path;
using emulated::paths;
using emulated::precision_of;
using emulated::Table;
using emulated::Vector;

double as_tf32(bool nearest, double x) { return nearest ? emulated::tf32_nearest(x) : emulated::tf32_truncated(x); }

Dot in_tf32(Dot dot, bool nearest) {
  for (Vector* v : {&dot.a, &dot.b}) {
    for (double& x : *v) x = as_tf32(nearest, x);
  }
  return dot;
}

TEST(Gemm, HoldsTf32OperandsTruncatedAndToNearest) {
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

TEST(Gemm, HoldsSplitsReducedInEveryFormat) {
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

TEST(Gemm, HoldsAnOldResultAddedOrPreloaded) {
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

}  // namespace
}  // namespace tally::oracle::gemm_test
