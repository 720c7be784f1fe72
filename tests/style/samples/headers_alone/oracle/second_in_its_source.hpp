#pragma once
std::string second();
