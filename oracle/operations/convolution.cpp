// Convolutions of any number of dimensions, transposed ones too, and their gradients, as sums of products:
//   y[i, o, p]  = sum over c, t of w[o, c, t] x[i, c, p stride + t dilation - padding]
//   dx[i, c, q] = sum over o, t of w[o, c, t] dy[i, o, (q + padding - t dilation) / stride]
//   dw[o, c, t] = sum over i, p of dy[i, o, p] x[i, c, p stride + t dilation - padding]
//   db[o]       = sum over i, p of dy[i, o, p]
// A transposed one is the second with x in the place of dy.
#include <algorithm>
#include <memory>

#include "oracle/operations/products.hpp"

namespace tally::oracle::operations::convolution_rules {
namespace {

using Demands = std::vector<Demand>;

struct Geometry {
  Sizes stride, padding, dilation;
  std::int64_t groups = 1;
  Sizes in, out, kernel;  // extents in space: of x, of y, of w
  std::int64_t taps() const { return count_of(kernel); }
};

Sizes in_space(const View& view) { return {view.sizes.begin() + 2, view.sizes.end()}; }

Sizes for_each_dimension(Sizes given, std::size_t dims) {
  if (given.size() == 1 && dims > 1) given.resize(dims, given.front());
  if (given.size() != dims)
    throw NotJudged("a convolution with " + std::to_string(given.size()) + " strides in " + std::to_string(dims) +
                    " dimensions");
  return given;
}

Sizes place_of(std::int64_t index, const Sizes& extents) {
  Sizes at(extents.size());
  for (std::size_t d = extents.size(); d-- > 0; index /= extents[d]) at[d] = index % extents[d];
  return at;
}

/// Offset in x's space that tap t of the output's place p reads; -1: the padding.
std::int64_t read_by(const Geometry& g, const Sizes& p, const Sizes& t) {
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < p.size(); ++d) {
    const std::int64_t at = p[d] * g.stride[d] + t[d] * g.dilation[d] - g.padding[d];
    if (at < 0 || at >= g.in[d]) return -1;
    offset = offset * g.in[d] + at;
  }
  return offset;
}

/// The output's place that reads place q of x by tap t; -1: none.
std::int64_t written_by(const Geometry& g, const Sizes& q, const Sizes& t) {
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < q.size(); ++d) {
    const std::int64_t at = q[d] + g.padding[d] - t[d] * g.dilation[d];
    if (at < 0 || at % g.stride[d] != 0 || at / g.stride[d] >= g.out[d]) return -1;
    offset = offset * g.out[d] + at / g.stride[d];
  }
  return offset;
}

/// For every place and tap, which place of the other tensor it meets.
using Meetings = std::shared_ptr<const std::vector<std::int64_t>>;
template <class F>
Meetings meetings(const Sizes& places, const Sizes& taps, F f) {
  const std::int64_t n = count_of(places), t = count_of(taps);
  std::vector<std::int64_t> all(static_cast<std::size_t>(n * t));
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < t; ++k)
      all[static_cast<std::size_t>(i * t + k)] = f(place_of(i, places), place_of(k, taps));
  return std::make_shared<const std::vector<std::int64_t>>(std::move(all));
}

Meetings meetings_of_outputs(const Geometry& g) {
  return meetings(g.out, g.kernel, [&](const Sizes& p, const Sizes& t) { return read_by(g, p, t); });
}
Meetings meetings_of_inputs(const Geometry& g) {
  return meetings(g.in, g.kernel, [&](const Sizes& q, const Sizes& t) { return written_by(g, q, t); });
}
Meetings meetings_of_taps(const Geometry& g) {
  return meetings(g.kernel, g.out, [&](const Sizes& t, const Sizes& p) { return read_by(g, p, t); });
}

/// A tensor's channels as numbers, one image at a time.
class Image {
 public:
  explicit Image(const View& view) : view_(view), size_(view.size(0) == 0 ? 0 : view.count() / view.size(0)) {}
  const double* of(std::int64_t image) {
    if (image != held_) {
      values_.resize(static_cast<std::size_t>(size_));
      view_.read(image * size_, size_, values_.data());
      held_ = image;
    }
    return values_.data();
  }

 private:
  View view_;
  std::int64_t size_, held_ = -1;
  std::vector<double> values_;
};

