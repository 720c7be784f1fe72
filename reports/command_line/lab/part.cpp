#include "reports/command_line/part.hpp"

namespace tally::command_line::lab_part {
namespace {

const RegisterPart registered(Part::lab);

}  // namespace
}  // namespace tally::command_line::lab_part
