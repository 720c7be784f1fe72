// Accumulation buffers of an emulated subject: every format and algorithm, up to addends that no longer count.
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/tolerance/gemm.hpp"
#include "oracle/window/bound_stages.hpp"
#include "tests/oracle/emulated/machine.hpp"
#include "tests/oracle/emulated/table.hpp"
#include "tests/oracle/emulated/tensor_core.hpp"

namespace tally::oracle::bound_accumulate_test {
namespace {

using emulated::Data;
using emulated::Machine;
using emulated::Order;
using emulated::Table;
using emulation::exactly;
using emulation::Worst;
using Vector = std::vector<double>;

const Format fp32 = format_of(Dtype::fp32);

Matrix<float> one(double x) { return Matrix<float>::Constant(1, 1, static_cast<float>(x)); }

/// A buffer after each addition; kahan keeps its compensation.
class Buffer {
 public:
  Buffer(const std::string& algorithm, const Format& format, std::mt19937_64& random)
      : algorithm_(algorithm), format_(format), in_(format, Order::sequential, random) {}

  double add(double gradient) {
    if (algorithm_ == "plain") return held_ = rounded(format_, rounded_sum(fp32, held_, gradient));
    const double g = in_.round(gradient);
    if (algorithm_ == "native") return held_ = in_.add(held_, g);
    const double y = in_.sub(g, compensation_), t = in_.add(held_, y);
    compensation_ = in_.sub(in_.sub(t, held_), y);
    return held_ = t;
  }

