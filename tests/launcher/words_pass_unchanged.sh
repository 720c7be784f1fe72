#!/usr/bin/env bash
# Every word but the launcher's own options reaches the program as it was typed; so does its exit status come back.
# The program runs where the user is, so relative paths mean what they say.
source "$(dirname "${BASH_SOURCE[0]}")/project.bash"

launch --no-cuda bless --yes --all --reason 'two words' '' --cuda -- '*'
expect_status $? 0
expect_out $'bless\n--yes\n--all\n--reason\ntwo words\n\n--cuda\n--\n*'

launch verify --no-cuda --cases 3 --yes -- --no-setup
expect_status $? 0
expect_out $'verify\n--cases\n3\n--\n--no-setup'

echo '#include <fstream>
int main(int, char** arguments) { return std::ifstream(arguments[2]) ? 0 : 1; }' >"$project/reports/main.cpp"
mkdir "$project/folder" && touch "$project/folder/case.json"
cd "$project/folder" && launch --no-cuda replay case.json
expect_status $? 0
launch --no-cuda replay none.json
expect_status $? 1
