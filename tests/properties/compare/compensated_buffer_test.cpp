// A subject whose 16-bit buffers are compensated sums: both lenses hold it to its own claim, not to a plain addition's.
#include "oracle/tolerance/format.hpp"
#include "properties/judge/lens.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::compensated_buffer_test {
namespace {

/// One parameter's buffer and its compensation, element by element.
struct Compensated {
  std::vector<double> sum, compensation;

  void add(const oracle::Format& format, const Tensor& gradient) {
    sum.resize(gradient.elements());
    compensation.resize(gradient.elements());
    for (std::size_t i = 0; i < sum.size(); ++i) {
      const auto in = [&](double x, double y) { return oracle::rounded_sum(format, x, y); };
      const double y = in(gradient.value(i), -compensation[i]), t = in(sum[i], y);
      compensation[i] = in(in(t, -sum[i]), -y);
      sum[i] = t;
    }
  }
};

Tensor as(Dtype format, const Tensor& like, const std::vector<double>& values) {
  Tensor tensor(format, like.shape);
  for (std::size_t i = 0; i < values.size(); ++i) tensor.set(i, values[i]);
  return tensor;
}

/// The run's buffers as compensated sums of the same gradients, in the case's accumulate format, would have left them.
Trace compensated(const Case& c, const Trace& plain) {
  const oracle::Format format = oracle::format_of(c.precision.accumulate);
  const std::string mark = "/accumulate/buffer.";
  std::map<std::string, Compensated> buffers;  // by window and parameter
  std::map<std::string, Tensor> changed;
  for (const Tap& tap : plain.taps()) {
    const std::string name = tap.name.text();
    const auto at = name.find(mark);
    if (at == std::string::npos) continue;
    const std::string micro_batch = name.substr(0, at), parameter = name.substr(at + mark.size());
    Compensated& buffer = buffers[name.substr(0, name.find('/')) + parameter];
    const auto held = [&] { return as(c.precision.accumulate, tap.value, buffer.sum); };
    changed.insert_or_assign(micro_batch + "/accumulate/in.buffer." + parameter, held());
    buffer.add(format, *plain.find(micro_batch + "/accumulate/in.d." + parameter));
    changed.insert_or_assign(name, held());
  }
  Trace trace;
  trace.claims = plain.claims;
  trace.case_hash = plain.case_hash;
  for (const Tap& tap : plain.taps()) {
    const auto other = changed.find(tap.name.text());
    trace.add(tap.name, other == changed.end() ? tap.value : other->second);
  }
  return trace;
}

std::uint64_t buffers(const std::vector<TensorCheck>& checks, Status status) {
  return static_cast<std::uint64_t>(std::count_if(checks.begin(), checks.end(), [&](const TensorCheck& check) {
    return check.tap.find("/accumulate/buffer.") != std::string::npos && check.status == status;
  }));
}

TEST(CompensatedBuffer, IsHeldToItsOwnClaim) {
  for (const Dtype format : {Dtype::fp16, Dtype::bf16}) {
    Case c = mlp(3, format);
    const Trace plain = run(c);  // fp32 buffers: the built-in step has no others
    c.precision.accumulate = format;
    Trace trace = compensated(c, plain);
    EXPECT_GT(buffers(local_lens(c, trace), Status::fail), 0u) << "its bits are not those of a plain addition";
    trace.claims.kernels["accumulate"].algorithm = "kahan";
    const auto local = local_lens(c, trace), end_to_end = end_to_end_lens(c, trace);
    EXPECT_EQ(buffers(local, Status::fail) + buffers(end_to_end, Status::fail), 0u);
    EXPECT_GT(buffers(local, Status::pass), 0u);
    EXPECT_GT(buffers(end_to_end, format == Dtype::fp16 ? Status::pass : Status::vacuous), 0u);
  }
}

}  // namespace
}  // namespace tally::compensated_buffer_test
