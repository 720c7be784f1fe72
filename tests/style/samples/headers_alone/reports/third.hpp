#pragma once
#include <filesystem>
#include <memory>
#include <string>
std::unique_ptr<std::filesystem::path> third(const std::string& name);