/// What the places of one tensor read of another: of each of its channels, the places that they meet by each tap.
RowOf patches(const View& of, std::int64_t channels, std::int64_t taps, const Meetings& meets) {
  const std::int64_t space = of.count() / std::max<std::int64_t>(of.size(0) * of.size(1), 1);
  return [=, image = Image(of)](std::int64_t i, std::int64_t place, double* to) mutable {
    const double* values = image.of(i);
    const std::int64_t* at = meets->data() + place * taps;
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t t = 0; t < taps; ++t) *to++ = at[t] < 0 ? 0 : values[c * space + at[t]];
  };
}

/// Products of one group's weights with patches, onto a number for each of its `channels`, into the channels from `first`
/// on.
Demand by_patches(const Call& call, const Profile& profile, const std::string& name, const View& found,
                  const View* bias, std::int64_t first, SumOfProducts products) {
  const std::int64_t channels = products.m;
  if (bias != nullptr) {
    View c = bias->narrowed(0, first, channels);
    c.sizes = {1, channels, 1};
    c.strides = {0, bias->strides[0], 0};
    products.c = c.expanded({products.batches, channels, products.n});
  }
  return sum_of_products(call, profile, name, found.narrowed(1, first, channels), std::move(products));
}

/// y by groups: for each group a product of w [channels out, channels in taps] and patches of x.
Demand forward(const Call& call, const Profile& profile, const std::string& name, const View& found, const View& x,
               const View& w, const View* bias, const Geometry& g, const Meetings& meets, std::int64_t group) {
  const std::int64_t outs = w.size(0) / g.groups, ins = w.size(1), taps = g.taps(), k = ins * taps;
  const RowOf weights = [=](std::int64_t, std::int64_t o, double* to) { w.read((group * outs + o) * k, k, to); };
  const RowOf read = patches(x.narrowed(1, group * ins, ins), ins, taps, meets);
  return by_patches(call, profile, name, found, bias, group * outs,
                    {x.size(0), outs, count_of(g.out), k, weights, read, is_half(x.element)});
}

/// dx by groups, and a transposed convolution's y: w [channels of dy, channels of dx, taps].
Demand backward(const Call& call, const Profile& profile, const std::string& name, const View& found, const View& dy,
                const View& w, const View* bias, const Geometry& g, const Meetings& meets, std::int64_t group) {
  const std::int64_t outs = w.size(0) / g.groups, ins = w.size(1), taps = g.taps();
  const RowOf weights = [=](std::int64_t, std::int64_t c, double* to) {
    for (std::int64_t o = 0; o < outs; ++o, to += taps) w.read(((group * outs + o) * ins + c) * taps, taps, to);
  };
  const RowOf read = patches(dy.narrowed(1, group * outs, outs), outs, taps, meets);
  return by_patches(call, profile, name, found, bias, group * ins,
                    {dy.size(0), ins, count_of(g.in), outs * taps, weights, read, is_half(dy.element)});
}

/// dw by groups: dy [channels of dy, images places] and patches of x.
Demand weights(const Call& call, const Profile& profile, const std::string& name, const View& found, const View& dy,
               const View& x, const Geometry& g, const Meetings& meets, std::int64_t group) {
  const std::int64_t outs = found.size(0) / g.groups, ins = found.size(1), taps = g.taps();
  const std::int64_t images = dy.size(0), space_in = count_of(g.in), space_out = count_of(g.out),
                     k = images * space_out;
  const std::int64_t channels_out = dy.size(1), channels_in = x.size(1);
  SumOfProducts products{1,
                         outs,
                         ins * taps,
                         k,
                         [=](std::int64_t, std::int64_t o, double* to) {
                           for (std::int64_t i = 0; i < images; ++i, to += space_out)
                             dy.read((i * channels_out + group * outs + o) * space_out, space_out, to);
                         },
                         [=, values = std::vector<double>(static_cast<std::size_t>(space_in))](
                             std::int64_t, std::int64_t j, double* to) mutable {
                           const std::int64_t c = j / taps;
                           const std::int64_t* at = meets->data() + j % taps * space_out;
                           for (std::int64_t i = 0; i < images; ++i) {
                             x.read((i * channels_in + group * ins + c) * space_in, space_in, values.data());
                             for (std::int64_t p = 0; p < space_out; ++p)
                               *to++ = at[p] < 0 ? 0 : values[static_cast<std::size_t>(at[p])];
                           }
                         },
                         is_half(dy.element)};
  return sum_of_products(call, profile, name, found.narrowed(0, group * outs, outs), std::move(products));
}

