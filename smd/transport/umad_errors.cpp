#include "smd/transport/umad_errors.h"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

namespace smd {
namespace {

const char* print_step(UmadStep step) {
  switch (step) {
    case UmadStep::Open:
      return "cannot open the management device";
    case UmadStep::Register:
      return "cannot register for subnet management";
    case UmadStep::Send:
      return "cannot send";
    case UmadStep::Receive:
      return "cannot receive";
    case UmadStep::ShowSm:
      return "cannot set the IsSM bit";
  }
  return "failed";
}

bool is_gone(int error_number) {
  return error_number == ENODEV || error_number == ENXIO || error_number == ENOENT ||
         error_number == EPIPE || error_number == EBADF;
}

}  // namespace

Error umad_error(UmadStep step, int error_number, const std::string& where) {
  const auto say = [&](Errc code, const std::string& advice) {
    return Error{code, fmt::format("{}: {}: {}", where, print_step(step), advice)};
  };
  if (error_number == EACCES || error_number == EPERM) {
    return say(Errc::NoPermission,
               "permission denied; run as root, or as a member of the group that owns "
               "/dev/infiniband/umad* and issm*");
  }
  const bool opening = step == UmadStep::Open || step == UmadStep::ShowSm;
  if (is_gone(error_number)) {
    return say(Errc::NoDevice,
               opening ? "there is no such device; is the kernel module ib_umad loaded?"
                       : "the device is gone");
  }
  switch (step) {
    case UmadStep::Open:
      if (error_number == EBUSY || error_number == EAGAIN) return say(Errc::Busy, "it is in use");
      // The library found no umad number for a port that sysfs has.
      if (error_number == EINVAL) {
        return say(Errc::NoDevice, "it has none; is the kernel module ib_umad loaded?");
      }
      if (error_number == EOPNOTSUPP) {
        return say(Errc::Unsupported, "the kernel's ib_umad is older than libibumad can use");
      }
      break;
    case UmadStep::Register:
      if (error_number == EPROTONOSUPPORT || error_number == EOPNOTSUPP) {
        return say(Errc::Unsupported,
                   "the port has no QP0, as virtual functions have not; use the physical one");
      }
      // EINVAL is how the kernel says that another agent takes the same methods.
      if (error_number == EINVAL || error_number == EBUSY) {
        return say(Errc::Busy, "another subnet manager may be running on this port; stop it first");
      }
      break;
    case UmadStep::ShowSm:
      if (error_number == EAGAIN || error_number == EBUSY) {
        return say(Errc::Busy, "another subnet manager holds it on this port");
      }
      break;
    case UmadStep::Send:
      if (error_number == EAGAIN || error_number == ENOMEM || error_number == ENOBUFS ||
          error_number == EINTR || error_number == EBUSY) {
        return say(Errc::Busy, "the send queue is full");
      }
      [[fallthrough]];
    case UmadStep::Receive:
      if (error_number == EIO) return say(Errc::NoDevice, "the device is gone");
      break;
  }
  return say(Errc::Io, std::generic_category().message(error_number));
}

}  // namespace smd
