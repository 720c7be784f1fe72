// GEMMs of an emulated subject: formats, orders, tensor cores, flushing, stagnation; each with the claims it computes
// by, and caught where it claims otherwise.
#include "oracle/tolerance/gemm.hpp"
#include "tests/oracle/emulated/dots.hpp"

namespace tally::oracle::accumulation_test {
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
}  // namespace tally::oracle::accumulation_test
