// What a call that the fabric, a file or a person can make fail gives back.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace smd {

/// An Errc exists only if some caller acts on it; the detail goes into Error::context.
enum class Errc {
  Malformed,     // bytes or text that do not follow their format
  Timeout,       // no answer after every retry
  Refused,       // a MAD answered with a status other than 0
  Unreachable,   // no route, or the link is down
  Cancelled,     // the owner went away
  Busy,          // somebody else holds it: an agent, a lock
  NoDevice,      // no such adapter or port, or it was unplugged
  NoPermission,  // the operating system says no
  Unsupported,   // the fabric does not suit the request
  Invalid,       // an argument or setting that cannot be
  Io,            // file or socket trouble
};

struct Error {
  Errc code;
  std::string context;
};

template <class T>
using Result = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> fail(Errc code, std::string context) {
  return tl::unexpected<Error>(Error{code, std::move(context)});
}

/// One fault in something a person wrote: a config, a fabric file, a command line (then `line` is
/// 0).
struct Fault {
  std::string where;    // file name, or the text of the argument
  int line = 0;         // 1-based; 0 when lines mean nothing here
  std::string message;  // what is wrong, and what would be right
  int column = 0;       // 1-based, in bytes but in characters of TOML; 0: the line as a whole

  friend bool operator==(const Fault&, const Fault&) = default;
};

using Faults = std::vector<Fault>;

/// Reading something that a person wrote: the value, or every fault found in it.
template <class T>
using Parsed = tl::expected<T, Faults>;

/// `FILE:LINE:COLUMN: message`, without line and column when they are 0.
[[nodiscard]] std::string print_fault(const Fault& fault);

[[nodiscard]] inline tl::unexpected<Faults> fault(std::string where,
                                                  int line,
                                                  std::string message) {
  return tl::unexpected<Faults>(Faults{Fault{std::move(where), line, std::move(message)}});
}

}  // namespace smd
