#include "smd/transport/class_split.h"

namespace smd {
namespace {

bool is_subnet_management(const MadPacket& packet) {
  const auto mgmt_class = static_cast<MgmtClass>(packet.mad[1]);
  return mgmt_class == MgmtClass::SubnLid || mgmt_class == MgmtClass::SubnDirected;
}

}  // namespace

ClassSplit::ClassSplit(Transport& below) : subnet_(below), general_(below) {
  below.set_handlers(
      [this](const MadPacket& packet) {
        (is_subnet_management(packet) ? subnet_ : general_).deliver(packet);
      },
      [this](const Error& error) { subnet_.lose(error); });
}

}  // namespace smd
