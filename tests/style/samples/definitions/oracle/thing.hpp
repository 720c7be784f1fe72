// A thing.
// Defined in thing.cpp, thing_text.cpp.
#pragma once
// elsewhere.cpp defines something else.
