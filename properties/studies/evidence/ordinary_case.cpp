#include "properties/studies/evidence/ordinary_case.hpp"

#include <array>

#include "kernels/device/executor/schedule.hpp"
#include "oracle/case/formats.hpp"
#include "properties/generators/ordinary/ordinary_plan.hpp"
#include "properties/studies/evidence/counts.hpp"
#include "properties/studies/evidence/excess.hpp"

namespace tally {
namespace {

/// Places 1, 5, 9, … of 50 are medium; 7, 15, 23, … in turn large, large and true. The last of 400 is huge.
OrdinarySize size_of(std::uint64_t number) {
  if (number % 400 == 399) return OrdinarySize::huge;
  const std::uint64_t place = number % 50;
  if (place % 8 == 7) return place % 24 == 23 ? OrdinarySize::true_size : OrdinarySize::large;
  return place % 4 == 1 ? OrdinarySize::medium : OrdinarySize::small;
}

}  // namespace

OrdinaryCase ordinary_case(std::uint64_t seed, std::uint64_t number) {
  const std::vector<Dtype>& storages = storage_formats();
  executor::Schedule mixed(seed);
  executor::Schedule random(mixed.next() ^ (0xd1342543de82ef95u * (number + 1)));
  const OrdinarySize size = size_of(number);
  const Plan plan = ordinary_plan(storages[number % storages.size()], size, random.next());
  return {case_of(plan), name_of(size), traits_of(plan)};
}

Strata ordinary_strata_of(const OrdinaryCase& made, const EvidenceRun& held, std::uint64_t number) {
  Strata strata;
  for (const auto& [place, stratum] : counted(made.c, held, number)) {
    const auto& [lens, part] = place;
    strata.at({"ordinary", "all"}).merge(stratum);
    strata.at({"ordinary", "size", made.size, std::string(name_of(made.c.precision.storage))}).merge(stratum);
    for (const auto& [trait, value] : made.traits) strata.at({"ordinary", trait, value}).merge(stratum);
    if (lens == "local") strata.at({"ordinary stage", made.size, part}).merge(stratum);
  }
  count_excess(strata, made.c, held);
  count_alarms(strata, "ordinary networks", made.c, held, number);
  settle_cases(strata, held);
  return strata;
}

}  // namespace tally
