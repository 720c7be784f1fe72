#include "reports/command_line/part.hpp"

namespace tally::command_line::verify_part {
namespace {

const RegisterPart registered(Part::verify);

}  // namespace
}  // namespace tally::command_line::verify_part
