// What libraries that stand between libibumad and ibsim need: the functions that they stand in for.
#pragma once

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/types.h>

#include <cstdarg>

namespace smd::shim {

using Open = int(const char*, int, ...);
using Write = ssize_t(int, const void*, size_t);

/// The function of this name in the library below.
template <class Function>
Function* beneath(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

/// The third argument of open(), where it has one.
inline mode_t mode_of(int flags, std::va_list more) {
  return static_cast<mode_t>((flags & O_CREAT) != 0 ? va_arg(more, unsigned) : 0);
}

}  // namespace smd::shim
