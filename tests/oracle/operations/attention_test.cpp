#include "tests/oracle/operations/machines.hpp"

namespace tally::oracle::operations::attention_test {
namespace {

using Random = std::mt19937_64;
constexpr const char* forwards = "_scaled_dot_product_flash_attention_for_cpu";
constexpr const char* backwards = "_scaled_dot_product_flash_attention_for_cpu_backward";

float exp(float x, Random& random) { return function(std::exp(static_cast<double>(x)), random); }

struct Shape {
  std::int64_t batches, heads, groups, queries, keys, width;
};

/// One head's evaluation, in blocks of keys that scale what stands before them.
struct Machine {
  Shape shape;
  Element element;
  bool causal;
  std::size_t block;
  Order order;
  Random& random;
  float scale = 1 / std::sqrt(static_cast<float>(shape.width));

  Floats row(const Numbers& x, std::int64_t matrix, std::int64_t index, std::int64_t of) const {
    const auto first = x.begin() + (matrix * of + index) * shape.width;
    return {first, first + shape.width};
  }
  std::int64_t group(std::int64_t head) const { return head / (shape.heads / shape.groups); }

  float score(const Floats& q, const Floats& k, std::int64_t i, std::int64_t j, const Numbers& mask) const {
    if (causal && j > i) return -INFINITY;
    const float s = scale * dot(q, k, order, random);
    return mask.empty() ? s : s + static_cast<float>(mask[static_cast<std::size_t>(i * shape.keys + j)]);
  }

