#include "reports/record/certified.hpp"

namespace tally {

void add(CertifiedRecord& whole, const CertifiedRecord& part) {
  whole.cases += part.cases;
  whole.stages += part.stages;
  whole.elements += part.elements;
  whole.undecided += part.undecided;
  whole.disagreements.insert(whole.disagreements.end(), part.disagreements.begin(), part.disagreements.end());
}

std::string certified_sentence(const CertifiedRecord& record) {
  if (record.cases + record.stages + record.undecided == 0) return "";
  const std::string tried = std::to_string(record.stages) + " stages and " + std::to_string(record.cases) +
                            " whole cases evaluated again in certified arithmetic";
  const std::string open = record.undecided == 0 ? "" : ", " + std::to_string(record.undecided) + " left undecided";
  if (record.disagreements.empty()) return tried + open + ": " + std::to_string(record.elements) + " elements agree";
  return "the oracle is wrong: of " + tried + open + ", " + std::to_string(record.disagreements.size()) +
         " tensors disagree beyond what long double is allowed";
}

}  // namespace tally
