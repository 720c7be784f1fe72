// The commands of the program: each file's is in the parser, at a place of its own, with options of its own.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "reports/command_line/command.hpp"
#include "tests/registered_records.hpp"

namespace tally::command_line::commands_test {
namespace {

const std::filesystem::path root = TALLY_SOURCE_DIR;

/// "baseline show" is in the parser of "baseline".
const CLI::App& parser_of(const CLI::App& program, const std::string& name) {
  const auto space = name.find(' ');
  if (space == std::string::npos) return *program.get_subcommand(name);
  return *program.get_subcommand(name.substr(0, space))->get_subcommand(name.substr(space + 1));
}

TEST(Commands, EveryFileWithARecordRegistered) {
  const auto with_record = files_with_record(root, {"reports/command_line"});
  const auto in_program = files_that_registered(root);

  ASSERT_FALSE(with_record.empty()) << "no file holds a record";
  for (const auto& path : with_record) EXPECT_TRUE(in_program.contains(path)) << path << " holds a record that is lost";
}

TEST(Commands, HaveANameAPlaceAndWordsOfTheirOwn) {
  std::set<int> places;
  std::set<std::string> names, words;
  for (const Command* command : commands()) {
    EXPECT_TRUE(places.insert(command->place).second) << command->name << ": place " << command->place << " is taken";
    EXPECT_TRUE(names.insert(command->name).second) << command->name << " is there twice";
    EXPECT_TRUE(words.insert(command->help).second) << command->name << " says what another one says";
    EXPECT_FALSE(command->help.empty()) << command->name;
  }
  EXPECT_FALSE(names.empty());
}

TEST(Commands, AreAllInTheParserByPlace) {
  Chosen chosen;
  const auto program = parser_of_commands(chosen);
  std::vector<std::string> expected, found;
  for (const Command* command : commands()) {
    EXPECT_EQ(parser_of(*program, command->name).get_description(), command->help);
    if (command->name.find(' ') == std::string::npos) expected.push_back(command->name);
  }
  for (const CLI::App* parser : program->get_subcommands([](const CLI::App*) { return true; }))
    found.push_back(parser->get_name());
  EXPECT_EQ(found, expected);
}

TEST(Commands, AreChosenByTheArguments) {
  Chosen chosen;
  const auto program = parser_of_commands(chosen);
  program->parse("list laws");
  ASSERT_NE(chosen.command, nullptr);
  EXPECT_EQ(chosen.command->name, "list");
  EXPECT_TRUE(chosen.action);
  program->parse("baseline show file.json");
  EXPECT_EQ(chosen.command->name, "baseline show");
  EXPECT_THROW(program->parse("baseline"), CLI::ParseError);
  EXPECT_THROW(program->parse(""), CLI::ParseError);
}

TEST(Commands, ForgetWhatAnEarlierParserWasGiven) {
  Chosen chosen;
  const auto before = parser_of_commands(chosen);
  const std::string fresh = parser_of(*before, "verify").help();
  before->parse("verify --law exact_lane --seed 7 --out elsewhere --processes 1 --no-shrink");
  const auto after = parser_of_commands(chosen);
  EXPECT_EQ(parser_of(*after, "verify").help(), fresh);
  EXPECT_NE(fresh.find("--law TEXT=*"), std::string::npos) << fresh;
}

}  // namespace
}  // namespace tally::command_line::commands_test
