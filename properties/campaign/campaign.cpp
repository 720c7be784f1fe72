#include "properties/campaign/campaign.hpp"

#include "properties/campaign/campaign_work.hpp"
#include "properties/campaign/workers.hpp"

namespace tally {

Results run_campaign(const CampaignOptions& given) {
  CampaignOptions options = given;
  if (!options.kept) options.kept = kept_cases(options.corpus);
  const CampaignWork work(options);
  std::size_t finished = 0;
  return work.results(run_in_processes(
      work.size(), processes_for(options.subject.executor, options.processes),
      [&](std::size_t i) { return work.run(i, i); },
      [&](std::size_t i) {
        options.progress("[" + std::to_string(++finished) + "/" + std::to_string(work.size()) + "] " +
                         work.title_of(i));
      },
      options.interrupted, [&](std::size_t i, const Death& died) { return work.run(i, i, &died); }));
}

}  // namespace tally
