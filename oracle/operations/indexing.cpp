// Elements that an index sends to places: advanced indexing, scatters, and sums by target, such as gradients of look-ups.
#include <algorithm>
#include <map>
#include <memory>

#include "oracle/operations/products.hpp"

namespace tally::oracle::operations::indexing_rules {
namespace {

using Demands = std::vector<Demand>;

/// Each result is the sum of the rows of `from` that an index sends to its row, onto `onto` where there is one. Sums are
/// added in the result's own format, as PyTorch does, in any order.
Demand by_target(const std::string& name, const View& out, const View& from, const View* onto,
                 const std::vector<std::int64_t>& targets, std::int64_t width, const Profile& profile,
                 const std::string& op) {
  if (from.count() != static_cast<std::int64_t>(targets.size()) * width ||
      (onto != nullptr && onto->count() != out.count()))
    throw NotJudged("as many targets as rows are expected");
  std::vector<std::vector<std::int64_t>> rows(
      static_cast<std::size_t>(std::max<std::int64_t>(out.count() / std::max<std::int64_t>(width, 1), 0)));
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (targets[i] >= static_cast<std::int64_t>(rows.size())) throw NotJudged("an index beyond its tensor");
    if (targets[i] >= 0) rows[static_cast<std::size_t>(targets[i])].push_back(static_cast<std::int64_t>(i));
  }
  const bool in_fp32 = profile.says(op, out.element, "adds_in_fp32");
  return {name,
          out,
          Demand::bound,
          width,
          [=, old = onto == nullptr ? std::optional<View>() : std::optional<View>(*onto)](Part& part) {
            const Arithmetic& a = in_fp32 ? fp32() : arithmetic_of(out.element);
            std::vector<double> values(static_cast<std::size_t>(width));
            for (std::int64_t at = 0; at < part.count; at += width) {
              const std::int64_t row = (part.first + at) / width;
              std::vector<Addends> sums(static_cast<std::size_t>(width));
              const auto take = [&](const View& view, std::int64_t i) {
                view.read(i * width, width, values.data());
                for (std::int64_t j = 0; j < width; ++j)
                  sums[static_cast<std::size_t>(j)].add({values[static_cast<std::size_t>(j)], 0});
              };
              if (old) take(*old, row);
              for (const std::int64_t i : rows[static_cast<std::size_t>(row)]) take(from, i);
              for (std::int64_t j = 0; j < width; ++j) {
                const Bounded stored = arithmetic_of(out.element).store(a.sum(sums[static_cast<std::size_t>(j)]));
                // The first addend meets a zero: no addition rounds it.
                part.v[at + j] = stored.v;
                part.e[at + j] = sums[static_cast<std::size_t>(j)].count <= 1 ? 0 : stored.e;
              }
            }
          },
          {}};
}

std::vector<std::int64_t> whole_numbers(const View& view) {
  const std::vector<double> values = view.read();
  return {values.begin(), values.end()};
}

Demands embedding_backward(const Call& call, const Profile& profile) {
  const View out = output_of(call), g = call.tensor("grad_output");
  std::vector<std::int64_t> targets = whole_numbers(call.tensor("indices"));
  if (call.flag("scale_grad_by_freq")) throw NotJudged("gradients that are divided by how often a row was looked up");
  const std::int64_t padding = call.integer("padding_idx", -1);
  for (std::int64_t& target : targets)
    if (target == padding) target = -1;
  return {by_target("result", out, g, nullptr, targets, out.size(1), profile, call.name)};
}
const RegisterOperations look_ups{{"embedding_dense_backward"}, embedding_backward};

/// index_add along the first dimension.
Demands index_added(const Call& call, const Profile& profile) {
  const View out = output_of(call), old = call.tensor("self"), source = call.tensor("source");
  if (dimension_of(call.integer("dim"), out.dim()) != 0 || call.number("alpha", 1) != 1)
    throw NotJudged("index_add along another dimension than the first, or scaled");
  const std::int64_t width = out.size(0) == 0 ? 0 : out.count() / out.size(0);
  return {
      by_target(output_name(call), out, source, &old, whole_numbers(call.tensor("index")), width, profile, call.name)};
}
const RegisterOperations index_adds{{"index_add"}, index_added};

/// The place that advanced indexing gives to each element: `offsets` of the indexed dimensions.
struct Indexed {
  Sizes shape;                        // of the result of self[indices]
  std::vector<std::int64_t> targets;  // of each of its elements, in row-major order: an element of self
};

Indexed indexed(const View& self, const Call& call) {
  const auto found = call.arguments.find("indices");
  const Values* list = found == call.arguments.end() ? nullptr : std::get_if<Values>(&found->second.is);
  if (list == nullptr) throw NotJudged("an index that is no list");
  std::vector<std::optional<View>> given(self.sizes.size());
  Sizes shape;
  std::int64_t first = -1, last = -1;
  bool neighbours = true;
  for (std::size_t i = 0; i < list->size(); ++i) {
    if ((*list)[i].absent()) continue;
    const View* view = std::get_if<View>(&(*list)[i].is);
    if (view == nullptr) throw NotJudged("an index that is not recorded");
    if (view->element == Element::boolean || view->element == Element::uint8) {
      if (list->size() == 1 && view->sizes == self.sizes) {  // a mask: its true places in order
        Indexed all;
        const std::vector<double> mask = view->read();
        for (std::size_t k = 0; k < mask.size(); ++k)
          if (mask[k] != 0) all.targets.push_back(static_cast<std::int64_t>(k));
        all.shape = {static_cast<std::int64_t>(all.targets.size())};
        return all;
      }
      throw NotJudged("a mask of some of the dimensions");
    }
    if (i >= given.size()) throw NotJudged("more indices than dimensions");
    given[i] = *view;
    shape = broadcast(shape, view->sizes);
    if (first < 0) first = static_cast<std::int64_t>(i);
    if (last >= 0 && static_cast<std::int64_t>(i) != last + 1) neighbours = false;
    last = static_cast<std::int64_t>(i);
  }
  // Indices that are no neighbours stand in front.
  const bool in_place = neighbours && first >= 0;
  Indexed all;
  Sizes kept;
  for (std::size_t i = 0; i < given.size(); ++i)
    if (!given[i]) kept.push_back(static_cast<std::int64_t>(i));
  const std::size_t before =
      in_place
          ? static_cast<std::size_t>(std::count_if(kept.begin(), kept.end(), [&](std::int64_t k) { return k < first; }))
          : 0;
  for (std::size_t i = 0; i < before; ++i) all.shape.push_back(self.sizes[static_cast<std::size_t>(kept[i])]);
  all.shape.insert(all.shape.end(), shape.begin(), shape.end());
  for (std::size_t i = before; i < kept.size(); ++i) all.shape.push_back(self.sizes[static_cast<std::size_t>(kept[i])]);
  Sizes steps(self.sizes.size(), 1);
  for (std::size_t i = steps.size(); i-- > 1;) steps[i - 1] = steps[i] * self.sizes[i];
  const std::int64_t chosen = count_of(shape);
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(chosen), 0);
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!given[i]) continue;
    const std::vector<double> places = given[i]->expanded(shape).read();
    for (std::size_t k = 0; k < places.size(); ++k) {
      const auto place = static_cast<std::int64_t>(places[k]);
      const std::int64_t counted = place < 0 ? place + self.sizes[i] : place;
      if (counted < 0 || counted >= self.sizes[i]) throw NotJudged("an index beyond its tensor");
      offsets[k] += counted * steps[i];
    }
  }
  std::int64_t left = 1, right = 1;
  for (std::size_t i = 0; i < kept.size(); ++i)
    (i < before ? left : right) *= self.sizes[static_cast<std::size_t>(kept[i])];
  const auto offset_of = [&](std::int64_t index, std::size_t from, std::size_t to) {
    std::int64_t offset = 0;
    for (std::size_t i = to; i-- > from;) {
      const auto dim = static_cast<std::size_t>(kept[i]);
      offset += index % self.sizes[dim] * steps[dim];
      index /= self.sizes[dim];
    }
    return offset;
  };
  for (std::int64_t l = 0; l < left; ++l) {
    const std::int64_t of_left = offset_of(l, 0, before);
    for (const std::int64_t offset : offsets)
      for (std::int64_t r = 0; r < right; ++r)
        all.targets.push_back(of_left + offset + offset_of(r, before, kept.size()));
  }
  return all;
}

