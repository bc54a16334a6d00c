#include "smd/sa/rmpp_receiver.h"

#include <utility>

namespace smd::sa {

RmppReceiver::RmppReceiver(const SaHeader& first,
                           RmppReceiverLimits limits,
                           RmppTiming timing,
                           TimePoint now)
    : header_(first), limits_(limits), timing_(timing), begun_(now) {
  header_.mad.method ^= kResponseBit;
}

void RmppReceiver::on_segment(const SaHeader& header, std::span<const std::byte, kDataSize> data) {
  if (state_ == RmppState::Failed) return;
  const RmppHeader& rmpp = header.rmpp;
  if (rmpp.version != kRmppVersion) return end(RmppStatus::BadVersion);
  const bool first = (rmpp.flags & rmpp_flag::kFirst) != 0;
  const bool last = (rmpp.flags & rmpp_flag::kLast) != 0;
  if (rmpp.segment == 0 || first != (rmpp.segment == 1)) return end(RmppStatus::BadSegment);
  if (rmpp.segment > received_ + limits_.window) return end(RmppStatus::SegmentTooBig);
  ack_due_ = true;
  // One that came before its turn will be sent again; one that came twice was acknowledged.
  if (state_ == RmppState::Done || rmpp.segment != received_ + 1) return;
  if (last && (rmpp.length < kSegmentOverhead || rmpp.length > kSegmentPayload))
    return end(RmppStatus::BadLength);
  const std::size_t size = last ? rmpp.length - kSegmentOverhead : kDataSize;
  if (data_.size() + size > limits_.most_bytes) return end(RmppStatus::NoResources);
  data_.insert(data_.end(), data.begin(), data.begin() + static_cast<std::ptrdiff_t>(size));
  ++received_;
  if (last) state_ = RmppState::Done;
}

void RmppReceiver::on_control(const RmppHeader& control) {
  if (state_ != RmppState::Running) return;
  state_ = RmppState::Failed;
  status_ = static_cast<RmppStatus>(control.status);
}

void RmppReceiver::on_timeout() {
  if (state_ == RmppState::Running) end(RmppStatus::TotalTimeTooLong);
}

void RmppReceiver::end(RmppStatus status) {
  state_ = RmppState::Failed;
  status_ = status;
  end_due_ = true;
  ack_due_ = false;
}

bool RmppReceiver::next(MadBytes& mad) {
  if (std::exchange(end_due_, false)) {
    mad = make_rmpp_end(header_, status_);
    return true;
  }
  if (!std::exchange(ack_due_, false)) return false;
  SaHeader ack = header_;
  ack.rmpp = {.version = kRmppVersion,
              .type = static_cast<std::uint8_t>(RmppType::Ack),
              .flags = rmpp_flag::kActive,
              .segment = received_,
              .length = received_ + limits_.window};
  mad.fill(std::byte{0});
  encode_sa_header(ack, mad);
  return true;
}

}  // namespace smd::sa
