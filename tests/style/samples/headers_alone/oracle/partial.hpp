#pragma once
std::string name();
