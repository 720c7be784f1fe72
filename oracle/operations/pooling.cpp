// Pooling over windows of the last dimensions: averages, the largest, and their gradients.
#include <algorithm>
#include <cmath>

#include "oracle/operations/products.hpp"

namespace tally::oracle::operations::pooling_rules {
namespace {

using Demands = std::vector<Demand>;

/// Where windows begin and end along one dimension, without the padding, and how long they are with it.
struct Spans {
  std::vector<std::int64_t> begin, end, padded;
  std::int64_t step = 1;  // of a dilated window
};

Sizes of_dimensions(const Call& call, const char* name, std::size_t dims, std::int64_t otherwise) {
  Sizes given = call.has(name) ? call.integers(name) : Sizes{};
  if (given.empty()) return Sizes(dims, otherwise);
  if (given.size() == 1) given.resize(dims, given.front());
  return given;
}

Spans spans_of(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride, std::int64_t padding,
               std::int64_t dilation) {
  Spans spans;
  spans.step = dilation;
  for (std::int64_t o = 0; o < out; ++o) {
    const std::int64_t start = o * stride - padding, stop = start + (kernel - 1) * dilation + 1;
    std::int64_t first = start;
    if (first < 0) first += (dilation - 1 - first) / dilation * dilation;
    spans.begin.push_back(first);
    spans.end.push_back(std::min(stop, in));
    spans.padded.push_back(std::min(stop, in + padding) - start);
  }
  return spans;
}

Spans adaptive(std::int64_t in, std::int64_t out) {
  Spans spans;
  for (std::int64_t o = 0; o < out; ++o) {
    spans.begin.push_back(o * in / out);
    spans.end.push_back(((o + 1) * in + out - 1) / out);
    spans.padded.push_back(spans.end.back() - spans.begin.back());
  }
  return spans;
}

/// Two dimensions of planes.
struct Windows {
  std::int64_t rows_in, columns_in, rows_out, columns_out, planes;
  Spans rows, columns;
  bool counts_padding = true;
  double divisor = 0;  // 0: the window's size

