// A subject whose 16-bit buffers are compensated sums: both lenses hold it to its own claim, not to a plain addition's.
#include "oracle/tolerance/rounded.hpp"
#include "properties/compare/lens.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally {
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

/// The run's buffers as a compensated sum of the same gradients would have left them.
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
    Tensor before = tap.value, after = tap.value;
    for (std::size_t i = 0; i < buffer.sum.size(); ++i) before.set(i, buffer.sum[i]);
    if (!buffer.sum.empty()) changed[micro_batch + "/accumulate/in.buffer." + parameter] = before;
    buffer.add(format, *plain.find(micro_batch + "/accumulate/in.d." + parameter));
    for (std::size_t i = 0; i < buffer.sum.size(); ++i) after.set(i, buffer.sum[i]);
    changed[name] = after;
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

std::uint64_t failing_buffers(const std::vector<TensorCheck>& checks) {
  return static_cast<std::uint64_t>(std::count_if(checks.begin(), checks.end(), [](const TensorCheck& check) {
    return check.tap.find("/accumulate/buffer.") != std::string::npos && check.status == Status::fail;
  }));
}

TEST(CompensatedBuffer, IsHeldToItsOwnClaim) {
  for (const Dtype format : {Dtype::fp16, Dtype::bf16}) {
    Case c = mlp(3, format);
    c.precision.accumulate = format;
    Trace trace = compensated(c, run(c));
    EXPECT_GT(failing_buffers(local_lens(c, trace)), 0u) << "its bits are not those of a plain addition";
    trace.claims.kernels["accumulate"].algorithm = "kahan";
    EXPECT_EQ(failing_buffers(local_lens(c, trace)), 0u);
    EXPECT_EQ(failing_buffers(end_to_end_lens(c, trace)), 0u);
  }
}

}  // namespace
}  // namespace tally
