#include "reports/record/record.hpp"

namespace tally {

std::string_view word_of(Status status) {
  switch (status) {
    case Status::pass:
      return "pass";
    case Status::fail:
      return "fail";
    case Status::vacuous:
      return "vacuous";
    case Status::not_run:
      return "not_run";
    case Status::error:
      return "error";
  }
  return "error";
}

std::string_view word_of(FailureClass c) {
  switch (c) {
    case FailureClass::none:
      return "none";
    case FailureClass::logic:
      return "logic";
    case FailureClass::precision:
      return "precision";
    case FailureClass::order:
      return "order";
    case FailureClass::non_finite:
      return "non_finite";
    case FailureClass::skip_decision:
      return "skip_decision";
  }
  return "none";
}

}  // namespace tally
