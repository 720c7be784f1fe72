// What a campaign has to run, in numbers: the trainings, and the strands of every law in every precision. Whoever runs
// them in whatever order, the answers come to the same results.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "properties/campaign/campaign.hpp"
#include "properties/campaign/worker_pool.hpp"

namespace tally {

class CampaignWork {
 public:
  /// Throws std::invalid_argument when no law matches the pattern.
  explicit CampaignWork(CampaignOptions options);

  std::size_t size() const { return pieces_.size(); }
  /// "exact_lane fp32", "exact_lane fp32, strand 2 of 4": no two are the same.
  std::string title_of(std::size_t number) const;
  /// Runs a piece here; its answer is packed results. `before`: how many were begun before it, from which its share of the time
  /// follows. `died`: how its process did before, nullptr if it did not.
  std::string run(std::size_t number, std::size_t before, const Death* died = nullptr) const;
  /// From the answers in number order, an empty one where a piece was not run: then the results are partial. An answer
  /// may begin with "crash: ", as run_in_processes() says.
  Results results(const std::vector<std::string>& answers) const;

 private:
  /// A law's strand in one precision, or a training configuration.
  struct Piece {
    const Law* law = nullptr;
    Dtype storage = Dtype::fp32;
    std::size_t training = 0;  // index of the exact problem when law is null
    Strand strand{};
    std::size_t strands = 1;  // of its job
  };
  std::vector<Piece> pieces_of_shard() const;
  std::string title_of(const Piece& piece) const;
  CampaignOptions options_of(const Piece& piece, std::size_t before) const;
  Results found_by(const Piece& piece, const CampaignOptions& options, const Death* died) const;
  CaseRecord crashed(const Piece& piece, const std::string& answer) const;
  void merge(Results& results, const Piece& piece, const std::string& answer) const;

  CampaignOptions options_;
  std::vector<Piece> pieces_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace tally
