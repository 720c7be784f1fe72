#pragma once
#include <string>
std::string name();