Demands index(const Call& call, const Profile&) {
  const View out = output_of(call), self = call.tensor("self");
  const auto places = std::make_shared<const Indexed>(indexed(self, call));
  expect_sizes(static_cast<std::int64_t>(places->targets.size()) == out.count() && self.element == out.element);
  return {{"result", out, Demand::raw, 1, {}, [=](std::int64_t first, std::int64_t count, std::uint64_t* to) {
             for (std::int64_t i = 0; i < count; ++i)
               self.read_bits(places->targets[static_cast<std::size_t>(first + i)], 1, to + i);
           }}};
}
const RegisterOperations indices{{"index"}, index};

/// What stands in a tensor once values were put to places: of several at one place, any.
Demand put(const Call& call, const View& out, const View& self, const std::vector<std::int64_t>& targets,
           const View& values) {
  expect_sizes(out.count() == self.count() && out.element == self.element && values.element == self.element);
  std::multimap<std::int64_t, std::int64_t> writers;
  for (std::size_t i = 0; i < targets.size(); ++i) writers.emplace(targets[i], static_cast<std::int64_t>(i));
  return {output_name(call), out, Demand::raw, 1, {}, [=](std::int64_t first, std::int64_t count, std::uint64_t* to) {
            self.read_bits(first, count, to);
            std::uint64_t left = 0;
            for (auto at = writers.lower_bound(first); at != writers.end() && at->first < first + count; ++at) {
              std::uint64_t written = 0;
              values.read_bits(at->second, 1, &written);
              out.read_bits(at->first, 1, &left);
              const bool is_first = at == writers.lower_bound(at->first);
              if (is_first || written == left) to[at->first - first] = written;
            }
          }};
}