  /// o and log of the sum of a row.
  std::pair<Floats, float> attend(const Floats& scores, const std::vector<Floats>& values) const {
    Floats o(static_cast<std::size_t>(shape.width), 0.0f);
    float largest = -INFINITY, sum = 0;
    for (std::size_t first = 0; first < scores.size(); first += block) {
      const std::size_t end = std::min(first + block, scores.size());
      const float now = std::max(largest, *std::max_element(scores.begin() + static_cast<std::ptrdiff_t>(first),
                                                            scores.begin() + static_cast<std::ptrdiff_t>(end)));
      if (now == -INFINITY) continue;
      const float kept = first == 0 ? 0 : exp(largest - now, random);
      Floats p;
      for (std::size_t j = first; j < end; ++j) p.push_back(exp(scores[j] - now, random));
      sum = sum * kept + added_up(p, order, random);
      for (std::size_t f = 0; f < o.size(); ++f) {
        o[f] *= kept;
        for (std::size_t j = first; j < end; ++j)
          o[f] = std::fma(rounded_to(element, p[j - first]), values[j][f], o[f]);
      }
      largest = now;
    }
    for (float& each : o) each /= sum;
    return {o, largest + function(std::log(static_cast<double>(sum)), random)};
  }
};

struct Case {
  Shape s;
  Numbers q, k, v, mask;
  Case(Shape shape, Element element, double size, bool masks, Random& random)
      : s(shape),
        q(drawn(s.batches * s.heads * s.queries * s.width, random, element)),
        k(drawn(s.batches * s.groups * s.keys * s.width, random, element)),
        v(drawn(s.batches * s.groups * s.keys * s.width, random, element)) {
    for (double& each : q) each = written(element, each * size);
    if (!masks) return;
    for (std::int64_t i = 0; i < s.queries * s.keys; ++i)  // as padding is hidden: by the format's least number
      mask.push_back(written(
          element, i % s.keys > 0 && random() % 3 == 0 ? (element == Element::float16 ? -65504 : -0x1.fep127) : 0));
  }
  Arguments arguments(Element element, bool causal) const {
    return {{"query", tensor({s.batches, s.heads, s.queries, s.width}, q, element)},
            {"key", tensor({s.batches, s.groups, s.keys, s.width}, k, element)},
            {"value", tensor({s.batches, s.groups, s.keys, s.width}, v, element)},
            {"is_causal", causal},
            {"attn_mask", mask.empty() ? Argument() : Argument(tensor({1, 1, s.queries, s.keys}, mask, element))}};
  }
};

struct Output {
  Numbers o, lse;
};

Output output_of(const Case& c, const Machine& m) {
  Floats o, logs;
  for (std::int64_t matrix = 0; matrix < c.s.batches * c.s.heads; ++matrix) {
    const std::int64_t own = matrix / c.s.heads * c.s.groups + m.group(matrix % c.s.heads);
    std::vector<Floats> values;
    for (std::int64_t j = 0; j < c.s.keys; ++j) values.push_back(m.row(c.v, own, j, c.s.keys));
    for (std::int64_t i = 0; i < c.s.queries; ++i) {
      Floats scores;
      for (std::int64_t j = 0; j < c.s.keys; ++j)
        scores.push_back(m.score(m.row(c.q, matrix, i, c.s.queries), m.row(c.k, own, j, c.s.keys), i, j, c.mask));
      const auto [row, log] = m.attend(scores, values);
      o.insert(o.end(), row.begin(), row.end());
      logs.push_back(log);
    }
  }
  return {stored(m.element, o), stored(Element::float32, logs)};
}

/// dq of one matrix of queries whose keys are its own.
Numbers query_gradients(const Case& c, const Machine& m, const Output& out, const Numbers& g) {
  Floats dq;
  for (std::int64_t matrix = 0; matrix < c.s.batches * c.s.heads; ++matrix) {
    const std::int64_t own = matrix / c.s.heads * c.s.groups + m.group(matrix % c.s.heads);
    for (std::int64_t i = 0; i < c.s.queries; ++i) {
      const Floats gi = m.row(g, matrix, i, c.s.queries), oi = m.row(out.o, matrix, i, c.s.queries);
      const auto log = static_cast<float>(out.lse[static_cast<std::size_t>(matrix * c.s.queries + i)]);
      const float delta = dot(gi, oi, m.order, m.random);
      Floats sum(static_cast<std::size_t>(c.s.width), 0.0f);
      for (std::int64_t j = 0; j < c.s.keys; ++j) {
        const Floats kj = m.row(c.k, own, j, c.s.keys);
        const float p = exp(m.score(m.row(c.q, matrix, i, c.s.queries), kj, i, j, c.mask) - log, m.random);
        const float ds = rounded_to(m.element, p * (dot(gi, m.row(c.v, own, j, c.s.keys), m.order, m.random) - delta));
        for (std::size_t f = 0; f < sum.size(); ++f) sum[f] = std::fma(ds, kj[f], sum[f]);
      }
      for (const float each : sum) dq.push_back(each * m.scale);
    }
  }
  return stored(m.element, dq);
}

const Shape shapes[] = {{1, 2, 1, 3, 5, 4}, {2, 2, 2, 6, 70, 8}};

TEST(AttentionRules, HoldBlocksThatScaleWhatStandsBeforeThem) {
  Random random(1);
  Held held, gradients;
  for (const Element element : formats)
    for (const Shape& shape : shapes)
      for (const double size : {1.0, 20.0})
        for (const bool masks : {false, true})
          for (const Order order : orders) {
            const bool causal = !masks && order == Order::pairwise;
            const Case c(shape, element, size, masks, random);
            const Machine m{shape, element, causal, order == Order::forwards ? 1000u : 32u, order, random};
            const Output out = output_of(c, m);
            const Sizes sizes{shape.batches, shape.heads, shape.queries, shape.width};
            Arguments arguments = c.arguments(element, causal);
            const View o = tensor(sizes, out.o, element),
                       log = tensor({shape.batches, shape.heads, shape.queries}, out.lse);
            held.add(call_of(forwards, arguments, {o, log}));
            const Numbers g = drawn(static_cast<std::int64_t>(out.o.size()), random, element);
            arguments["grad_out"] = tensor(sizes, g, element);
            arguments["out"] = o;
            arguments["logsumexp"] = log;
            Call call = call_of(backwards, arguments, {tensor(sizes, query_gradients(c, m, out, g), element)});
            const std::vector<Demand> all = demands_of(
                [&] {
                  call.out.resize(3, Argument(arguments["key"]));  // its own numbers: only dq is held here
                  return call;
                }(),
                {});
            Standing standing;
            hold(all.front(), standing);
            EXPECT_EQ(standing.wrong, 0) << standing.first;
            gradients.r = std::max(gradients.r, standing.r);
            gradients.of_half = std::max(gradients.of_half, standing.of_half);
            gradients.elements += standing.elements;
            gradients.undecided += standing.undecided;
          }
  held.report("attention");
  gradients.report("attention, gradients of queries");
  EXPECT_EQ(held.undecided, 0) << "hidden keys make nothing vacuous";
}

TEST(AttentionRules, SeeWrongOnes) {
  Random random(2);
  const Shape shape = shapes[1];
  const Case c(shape, Element::float32, 1, false, random);
  const auto judged = [&](Machine m, bool causal, const Case& by) {
    const Output out = output_of(by, m);
    return call_of(forwards, c.arguments(Element::float32, causal),
                   {tensor({shape.batches, shape.heads, shape.queries, shape.width}, out.o)});
  };
  Machine right{shape, Element::float32, true, 32, Order::forwards, random}, scaled = right, open = right,
                                                                             coarse = right;
  EXPECT_EQ(standing_of(judged(right, true, c)).wrong, 0);
  scaled.scale = 1;
  expect_caught(judged(scaled, true, c));
  open.causal = false;
  expect_caught(judged(open, true, c));  // hidden keys are seen
  coarse.element = Element::bfloat16;
  expect_caught(judged(coarse, true, c));  // weights stored in 16 bits
  Case shifted = c;                        // the mask off by one: each query sees the key behind its own
  std::rotate(shifted.k.begin(), shifted.k.begin() + shape.width, shifted.k.end());
  expect_caught(judged(right, true, shifted));
}

TEST(AttentionRules, RefuseTensorsThatDoNotFit) {
  Random random(3);
  const Shape shape = shapes[0];
  const Case c(shape, Element::float32, 1, false, random);
  const View q = tensor({1, 2, 3, 4}, c.q);
  for (const char* name : {"key", "value"}) {
    Arguments arguments = c.arguments(Element::float32, false);
    arguments[name] = tensor({1, 1, 2, 2}, {1, 2, 3, 4});
    EXPECT_THROW(standing_of(call_of(forwards, arguments, {q})), NotJudged) << name;
  }
  EXPECT_THROW(standing_of(call_of(forwards, c.arguments(Element::float32, false), {vector_of({1})})), NotJudged);
  EXPECT_THROW(
      standing_of(call_of(forwards, c.arguments(Element::float32, false), {q, tensor({1, 3, 2}, Numbers(6, 0.0))})),
      NotJudged);
}

}  // namespace
}  // namespace tally::oracle::operations::attention_test
