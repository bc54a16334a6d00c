#include "smd/sa/rmpp.h"

#include <algorithm>
#include <utility>

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

RmppSender::RmppSender(SaHeader header,
                       std::vector<std::byte> data,
                       RmppTiming timing,
                       TimePoint now)
    : header_(header),
      data_(std::move(data)),
      timing_(timing),
      begun_(now),
      heard_(now),
      segments_(std::max<std::uint32_t>(
          1, static_cast<std::uint32_t>((data_.size() + kDataSize - 1) / kDataSize))) {}

bool RmppSender::next(MadBytes& mad, TimePoint now) {
  if (std::exchange(abort_due_, false)) {
    mad = make_rmpp_end(header_, status_);
    return true;
  }
  if (!has_more() || at_once_ == timing_.most_at_once) return false;
  ++at_once_;
  if (next_ <= highest_) ++resent_;
  highest_ = std::max(highest_, next_);
  make_segment(mad, next_++);
  heard_ = std::max(heard_, now);
  return true;
}

bool RmppSender::has_more() const {
  return state_ == RmppState::Running && next_ <= segments_ && next_ <= window_last_ &&
         next_ - acknowledged_ <= timing_.most_ahead;
}

void RmppSender::make_segment(MadBytes& mad, std::uint32_t number) const {
  const std::size_t from = std::size_t{number - 1} * kDataSize;
  const std::size_t size = std::min(kDataSize, data_.size() - std::min(from, data_.size()));
  SaHeader header = header_;
  header.rmpp = {.version = kRmppVersion,
                 .type = static_cast<std::uint8_t>(RmppType::Data),
                 .flags = rmpp_flag::kActive,
                 .segment = number};
  // The first segment announces the whole length, the last one its own.
  if (number == 1) {
    header.rmpp.flags |= rmpp_flag::kFirst;
    header.rmpp.length = static_cast<std::uint32_t>(data_.size()) + segments_ * kSegmentOverhead;
  }
  if (number == segments_) {
    header.rmpp.flags |= rmpp_flag::kLast;
    header.rmpp.length = static_cast<std::uint32_t>(size) + kSegmentOverhead;
  }
  mad.fill(std::byte{0});
  encode_sa_header(header, mad);
  std::copy_n(data_.begin() + static_cast<std::ptrdiff_t>(std::min(from, data_.size())),
              size,
              mad.begin() + kHeaderSize);
}

void RmppSender::on_control(const RmppHeader& control, TimePoint now) {
  if (state_ != RmppState::Running) return;
  go_on();
  if (control.version != kRmppVersion) return abort(RmppStatus::BadVersion);
  switch (static_cast<RmppType>(control.type)) {
    case RmppType::Ack:
      if (control.status != 0) return abort(RmppStatus::IllegalStatus);
      return on_ack(control.segment, control.length, now);
    case RmppType::Stop:
    case RmppType::Abort:
      state_ = RmppState::Failed;
      status_ = static_cast<RmppStatus>(control.status);
      return;
    case RmppType::None:
    case RmppType::Data:
      break;
  }
  abort(RmppStatus::BadType);
}

void RmppSender::on_ack(std::uint32_t segment, std::uint32_t window_last, TimePoint now) {
  if (window_last < segment) return abort(RmppStatus::WindowTooSmall);
  if (segment > highest_) return abort(RmppStatus::SegmentTooBig);
  if (segment < acknowledged_) return;  // overtaken by a later one
  if (segment > acknowledged_ || window_last > window_last_) {
    heard_ = now;
    retries_ = 0;
  }
  acknowledged_ = segment;
  window_last_ = std::max(window_last_, window_last);  // what was allowed once stays so
  next_ = std::max(next_, segment + 1);
  if (acknowledged_ == segments_) state_ = RmppState::Done;
}

TimePoint RmppSender::deadline() const {
  return std::min(heard_ + timing_.response, begun_ + timing_.total);
}

void RmppSender::on_timeout(TimePoint now) {
  if (state_ != RmppState::Running) return;
  go_on();
  if (now >= begun_ + timing_.total) return abort(RmppStatus::TotalTimeTooLong);
  if (retries_ == timing_.retries) return abort(RmppStatus::TooManyRetries);
  ++retries_;
  heard_ = now;
  next_ = acknowledged_ + 1;
}

void RmppSender::abort(RmppStatus status) {
  state_ = RmppState::Failed;
  status_ = status;
  abort_due_ = true;
}

}  // namespace smd::sa