Demands index_put(const Call& call, const Profile& profile) {
  const View out = output_of(call), self = call.tensor("self");
  const Indexed places = indexed(self, call);
  const View values = call.tensor("values").expanded(places.shape);
  if (!call.flag("accumulate")) return {put(call, out, self, places.targets, values)};
  return {by_target(output_name(call), out, values, &self, places.targets, 1, profile, "index_put")};
}
const RegisterOperations index_puts{{"index_put", "_index_put_impl", "_unsafe_index_put"}, index_put};

/// scatter: the element at a place of `index` goes where its dimension's place is read from it.
Demands scattered(const Call& call, const Profile& profile) {
  const View out = output_of(call), self = call.tensor("self"), index = call.tensor("index");
  const auto dim = static_cast<std::size_t>(dimension_of(call.integer("dim"), self.dim()));
  const std::vector<std::int64_t> chosen = whole_numbers(index);
  Sizes steps(self.sizes.size(), 1), at(self.sizes.size(), 0);
  for (std::size_t i = steps.size(); i-- > 1;) steps[i - 1] = steps[i] * self.sizes[i];
  if (index.dim() != self.dim() && std::max(index.dim(), self.dim()) > 1)
    throw NotJudged("an index of other dimensions than its tensor");
  expect_sizes(out.sizes == self.sizes);
  at.resize(index.sizes.size());
  for (std::size_t i = 0; i < index.sizes.size(); ++i)
    if (i != dim && i < self.sizes.size() && index.sizes[i] > self.sizes[i])
      throw NotJudged("an index beyond its tensor");
  std::vector<std::int64_t> targets;
  for (const std::int64_t place : chosen) {
    if (place < 0 || place >= self.size(static_cast<std::int64_t>(dim))) throw NotJudged("an index beyond its tensor");
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) offset += (i == dim ? place : at[i]) * steps[i];
    targets.push_back(offset);
    for (std::size_t i = at.size(); i-- > 0;) {
      if (++at[i] < index.sizes[i]) break;
      at[i] = 0;
    }
  }
  if (call.has("reduce")) throw NotJudged("a scatter that reduces");
  if (!call.has("src")) {
    const double value = call.number("value");
    std::vector<bool> hit(static_cast<std::size_t>(out.count()));
    for (const std::int64_t target : targets) hit[static_cast<std::size_t>(target)] = true;
    return {{output_name(call),
             out,
             Demand::bits,
             1,
             [=](Part& part) {
               self.read(part.first, part.count, part.v);
               for (std::int64_t i = 0; i < part.count; ++i)
                 if (hit[static_cast<std::size_t>(part.first + i)]) part.v[i] = value;
             },
             {}}};
  }
  View values = call.tensor("src");
  for (std::size_t i = 0; i < index.sizes.size(); ++i)
    values = values.narrowed(static_cast<std::int64_t>(i), 0, index.sizes[i]);
  if (call.name == "scatter_add")
    return {by_target(output_name(call), out, values, &self, targets, 1, profile, "scatter_add")};
  return {put(call, out, self, targets, values)};
}
const RegisterOperations registered{{"scatter", "scatter_add"}, scattered};

}  // namespace
}  // namespace tally::oracle::operations::indexing_rules