 private:
  std::string algorithm_;
  Format format_;
  Machine in_;
  double held_ = 0, compensation_ = 0;
};

struct Kind {
  Dtype storage, buffer;
};
const Kind kinds[] = {{Dtype::fp32, Dtype::fp32}, {Dtype::fp16, Dtype::fp16}, {Dtype::bf16, Dtype::bf16},
                      {Dtype::fp16, Dtype::fp32}, {Dtype::fp32, Dtype::bf16}, {Dtype::bf16, Dtype::fp16}};
const char* const algorithms[] = {"plain", "native", "kahan"};

std::string name_of(const Kind& kind, const std::string& algorithm) {
  return std::string(tally::name_of(kind.storage)) + " into " + std::string(tally::name_of(kind.buffer)) + " " +
         algorithm;
}

Claims claims_of(const std::string& algorithm) {
  Claims claims;
  claims.kernels["accumulate"] = {.variant = "emulated", .algorithm = algorithm};
  return claims;
}

Precision precision_of(const Kind& kind) {
  Precision precision;
  precision.storage = kind.storage;
  precision.accumulate = kind.buffer;
  return precision;
}

/// Every class of data, a few window lengths; the longest is past n u = 1 for 16 bits.
template <class F>
void each_window(const Kind& kind, F&& f) {
  std::mt19937_64 random(31);
  for (const Data data : emulated::data_classes) {
    for (const std::size_t n : {2u, 3u, 7u, 24u, 64u, 700u}) {
      for (int i = 0; i < (n > 100 ? 2 : 12); ++i) {
        f(data, emulated::drawn(data, format_of(kind.storage), format_of(kind.buffer), n, random), random);
      }
    }
  }
}

TEST(BoundAccumulate, HoldsEveryStepAndEveryWindow) {
  Table steps("one addition, from the buffer's own bits"), windows("a window, end to end");
  for (const Kind& kind : kinds) {
    for (const char* algorithm : algorithms) {
      const Claims claims = claims_of(algorithm), any = claims_of("any");
      const Declared subject = declared(precision_of(kind), claims), undeclared = declared(precision_of(kind), any);
      each_window(kind, [&](Data data, const Vector& gradients, std::mt19937_64& random) {
        Buffer buffer(algorithm, format_of(kind.buffer), random);
        Expected sum;
        double held = 0;
        for (std::size_t j = 0; j < gradients.size(); ++j) {
          const Expected g = exactly(one(gradients[j])), before = exactly(one(held));
          sum = j == 0 ? cast(subject, subject.accumulate, g) : accumulated(subject, sum, g);
          held = buffer.add(gradients[j]);
          const Expected local = held_accumulate(subject, before.v.cast<float>(), g.v.cast<float>());
          if (std::string(algorithm) != "kahan") {
            ASSERT_EQ(local.e(0, 0), 0);
            ASSERT_EQ(static_cast<double>(local.v(0, 0)), held) << "the bits of this step are known";
          }
          steps.hold(name_of(kind, algorithm), data, accumulated(subject, before, g), one(held));
          steps.hold("undeclared", data, accumulated(undeclared, before, g), one(held));
        }
        windows.hold(name_of(kind, algorithm), data, sum, one(held));
      });
    }
  }
  steps.expect_sound();
  windows.expect_sound();
}

TEST(BoundAccumulate, HoldsACompensatedSumNearTwoRoundings) {
  Table table("compensated sum");
  std::uint64_t caught = 0;
  for (const Kind& kind : kinds) {
    const Claims claims = claims_of("kahan");
    const Declared subject = declared(precision_of(kind), claims);
    each_window(kind, [&](Data data, const Vector& gradients, std::mt19937_64& random) {
      Buffer compensated("kahan", format_of(kind.buffer), random), plain("native", format_of(kind.buffer), random);
      std::vector<Expected> all;
      double held = 0, without = 0;
      for (const double g : gradients) {
        all.push_back(exactly(one(g)));
        held = compensated.add(g);
        without = plain.add(g);
      }
      const Expected bound = compensated_sum(subject, all);
      table.hold(name_of(kind, "kahan"), data, bound, one(held));
      Worst wrong;
      wrong.hold(bound, one(without));
      caught += data == Data::same_sign && gradients.size() > 100 ? wrong.over : 0;
    });
  }
  table.expect_sound();
  EXPECT_GT(caught, 0u) << "a plain sum of many addends of one sign is not a compensated one";
}

TEST(BoundAccumulate, StaysSoundWhereABufferStagnates) {
  for (const Dtype format : {Dtype::fp16, Dtype::bf16}) {
    const Kind kind{format, format};
    const Claims claims = claims_of("native");
    const Declared subject = declared(precision_of(kind), claims);
    std::mt19937_64 random(1);
    Buffer buffer("native", format_of(format), random);
    Expected sum = exactly(one(0));
    const double most = format == Dtype::fp16 ? 2048 : 256;
    double held = 0;
    for (int j = 0; j < 3 * static_cast<int>(most); ++j) {  // 3 n u = 1.5 and 3
      sum = accumulated(subject, sum, exactly(one(1)));
      held = buffer.add(1);
    }
    EXPECT_EQ(held, most);
    EXPECT_LE(static_cast<double>(sum.v(0, 0)) - held, sum.e(0, 0));
    EXPECT_LT(sum.e(0, 0), infinite);
  }
}

TEST(BoundAccumulate, HoldsTheEpilogueOfAGemm) {
  Table table("GEMM epilogue into the buffer");
  for (const Kind& kind : kinds) {
    if (kind.storage == Dtype::fp32 && kind.buffer != Dtype::fp32) continue;
    std::mt19937_64 random(8);
    for (const bool blocks : {false, true}) {
      if (blocks && kind.storage == Dtype::fp32) continue;
      Claims claims;
      claims.tensor_cores = blocks;
      if (blocks) claims.tensor_core = "a100";
      const Declared subject = declared(precision_of(kind), claims);
      for (const Data data : emulated::data_classes) {
        for (int i = 0; i < 100; ++i) {
          const std::size_t rows = 1 + random() % 64;
          const Vector dy = emulated::drawn(data, format_of(kind.storage), format_of(kind.buffer), rows, random);
          const Vector x = emulated::other(data, format_of(kind.storage), rows, random);
          const double held = rounded(format_of(kind.buffer), 3 * dy[0]);
          const Machine scalar(fp32, Order::random_tree, random);
          const emulated::Blocks core{8, 24, format_of(kind.storage), fp32};
          const double sum = blocks ? emulated::dot(core, dy, x, held) : scalar.add(scalar.dot(dy, x), held);
          Matrix<float> a(1, static_cast<Eigen::Index>(rows)), b(static_cast<Eigen::Index>(rows), 1);
          for (std::size_t j = 0; j < rows; ++j) {
            a(0, static_cast<Eigen::Index>(j)) = static_cast<float>(dy[j]);
            b(static_cast<Eigen::Index>(j), 0) = static_cast<float>(x[j]);
          }
          const Expected bound = accumulated_by_gemm(subject, exactly(one(held)), exactly(a), exactly(b));
          table.hold(name_of(kind, blocks ? "a100" : "scalar"), data, bound, one(rounded(format_of(kind.buffer), sum)));
        }
      }
    }
  }
  table.expect_sound();
}

TEST(BoundAccumulate, HoldsAMasterInTheStorageFormat) {
  Table table("master = storage, one step of SGD");
  const Choice sgd{"sgd", {{"momentum", Decimal{"0"}}, {"dampening", Decimal{"0"}}, {"nesterov", false}}};
  for (const Dtype format : emulation::storages) {
    Precision precision;
    precision.storage = precision.master = format;
    const Claims claims;
    const Declared subject = declared(precision, claims);
    std::mt19937_64 random(9);
    const auto rate = static_cast<float>(0.01);
    std::uint64_t lost = 0;
    for (const Data data : emulated::data_classes) {
      const Vector p = emulated::drawn(data, format_of(format), fp32, 200, random);
      const Vector g = emulated::drawn(Data::ordinary, fp32, fp32, 200, random);
      for (std::size_t i = 0; i < p.size(); ++i) {
        const Machine m(fp32, Order::sequential, random);
        const double after = rounded(format_of(format), m.sub(p[i], m.mul(rate, g[i] * 0x1p-4)));
        lost += data == Data::large_mean && after == p[i] ? 1 : 0;
        const Expected bound =
            sgd_parameter(subject, sgd, exactly(one(rate)), exactly(one(g[i] * 0x1p-4)), {}, exactly(one(p[i])));
        table.hold(std::string(tally::name_of(format)), data, bound, one(after));
      }
    }
    if (format == Dtype::fp32) continue;
    EXPECT_GT(lost, 190u) << "16-bit parameters lose small steps";
  }
  table.expect_sound();
}

TEST(BoundAccumulate, RefusesAnAlgorithmWithoutABound) {
  const Claims claims = claims_of("stochastic");
  const Declared subject = declared(Precision{}, claims);
  EXPECT_THROW(accumulated(subject, exactly(one(1)), exactly(one(1))), std::logic_error);
}

}  // namespace
}  // namespace tally::oracle::bound_accumulate_test
