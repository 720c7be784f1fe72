#pragma once
#include <memory>
#include <string>
std::unique_ptr<std::filesystem::path> fourth(const std::string& name);
