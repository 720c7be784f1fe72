#pragma once
#include <filesystem>
#include <memory>
#include <string>
std::unique_ptr<std::filesystem::path> first(const std::string& name);
