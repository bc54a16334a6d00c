#include "smd/sa/rmpp.h"

namespace smd::sa {

MadBytes make_rmpp_end(const SaHeader& header, RmppStatus status) {
  SaHeader end = header;
  const bool stop = status == RmppStatus::NoResources;
  end.rmpp = {.version = kRmppVersion,
              .type = static_cast<std::uint8_t>(stop ? RmppType::Stop : RmppType::Abort),
              .flags = rmpp_flag::kActive,
              .status = static_cast<std::uint8_t>(status)};
  MadBytes mad{};
  encode_sa_header(end, mad);
  return mad;
}

}  // namespace smd::sa
