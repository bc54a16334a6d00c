// OpenSM's log, for programs that test a part of the plugin without OpenSM: what is said is kept.
// Once in a program.
#pragma once

#include <opensm/osm_log.h>

#include <cstdarg>
#include <cstdio>
#include <string>

inline std::string logged;
inline int logged_level = 0;

extern "C" void osm_log(osm_log_t*, osm_log_level_t level, const char* format, ...) {
  char line[4096];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  logged += line;
  logged_level = level;
}
