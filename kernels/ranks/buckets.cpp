// The buckets that gradients travel in between ranks, and by what their sum is divided.
#include "kernels/ranks/buckets.hpp"

#include "oracle/case/rank_keys.hpp"
#include "oracle/case/tensors/tensor.hpp"

namespace tally {

std::vector<Bucket> buckets_of(const Case& c, std::size_t ranks, const std::vector<std::int64_t>& sizes) {
  const std::int64_t least = rank_number(c, "buckets.elements");
  const bool reversed = rank_word(c, "buckets.order") == "reverse";
  std::vector<Bucket> buckets;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t parameter = reversed ? sizes.size() - 1 - i : i;
    if (buckets.empty() || (least > 0 && buckets.back().elements >= least)) buckets.emplace_back();
    Bucket& bucket = buckets.back();
    bucket.places.push_back({parameter, bucket.elements});
    bucket.elements += sizes[parameter];
  }
  const std::int64_t multiple = static_cast<std::int64_t>(ranks) * rank_number(c, "buckets.align");
  for (Bucket& bucket : buckets) bucket.elements = (bucket.elements + multiple - 1) / multiple * multiple;
  return buckets;
}

namespace {

float stored_in(Dtype format, double value) {
  return static_cast<float>(float_value_of(format, float_bits_of(format, value)));
}

}  // namespace

RankDivision rank_division(const Case& c, std::size_t ranks) {
  const std::string& word = rank_word(c, "reduce.divide");
  const double all = static_cast<double>(ranks);
  if (word == "loss") return {};
  if (word == "unscale") return {.when_unscaling = true};
  RankDivision division{.multiple = all, .around_the_sum = true};
  if (word == "before") division.front = static_cast<float>(1 / all);
  if (word == "after") division.behind = static_cast<float>(1 / all);
  if (word == "collective") division.front = stored_in(wire_of(c), 1 / all);
  if (word == "split") {
    const double factor = std::get<Decimal>(rank_option(c, "reduce.factor")).to_double();
    division.front = static_cast<float>(1 / factor);
    division.behind = static_cast<float>(factor / all);
  }
  return division;
}

}  // namespace tally
