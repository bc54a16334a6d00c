#include "smd/transport/transport.h"

namespace smd {

const ClassSplit::Half& ClassSplit::user_of(const MadPacket& packet) const {
  switch (static_cast<MgmtClass>(packet.mad[1])) {
    case MgmtClass::SubnLid:
    case MgmtClass::SubnDirected:
      return subnet_;
    case MgmtClass::CongestionControl:
      return congestion_;
    default:
      return general_;
  }
}

ClassSplit::ClassSplit(Transport& below)
    : below_(below), subnet_(below), congestion_(below), general_(below) {
  below.set_handlers([this](const MadPacket& packet) { user_of(packet).deliver(packet); },
                     [this](const Error& error) { subnet_.lose(error); });
}

ClassSplit::~ClassSplit() {
  below_.set_handlers([](const MadPacket&) {}, [](const Error&) {});
}

}  // namespace smd
