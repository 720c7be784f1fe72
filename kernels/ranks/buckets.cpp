#include "kernels/ranks/buckets.hpp"

#include "oracle/case/rank_keys.hpp"

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

}  // namespace tally