  double size(std::int64_t row, std::int64_t column) const {
    if (divisor != 0) return divisor;
    const auto r = static_cast<std::size_t>(row), c = static_cast<std::size_t>(column);
    if (counts_padding) return static_cast<double>(rows.padded[r] * columns.padded[c]);
    return static_cast<double>((rows.end[r] - rows.begin[r]) * (columns.end[c] - columns.begin[c]));
  }
  template <class F>
  void each(std::int64_t row, std::int64_t column, F&& f) const {
    const auto r = static_cast<std::size_t>(row), c = static_cast<std::size_t>(column);
    for (std::int64_t i = rows.begin[r]; i < rows.end[r]; i += rows.step)
      for (std::int64_t j = columns.begin[c]; j < columns.end[c]; j += columns.step) f(i * columns_in + j);
  }
};

Windows windows_of(const Call& call, const View& in, const View& out) {
  if (in.dim() < 3) throw NotJudged("a pool of a plane alone");
  Windows w{in.size(-2),
            in.size(-1),
            out.size(-2),
            out.size(-1),
            in.count() / std::max<std::int64_t>(in.size(-1) * in.size(-2), 1),
            {},
            {}};
  if (call.name.find("adaptive") != std::string::npos) {
    w.rows = adaptive(w.rows_in, w.rows_out);
    w.columns = adaptive(w.columns_in, w.columns_out);
    return w;
  }
  const Sizes kernel = of_dimensions(call, "kernel_size", 2, 1), padding = of_dimensions(call, "padding", 2, 0),
              dilation = of_dimensions(call, "dilation", 2, 1);
  Sizes stride = of_dimensions(call, "stride", 2, 0);
  if (stride[0] == 0) stride = kernel;
  for (const Sizes* each : std::initializer_list<const Sizes*>{&kernel, &stride, &padding, &dilation})
    for (const std::int64_t number : *each)
      if (number < (each == &padding ? 0 : 1) || number > std::int64_t{1} << 31)
        throw NotJudged("a window of no usual size");
  w.rows = spans_of(w.rows_in, w.rows_out, kernel[0], stride[0], padding[0], dilation[0]);
  w.columns = spans_of(w.columns_in, w.columns_out, kernel[1], stride[1], padding[1], dilation[1]);
  w.counts_padding = call.flag("count_include_pad", true);
  w.divisor = call.number("divisor_override", 0);
  return w;
}

/// f(plane's values, row, column) -> Bounded for each result of a plane.
template <class F>
Demand by_planes(const std::string& name, const View& out, const View& in, std::int64_t planes, F f) {
  const std::int64_t size = out.dim() < 2 ? 0 : out.size(-1) * out.size(-2),
                     read = in.count() / std::max<std::int64_t>(planes, 1);
  expect_sizes(out.count() == planes * size && in.count() == planes * read);
  return {name,
          out,
          Demand::bound,
          std::max<std::int64_t>(size, 1),
          [=](Part& part) {
            std::vector<double> values(static_cast<std::size_t>(read));
            for (std::int64_t at = 0; at < part.count; at += size) {
              in.read((part.first + at) / size * read, read, values.data());
              f(values, part, at);
            }
          },
          {}};
}

/// sum x / size
Demands average(const Call& call, const Profile&) {
  const View out = output_of(call), x = call.tensor("self");
  const Windows w = windows_of(call, x, out);
  return {by_planes("result", out, x, w.planes, [=](const std::vector<double>& values, Part& part, std::int64_t at) {
    std::vector<double> in;
    for (std::int64_t r = 0; r < w.rows_out; ++r)
      for (std::int64_t c = 0; c < w.columns_out; ++c, ++at) {
        in.clear();
        w.each(r, c, [&](std::int64_t place) { in.push_back(values[static_cast<std::size_t>(place)]); });
        const Bounded total = summed(fp32(), in.data(), static_cast<std::int64_t>(in.size())).sum;
        const double n = w.size(r, c);
        const Bounded y =
            arithmetic_of(out.element).store(wider(fp32().div(total, {n, 0}), fp32().mul(total, {1 / n, 0x1p-24 / n})));
        part.v[at] = y.v;
        part.e[at] = y.e;
      }
  })};
}
const RegisterOperations averages{{"avg_pool2d", "_adaptive_avg_pool2d", "adaptive_avg_pool2d"}, average};

/// g / size to each place of a window, added up
Demands average_backward(const Call& call, const Profile& profile) {
  const View out = output_of(call), g = call.tensor("grad_output");
  expect_sizes(out.sizes == call.tensor("self").sizes);
  const Windows w = windows_of(call, call.tensor("self"), g);
  const bool in_storage = profile.says(call.name, out.element, "adds_in_storage");
  return {by_planes("result", out, g, w.planes, [=](const std::vector<double>& gradients, Part& part, std::int64_t at) {
    const Arithmetic& a = in_storage ? arithmetic_of(out.element) : fp32();
    std::vector<Addends> sums(static_cast<std::size_t>(w.rows_in * w.columns_in));
    for (std::int64_t r = 0; r < w.rows_out; ++r)
      for (std::int64_t c = 0; c < w.columns_out; ++c) {
        const Bounded gradient{gradients[static_cast<std::size_t>(r * w.columns_out + c)], 0};
        const double n = w.size(r, c);
        const Bounded share = wider(a.div(gradient, {n, 0}), a.mul(gradient, {1 / n, 0x1p-24 / n}));
        w.each(r, c, [&](std::int64_t place) { sums[static_cast<std::size_t>(place)].add(share); });
      }
    for (const Addends& sum : sums) {
      const Bounded y = arithmetic_of(out.element).store(a.sum(sum));
      part.v[at] = y.v;
      part.e[at] = y.e;
      ++at;
    }
  })};
}
const RegisterOperations averages_backward{{"avg_pool2d_backward", "_adaptive_avg_pool2d_backward"}, average_backward};

bool above(double x, double y) { return std::isnan(x) || x > y; }

/// The largest of a window, and a place where it stands.
Demands largest(const Call& call, const Profile&) {
  const View x = call.tensor("self"), out = call.result(0);
  const Windows w = windows_of(call, x, out);
  const auto best = [=](const std::vector<double>& values, std::int64_t r, std::int64_t c) {
    double most = -infinite;
    w.each(r, c, [&](std::int64_t place) {
      if (above(values[static_cast<std::size_t>(place)], most)) most = values[static_cast<std::size_t>(place)];
    });
    return most;
  };
  if (call.has_result(1)) expect_sizes(call.result(1).sizes == out.sizes);
  Demands all{
      by_planes("values", out, x, w.planes, [=](const std::vector<double>& values, Part& part, std::int64_t at) {
        for (std::int64_t r = 0; r < w.rows_out; ++r)
          for (std::int64_t c = 0; c < w.columns_out; ++c, ++at) part.v[at] = best(values, r, c);
      })};
  if (call.has_result(1))
    all.push_back(by_planes("indices", call.result(1), x, w.planes,
                            [=](const std::vector<double>& values, Part& part, std::int64_t at) {
                              for (std::int64_t r = 0; r < w.rows_out; ++r)
                                for (std::int64_t c = 0; c < w.columns_out; ++c, ++at) {
                                  const double most = best(values, r, c);
                                  double legal = -1;
                                  w.each(r, c, [&](std::int64_t place) {
                                    const double value = values[static_cast<std::size_t>(place)];
                                    if (value != most && !(std::isnan(value) && std::isnan(most))) return;
                                    if (legal < 0 || static_cast<double>(place) == part.found[at])
                                      legal = static_cast<double>(place);
                                  });
                                  part.v[at] = legal;
                                }
                            }));
  for (Demand& demand : all) demand.holds = Demand::bits;
  return all;
}
const RegisterOperations maxima{{"max_pool2d_with_indices"}, largest};

/// Gradients to the places that were chosen, added up in the format of the result.
Demands largest_backward(const Call& call, const Profile& profile) {
  const View out = output_of(call), g = call.tensor("grad_output"), places = call.tensor("indices");
  const std::int64_t planes = out.count() / std::max<std::int64_t>(out.size(-1) * out.size(-2), 1),
                     size = out.size(-1) * out.size(-2);
  const bool in_fp32 = profile.says(call.name, out.element, "adds_in_fp32");
  return {by_planes("result", out, g, planes, [=](const std::vector<double>& gradients, Part& part, std::int64_t at) {
    const Arithmetic& a = in_fp32 ? fp32() : arithmetic_of(out.element);
    const auto n = static_cast<std::int64_t>(gradients.size());
    std::vector<double> chosen(gradients.size());
    places.read((part.first + at) / size * n, n, chosen.data());
    std::vector<Addends> sums(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (!(chosen[i] >= 0 && chosen[i] < static_cast<double>(size))) throw NotJudged("an index beyond its plane");
      sums[static_cast<std::size_t>(chosen[i])].add({gradients[i], 0});
    }
    for (const Addends& sum : sums) {
      const Bounded y = arithmetic_of(out.element).store(a.sum(sum));
      part.v[at] = y.v;
      part.e[at] = sum.count <= 1 ? 0 : y.e;
      ++at;
    }
  })};
}
const RegisterOperations registered{{"max_pool2d_with_indices_backward"}, largest_backward};

}  // namespace
}  // namespace tally::oracle::operations::pooling_rules