/// db: the sums of dy's channels.
Demand biases(const std::string& name, const View& found, const View& dy) {
  const std::int64_t images = dy.size(0), channels = dy.size(1),
                     space = dy.count() / std::max<std::int64_t>(images * channels, 1);
  expect_sizes(found.count() == channels);
  return {name,
          found,
          Demand::bound,
          1,
          [=](Part& part) {
            std::vector<double> values(static_cast<std::size_t>(images * space));
            for (std::int64_t i = 0; i < part.count; ++i) {
              for (std::int64_t image = 0; image < images; ++image)
                dy.read((image * channels + part.first + i) * space, space, values.data() + image * space);
              const Summed sum = summed(fp32(), values.data(), images * space);
              const Bounded stored = arithmetic_of(found.element).store(sum.sum);
              part.v[i] = stored.v;
              part.e[i] = stored.e;
              part.s[i] = is_half(found.element) ? NAN : sum.deviation;
            }
          },
          {}};
}

Geometry geometry_of(const Call& call, const View& x, const View& w, const View& y, bool transposed) {
  if (x.dim() < 3 || w.dim() != x.dim() || y.dim() != x.dim()) throw NotJudged("a convolution without channels");
  const std::size_t dims = x.sizes.size() - 2;
  Geometry g{for_each_dimension(call.integers("stride"), dims),
             for_each_dimension(call.integers("padding"), dims),
             for_each_dimension(call.integers("dilation"), dims),
             call.integer("groups", 1),
             in_space(x),
             in_space(y),
             in_space(w)};
  for (std::size_t d = 0; d < dims; ++d) {
    constexpr std::int64_t most = std::int64_t{1} << 31;
    if (g.stride[d] < 1 || g.stride[d] > most || g.dilation[d] < 1 || g.dilation[d] > most ||
        std::max(g.padding[d], -g.padding[d]) > most)
      throw NotJudged("a convolution with a stride below 1, or of no usual size");
  }
  if (g.groups < 1 || w.size(0) % g.groups != 0) throw NotJudged("groups that do not share their channels evenly");
  if (transposed) std::swap(g.in, g.out);
  return g;
}

Demands convolution(const Call& call, const Profile& profile) {
  const View out = output_of(call), x = call.tensor("input"), w = call.tensor("weight");
  format_of(x.element);
  const bool transposed = call.flag("transposed");
  const Geometry g = geometry_of(call, x, w, out, transposed);
  const Meetings meets = transposed ? meetings_of_inputs(g) : meetings_of_outputs(g);
  Demands all;
  for (std::int64_t group = 0; group < g.groups; ++group) {
    const std::string name = g.groups == 1 ? "result" : "result, group " + std::to_string(group);
    all.push_back(transposed ? backward(call, profile, name, out, x, w, call.tensor_or_none("bias"), g, meets, group)
                             : forward(call, profile, name, out, x, w, call.tensor_or_none("bias"), g, meets, group));
  }
  return all;
}
const RegisterOperations forwards{{"convolution", "_convolution"}, convolution};

Demands convolution_backward(const Call& call, const Profile& profile) {
  const View dy = call.tensor("grad_output"), x = call.tensor("input"), w = call.tensor("weight");
  format_of(dy.element);
  const bool transposed = call.flag("transposed");
  const Geometry g = geometry_of(call, x, w, dy, transposed);
  const Meetings meets = transposed ? meetings_of_outputs(g) : meetings_of_inputs(g), taps = meetings_of_taps(g);
  Demands all;
  for (std::int64_t group = 0; group < g.groups; ++group) {
    const std::string of = g.groups == 1 ? "" : ", group " + std::to_string(group);
    if (call.has_result(0))
      all.push_back(transposed
                        ? forward(call, profile, "grad_input" + of, call.result(0), dy, w, nullptr, g, meets, group)
                        : backward(call, profile, "grad_input" + of, call.result(0), dy, w, nullptr, g, meets, group));
    if (call.has_result(1))
      all.push_back(transposed ? weights(call, profile, "grad_weight" + of, call.result(1), x, dy, g, taps, group)
                               : weights(call, profile, "grad_weight" + of, call.result(1), dy, x, g, taps, group));
  }
  if (call.has_result(2)) all.push_back(biases("grad_bias", call.result(2), dy));
  return all;
}
const RegisterOperations registered{{"convolution_backward"}, convolution_backward};

}  // namespace
}  // namespace tally::oracle::operations::convolution_rules
