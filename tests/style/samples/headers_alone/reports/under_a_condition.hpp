#pragma once
#ifdef NEVER
#include <filesystem>
#include <memory>
#include <string>
#endif
std::unique_ptr<std::filesystem::path> fifth(const std::string& name);
